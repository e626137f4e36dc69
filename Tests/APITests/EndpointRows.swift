import API
import APIClient
import APIServer
import Delivery
import TestSupport
import Testing
import Timeline
import Tracking

private let router = EndpointRouter(Endpoints.all)

/// A path of the row, with values that no other path has.
private func path(of row: EndpointRow) -> String {
    row.path.filled(with: row.pathKinds.map { $0 == .text ? "a/b c?ü%" : "3" })
}

@Suite struct `a row of the table of endpoints` {
    @Test(arguments: Endpoints.all.map(\.name))
    func `is found by its method and path`(name: String) throws {
        let row = try #require(Endpoints.all.first { $0.name == name })
        let match = try router.match(method: row.method.rawValue, path: path(of: row))
        #expect(match.row.name == row.name)
        #expect(match.path == row.pathKinds.map { $0 == .text ? "a/b c?ü%" : "3" })
    }

    @Test func `has a name and a form that no other has, and shows what it does`() {
        #expect(Set(Endpoints.all.map(\.name)).count == Endpoints.all.count)
        let forms = Set(Endpoints.all.map { "\($0.method.rawValue) \($0.path.text)" })
        #expect(forms.count == Endpoints.all.count)
        for row in Endpoints.all {
            #expect(row.doc.last == "." && row.doc.first?.isUppercase == true, "\(row.name)")
        }
    }

    @Test func `has a handler, and a handler has a row`() async throws {
        let handled = try await House.whileStanding { house in house.handlers.handled }
        #expect(handled == Set(Endpoints.all.map(\.name)))
    }

    @Test func `escapes what a name may hold`() throws {
        let call = Endpoints.read("a/b c?ü%")
        #expect(call.target == "/v1/read/a%2Fb%20c%3F%C3%BC%25")
        #expect(try router.match(method: "POST", path: call.target).path == ["a/b c?ü%"])
    }

    @Test(arguments: [
        "", "/", "v1/status", "/v1", "/v1/", "/v1/status/", "/v1//status", "/v2/status", "/v1/jobs/a/b",
        "/v1/runs/a", "/v1/runs/a/0", "/v1/runs/a/-1", "/v1/runs/a/01", "/v1/runs/a/x/logs",
        "/v1/runs/a/1/logs/x", "/v1/jobs/%zz", "/v1/jobs/%ff", "/healthz/x",
    ])
    func `is none for a path that does not exist`(path: String) {
        let error = #expect(throws: APIError.self) { try router.match(method: "GET", path: path) }
        #expect(error?.code == .noSuchPath)
    }

    @Test func `names the methods that a path accepts`() {
        let error = #expect(throws: APIError.self) { try router.match(method: "PUT", path: "/v1/jobs/a") }
        #expect(error?.code == .badMethod)
        #expect(error?.hint == "It takes GET, PATCH, DELETE.")
    }

    @Test func `matches random paths only when they are its own`() {
        var random = SeededGenerator(seed: 20_261_121)
        let pieces = ["/", "v1", "jobs", "runs", "a", "1", "logs", "%", "%4", "%41", "ü", "", "test", "read"]
        for _ in 0..<20_000 {
            let path = (0..<Int.random(in: 0..<8, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }.joined()
            guard let match = try? router.match(method: "GET", path: path) else { continue }
            let again = try? router.match(method: "GET", path: match.row.path.filled(with: match.path))
            #expect(again?.row.name == match.row.name && again?.path == match.path, "\(path)")
        }
    }

    @Test func `shows the states of the outbox, and the one that is not stored`() {
        #expect(
            WireOutboxState.allCases.map(\.rawValue) == House.outboxStates + [
                WireOutboxState.sending.rawValue
            ])
    }
}

@Suite struct `a query` {
    @Test func `gives back what was put in`() {
        var query = Query()
        query["job"] = "a b&c=d"
        query["limit"] = "5"
        #expect(query.suffix == "?job=a%20b%26c%3Dd&limit=5")
        #expect(Query(query.suffix.dropFirst()) == query)
    }

    @Test func `reaches the other side as it was written, and its defaults are not written`() throws {
        var runs = RunsQuery()
        #expect(runs.suffix == "")
        runs.job = "a b&c"
        runs.states = [.failed, .lost]
        runs.since = try Moment(iso8601: "2026-03-29T01:00:00Z")
        runs.limit = 5
        #expect(runs.suffix == "?state=failed%2Clost&since=2026-03-29T01%3A00%3A00Z&job=a%20b%26c&limit=5")
        #expect(try RunsQuery(Query(runs.suffix.dropFirst())) == runs)
        var logs = LogsQuery()
        logs.offset = 7
        logs.attempt = 2
        logs.follow = true
        #expect(try LogsQuery(Query(logs.suffix.dropFirst())) == logs)
        var why = WhyQuery()
        why.id = "a#1"
        why.not = true
        #expect(why.suffix == "?id=a%231&not=true")
        #expect(try WhyQuery(Query(why.suffix.dropFirst())) == why)
    }

    @Test func `accepts 1 and true for yes, and at most the greatest number`() throws {
        #expect(try EventsQuery(Query("live=1")).live && EventsQuery(Query("live=true")).live)
        #expect(try !EventsQuery(Query("live=0")).live && !EventsQuery(Query("live")).live)
        #expect(try NextSlotsQuery(Query("n=999999")).count == 10_000)
        #expect(try LimitQuery(Query("limit=9223372036854775807&limit=x&other=1")).limit == Int.max)
    }

    @Test(arguments: [
        ("limit=x", "limit is not a whole number from 1 up: \"x\""),
        ("limit=0", "limit is not a whole number from 1 up: \"0\""),
        ("limit=", "limit is not a whole number from 1 up: \"\""),
        ("limit=99999999999999999999", "limit is not a whole number from 1 up: \"99999999999999999999\""),
        ("state=failed,tired", "no state \"tired\""),
    ])
    func `refuses a value with the parameter's name`(text: String, message: String) {
        let error = #expect(throws: APIError.self) { try RunsQuery(Query(text)) }
        #expect(error?.code == .badValue && error?.message == message)
    }

    @Test func `refuses a time that is none`() {
        let error = #expect(throws: APIError.self) { try RunsQuery(Query("since=noon")) }
        #expect(error?.message.hasPrefix("since: ") == true)
    }
}

/// The query of the endpoint that a test adds.
private struct EchoQuery: QueryParameters {
    var times = 1
    static let parameters: [QueryParameter<Self>] = [
        .number("times", \.times, atMost: 3, "How often.")
    ]
}

@Suite struct `an endpoint that is added` {
    private static let echo = Endpoint(
        "echo", .post, "/v1/echo/{word}", path: String.self, query: EchoQuery.self,
        takes: .optional(PauseRequest()), answers: [String].self, errors: [.badName], "Repeats a word.")

    @Test func `is a row and a handler, and has a client and a description`() async throws {
        var table = HandlerTable([Self.echo.row])
        table.on(Self.echo) { asked in
            guard asked.path != "no" else { throw APIError(.badName) }
            return Array(repeating: asked.path + (asked.body.note ?? ""), count: asked.query.times)
        }
        try await whileServing(table) { client in
            try await blocking {
                var query = EchoQuery()
                query.times = 9
                let words = try client.ask(Self.echo("hé", query: query, body: PauseRequest(note: "!")))
                #expect(words == ["hé!", "hé!", "hé!"])
                let error = #expect(throws: APIError.self) {
                    try client.ask(Self.echo("no", body: PauseRequest()))
                }
                #expect(error?.code == .badName)
                #expect(throws: APIError(.noSuchPath)) { try client.ask(Endpoints.status()) }
            }
        }
        var document = OpenAPIDocument(of: [Self.echo.row], version: "1")
        let text = try String(decoding: document.json().bytes, as: UTF8.self)
        #expect(
            text.contains(#""/v1/echo/{word}":{"post":{"operationId":"echo","summary":"Repeats a word.""#))
    }
}
