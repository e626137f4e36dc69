import Bots
import Curl
import Host
import Performing
import TestSupport
import Testing
import Timeline
import Tracking

/// A performer that calls addresses, and a real server.
private struct URLScene {
    let performer: URLPerformer
    let folder: TemporaryFolder
    let key = RunKey(run: "run", attempt: 1)

    init() throws {
        folder = try TemporaryFolder()
        performer = URLPerformer(
            curl: try CurlMulti(), clock: ManualClock(now: Moment(seconds: 1_793_000_000)),
            userAgent: "Belfry/test")
    }

    func order(_ url: String, _ change: (inout URLOrder) -> Void = { _ in }) -> URLOrder {
        var order = URLOrder(
            key: key, url: url, allow: ["127.0.0.1/32"],
            output: ProcessOrder.Output(path: folder.file("output/run.log")))
        change(&order)
        return order
    }

    /// Everything that happens until the attempt has ended.
    func perform(_ order: URLOrder) async throws -> (events: [PerformerEvent], end: ExitRecord) {
        performer.start(.url(order))
        var events: [PerformerEvent] = []
        while true {
            guard await performer.waitForEvents() else { throw CancellationError() }
            events += performer.takeEvents()
            for case .ended(let record) in events { return (events, record) }
        }
    }

    func end(_ order: URLOrder) async throws -> ExitRecord { try await perform(order).end }

    var output: String {
        let slice = try? OutputLog(path: folder.file("output/run.log")).read(from: 0)
        return String(decoding: slice?.bytes ?? [], as: UTF8.self)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a call of an address` {
    private func server(_ answers: ProviderServer.Answer) async throws -> ProviderServer {
        try await ProviderServer(answers)
    }

    @Test func `sends what the job says, and keeps the answer as its output`() async throws {
        let server = try await server(.init("all is well\n", type: "text/plain", piece: 3))
        let scene = try URLScene()
        let order = scene.order(server.url("/health?x=1")) {
            $0.method = "POST"
            $0.headers = ["X-Token": "abc", "Content-Type": "application/json"]
            $0.body = Array("{}".utf8)
        }
        let (events, end) = try await scene.perform(order)
        #expect(end.exitCode == 0 && end.fault == nil && end.cause == .exited)
        #expect(scene.output == "all is well\n" && end.outputBytes == 12)
        #expect(end.outputTail == Array("all is well\n".utf8))
        #expect(events.contains(.progress(scene.key, ProgressReport(phase: "waiting"))))
        let request = try await server.request()
        #expect(request.method == "POST" && request.path == "/health?x=1" && request.body == "{}")
        #expect(request.headers["x-token"] == "abc" && request.headers["user-agent"] == "Belfry/test")
        #expect(request.headers["content-type"] == "application/json")
    }

    @Test(arguments: [
        (503, "\n  the database is down \nmore", "answered 503: the database is down", true),
        (404, "<html>nothing</html>", "answered 404", false), (429, "", "answered 429", true),
        (200, "fine", "answered 200: fine", false),
    ])
    func `fails by its status, with the first line of the answer`(
        status: Int, body: String, text: String, mayPass: Bool
    ) async throws {
        let server = try await server(.init(body, status: status, type: "text/plain"))
        let scene = try URLScene()
        let end = try await scene.end(scene.order(server.url()) { $0.expected = [204...204] })
        #expect(end.fault?.reason == .httpStatus && end.exitCode == nil)
        #expect(end.fault?.text == "\(server.url()) \(text)" && end.fault?.mayPass == mayPass)
        #expect(scene.output == body)
    }

    @Test func `waits as long as the server asks for`() async throws {
        let server = try await server(.init("", status: 503, headers: ["Retry-After": "120"]))
        let scene = try URLScene()
        #expect(try await scene.end(scene.order(server.url())).fault?.wait == .seconds(120))
    }

    @Test func `follows no redirect, and names its target without its path`() async throws {
        let server = try await server(
            .init("", status: 302, headers: ["Location": "https://other.example/secret"]))
        let scene = try URLScene()
        let end = try await scene.end(scene.order(server.url("/a")))
        #expect(
            end.fault?.text
                == "\(server.url()) answered 302, a redirect to https://other.example; redirects are not followed"
        )
        #expect(end.fault?.mayPass == false)
        let other = try URLScene()
        #expect(try await other.end(other.order(server.url()) { $0.expected = [300...399] }).exitCode == 0)
    }

    @Test func `reaches no address that the job does not allow`() async throws {
        let server = try await server(.init("secret"))
        let scene = try URLScene()
        let written = try await scene.end(scene.order(server.url()) { $0.allow = [] })
        #expect(written.fault?.reason == .badRequest)
        let other = try URLScene()
        let named = try await other.end(other.order("https://localhost:\(server.port)/") { $0.allow = [] })
        #expect(named.fault?.reason == .addressRefused)
        #expect(named.fault?.text.contains("url.allow can name it") == true)
    }

    @Test func `has a reason where there is no answer, which may pass`() async throws {
        let server = try await server(.init("", then: .drop))
        let port = server.port
        func end(_ url: String) async throws -> ExitRecord {
            let scene = try URLScene()
            return try await scene.end(scene.order(url))
        }
        let dropped = try await end(server.url())
        #expect(dropped.fault?.reason == .disconnected && dropped.fault?.mayPass == true)
        let tls = try await end("https://127.0.0.1:\(port)/")
        #expect(tls.fault?.reason == .tlsFailed)
        let nobody = try RefusingPort()
        let refused = try await end(nobody.url("/"))
        #expect(refused.fault?.reason == .connectFailed && refused.fault?.mayPass == true)
        let unknown = try await end("https://no-such-host.invalid/key")
        #expect(unknown.fault?.reason == .dnsFailed)
        #expect(unknown.fault?.text.contains("key") == false)
    }

    @Test func `is cut off where the answer ends too early, and its part stays`() async throws {
        let server = try await server(.init("the first half", then: .cut))
        let scene = try URLScene()
        let end = try await scene.end(scene.order(server.url()))
        #expect(end.fault?.reason == .disconnected && scene.output == "the first half")
    }

    @Test func `keeps what came while more is to come`() async throws {
        let server = try await server(.init("the first half", type: "text/plain", then: .hang))
        let scene = try URLScene()
        scene.performer.start(.url(scene.order(server.url())))
        var phases: [String?] = []
        while !phases.contains("receiving") {
            guard await scene.performer.waitForEvents() else { throw CancellationError() }
            for case .progress(_, let report) in scene.performer.takeEvents() { phases.append(report.phase) }
        }
        #expect(scene.output.hasPrefix("the ") && "the first half".hasPrefix(scene.output), "\(scene.output)")
        scene.performer.cancel(scene.key, reason: "seen")
    }

    @Test func `times out`() async throws {
        let server = try await server(.init("one", then: .hang))
        var output = ""
        // On a busy machine the beginning of the answer may come too late, and the next one has more time.
        for timeout in [Duration.milliseconds(300), .seconds(3), .seconds(30)] where output.isEmpty {
            let scene = try URLScene()
            let end = try await scene.end(scene.order(server.url()) { $0.timeout = timeout })
            #expect(end.cause == .timeout && end.fault?.text.contains("no complete answer within") == true)
            output = scene.output
        }
        #expect(output == "one")
    }

    @Test func `ends at sixty-four MiB`() async throws {
        let server = try await server(
            .init(String(repeating: "x", count: 1 << 16), type: "text/plain", repeating: 1040))
        let scene = try URLScene()
        let end = try await scene.end(scene.order(server.url()))
        #expect(end.fault?.reason == .answerTooLong && end.fault?.mayPass == false)
        #expect(end.outputTail.count == ExitRecord.tailLimit)
    }

    @Test func `is canceled, and then known until it is acknowledged`() async throws {
        let server = try await server(.init("one", then: .hang))
        let scene = try URLScene()
        async let ending = scene.end(scene.order(server.url()))
        _ = try await server.request()
        scene.performer.cancel(scene.key, reason: "why")
        let end = try await ending
        #expect(end.cause == .canceled && end.cancelReason == "why" && end.fault == nil)
        scene.performer.start(.url(scene.order(server.url())))
        scene.performer.ask(scene.key)
        #expect(scene.performer.takeEvents() == [.ended(end), .ended(end)])
        scene.performer.acknowledge(scene.key)
        scene.performer.ask(scene.key)
        #expect(scene.performer.takeEvents() == [.unknown(scene.key)])
    }

    @Test func `is all that it does`() throws {
        let scene = try URLScene()
        let output = ProcessOrder.Output(path: scene.folder.file("x"))
        scene.performer.start(.prompt(PromptOrder(key: scene.key, bot: "sage", text: "Hi", output: output)))
        #expect(
            scene.performer.takeEvents()
                == [.refused(scene.key, .badOrder, text: "only web addresses are called here")])
    }
}
