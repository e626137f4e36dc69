import API
import TestSupport
import Testing

@Suite struct `a route` {
    static let all: [Route] = [
        .healthz, .readyz, .status, .config, .reload, .jobs, .addJob, .job("a"), .editJob("a"),
        .removeJob("a"), .pauseJob("a"), .resumeJob("a"), .runJob("a"), .nextSlots("a"), .history("a"),
        .runs, .run(job: "a", ordinal: 3), .logs(job: "a", ordinal: 3), .cancelRun(job: "a", ordinal: 3),
        .retryRun(job: "a", ordinal: 3), .exec, .spool, .events, .live, .messages, .items, .notify,
        .read("m"),
        .outbox, .outboxEntry("e"), .retryEntry("e"), .discardEntry("e"), .channels, .testChannel("c"),
        .retryChannel("c"), .why,
        .bots, .bot("b"),
    ]

    @Test(arguments: all)
    func `is read back from its method and path`(route: Route) throws {
        #expect(try Route(method: route.method, path: route.path) == route)
    }

    @Test func `has a form no other has`() {
        let forms = Set(Self.all.map { $0.method + " " + $0.path })
        #expect(forms.count == Self.all.count)
    }

    @Test func `escapes what a name may hold`() throws {
        let route = Route.read("a/b c?ü%")
        #expect(route.path == "/v1/read/a%2Fb%20c%3F%C3%BC%25")
        #expect(try Route(method: "POST", path: route.path) == route)
    }

    @Test(arguments: [
        "", "/", "v1/status", "/v1", "/v1/", "/v1/status/", "/v1//status", "/v2/status", "/v1/jobs/a/b",
        "/v1/runs/a", "/v1/runs/a/0", "/v1/runs/a/-1", "/v1/runs/a/01", "/v1/runs/a/x/logs",
        "/v1/runs/a/1/logs/x", "/v1/jobs/%zz", "/v1/jobs/%ff", "/healthz/x",
    ])
    func `refuses a path nobody serves`(path: String) {
        let error = #expect(throws: APIError.self) { try Route(method: "GET", path: path) }
        #expect(error?.code == .noSuchPath)
    }

    @Test func `names the methods a path takes`() {
        let error = #expect(throws: APIError.self) { try Route(method: "PUT", path: "/v1/jobs/a") }
        #expect(error?.code == .badMethod)
        #expect(error?.hint == "It takes GET, PATCH, DELETE.")
    }

    @Test func `never fails otherwise on random paths`() {
        var random = SeededGenerator(seed: 20_261_121)
        let pieces = ["/", "v1", "jobs", "runs", "a", "1", "logs", "%", "%4", "%41", "ü", "", "test", "read"]
        for _ in 0..<20_000 {
            let path = (0..<Int.random(in: 0..<8, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }.joined()
            if let route = try? Route(method: "GET", path: path) {
                #expect((try? Route(method: "GET", path: route.path)) == route, "\(path)")
            }
        }
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

    @Test func `refuses a number that is none`() throws {
        #expect(try Query("limit=5").number("limit") == 5)
        #expect(try Query("").number("limit") == nil)
        for text in ["limit=x", "limit=-1", "limit=", "limit=99999999999999999999"] {
            let error = #expect(throws: APIError.self) { try Query(text).number("limit") }
            #expect(error?.code == .badValue)
        }
    }
}
