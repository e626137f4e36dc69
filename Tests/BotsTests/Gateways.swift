import Bots
import Delivery
import Foundation
import GatewayClient
import Host
import OpenClaw
import Performing
import Prompting
import TestSupport
import Testing
import Timeline
import Tracking

/// Attempts to have an agent behind an emulated gateway reply.
private final class GatewayScene: Sendable {
    let gateway: GatewayEmulator
    let folder: TemporaryFolder
    let performer: GatewayPerformer
    let pool: GatewayPool
    let key: RunKey

    init(
        _ manner: GatewayEmulator.Manner = .init(), session: BotGateway.Session = .synced,
        after other: GatewayScene? = nil, prepare: (GatewayEmulator) -> Void = { _ in }
    ) async throws {
        gateway = if let other { other.gateway } else { try await GatewayEmulator(manner) }
        prepare(gateway)
        folder = try other?.folder ?? TemporaryFolder()
        key = other?.key ?? RunKey(run: UniqueID.v4(), attempt: 1)
        let reach = try BotGateway.reach(gateway.url, allow: [])
        var described = BotGateway(reach: reach)
        described.session = session
        var contact = BotInUse(nil, secrets: FormSecrets([BotInUse.key: ["shared-token"]]))
        contact.gateway = described
        let clock = try SystemClock()
        let pool = GatewayPool(
            folder: folder.file("gateways"), version: "1.0", clock: clock, reread: { _ in "shared-token" },
            report: { _, _, _ in })
        self.pool = pool
        let bot = contact
        performer = try GatewayPerformer(
            folder: folder.file("gateways/runs"), clock: clock, links: pool,
            sent: SentPrompts(path: folder.file("gateways/sent.json")), find: { _ in bot })
        pool.update(["opta": .init(reach: reach, token: "shared-token")])
    }

    deinit { pool.close() }

    func start(timeout: Duration? = nil) {
        performer.start(
            .prompt(
                PromptOrder(
                    key: key, bot: "opta", text: "How is it?", timeout: timeout,
                    output: .init(path: folder.file("log")))))
    }

    /// The end of the attempt, with all that was reported before.
    func end() async throws -> (events: [PerformerEvent], end: ExitRecord) {
        var events: [PerformerEvent] = []
        while await performer.waitForEvents() {
            events += performer.takeEvents()
            if case .ended(let record)? = events.last { return (events, record) }
        }
        throw CancellationError()
    }

    /// What a later daemon knows of the prompts that were sent.
    var sentPrompts: [SentPrompt] {
        SentPrompts(path: folder.file("gateways/sent.json")).prompts(in: "agent:main:main")
    }
    var sends: Int { gateway.requests.count { $0.method == "chat.send" } }
    var output: String { (try? String(contentsOfFile: folder.file("log"), encoding: .utf8)) ?? "" }
    var notes: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.file("gateways/runs"))) ?? []
    }
}

@Suite(.timeLimit(.minutes(5))) struct `an attempt to have an agent reply` {
    private func manner(_ version: Int) -> GatewayEmulator.Manner {
        var manner = GatewayEmulator.Manner()
        manner.version = version
        return manner
    }

    @Test(arguments: [3, 4]) func `reports the reply while it comes`(version: Int) async throws {
        let scene = try await GatewayScene(manner(version)) {
            $0.reply(with: .init("All ", "is ", "well."))
        }
        scene.start()
        let (events, end) = try await scene.end()
        #expect(end.reply == "All is well." && end.exitCode == 0 && end.fault == nil)
        #expect(scene.output == "All is well.")
        let phases = events.compactMap {
            if case .progress(_, let report) = $0 { report.phase } else { nil }
        }
        #expect(phases.contains("writing"))
        #expect(scene.gateway.executed == ["How is it?"])
        #expect(scene.notes == ["\(scene.key)"])
        scene.performer.acknowledge(scene.key)
        #expect(scene.notes == [])
    }

    @Test(arguments: [3, 4], [true, false])
    func `has the whole reply though its pieces were lost on the way`(version: Int, hasText: Bool)
        async throws
    {
        let scene = try await GatewayScene(manner(version)) { gateway in
            gateway.change { $0.isHeldUp = true }
            var reply = GatewayEmulator.Reply("All ", "is ", "well.")
            // What the last event does not hold stands in the history alone.
            if !hasText { reply.pauseAfter = 2 }
            gateway.reply(with: reply)
        }
        scene.start()
        if !hasText {
            _ = await scene.gateway.request("chat.send")
            scene.gateway.change { $0.isHeldUp = false }
            scene.gateway.proceed()
        }
        let end = try await scene.end().end
        #expect(end.reply == "All is well." && end.fault == nil && scene.output == "All is well.")
        #expect(scene.gateway.executed == ["How is it?"])
    }

    @Test func `asks in a conversation of its own where its bot wants that`() async throws {
        let scene = try await GatewayScene(session: .isolated)
        scene.start()
        _ = try await scene.end()
        let sent = await scene.gateway.request("chat.send").params
        #expect(sent["sessionKey"]?.text == "agent:main:belfry:\(scene.key.run)")
        #expect(sent["deliver"] == .bool(false) && sent["idempotencyKey"]?.text == "\(scene.key)")
    }

    @Test func `fails as the gateway says`() async throws {
        let refused = try await GatewayScene {
            $0.fail("chat.send", with: #"{"code":"INVALID_REQUEST","message":"invalid chat.send params: x"}"#)
        }
        refused.start()
        let bad = try await refused.end().end
        #expect(bad.fault?.reason == .badRequest && bad.fault?.mayPass == false)
        let limited = try await GatewayScene {
            var reply = GatewayEmulator.Reply("Half")
            reply.end = "error"
            reply.extra = ["errorMessage": .string("slow down"), "errorKind": .string("rate_limit")]
            $0.reply(with: reply)
        }
        limited.start()
        let end = try await limited.end().end
        #expect(end.fault?.reason == .rateLimited && end.partialReply == "Half" && end.reply == nil)
    }

    @Test func `is not repeated once the agent has the prompt, whatever ended it before its first word`()
        async throws
    {
        for kind in ["rate_limit", "overloaded", "context_length"] {
            let scene = try await GatewayScene {
                var reply = GatewayEmulator.Reply()
                reply.end = "error"
                reply.extra = ["errorMessage": .string("slow down"), "errorKind": .string(kind)]
                $0.reply(with: reply)
            }
            scene.start()
            let end = try await scene.end().end
            #expect(end.fault?.mayPass == false && end.reply == nil, "\(kind)")
            #expect(scene.gateway.executed.count == 1)
        }
        // One that the gateway did not take may be sent again.
        let busy = #"{"code":"UNAVAILABLE","message":"busy","retryable":false,"details":null}"#
        let refused = try await GatewayScene { $0.fail("chat.send", with: busy) }
        refused.start()
        #expect(try await refused.end().end.fault?.mayPass == true)
        #expect(refused.gateway.executed.isEmpty)
    }

    @Test func `is known afterwards with its reply, so that later notes of the agent are no part of it`()
        async throws
    {
        let scene = try await GatewayScene()
        scene.start()
        _ = try await scene.end()
        let sent = try #require(scene.sentPrompts.first)
        #expect(sent.isTaken && sent.end?.count == 2)
    }

    @Test func `fails where the device lacks the scope to write`() async throws {
        var manner = manner(4)
        manner.scopes = ["operator.read"]
        let scene = try await GatewayScene(manner)
        scene.start()
        let end = try await scene.end().end
        #expect(end.fault?.reason == .auth && end.fault?.text.contains("operator.write") == true)
        #expect(scene.sends == 0)
    }

    @Test func `is ended in the gateway, too, when it is canceled or takes too long`() async throws {
        let scene = try await GatewayScene { $0.reply(with: .init("Half", " more", pauseAfter: 1)) }
        scene.start()
        _ = await scene.gateway.request("chat.send")
        scene.performer.cancel(scene.key, reason: "user")
        let end = try await scene.end().end
        #expect(end.cause == .canceled && end.cancelReason == "user" && end.reply == nil)
        #expect(await scene.gateway.request("chat.abort").params["runId"]?.text == "\(scene.key)")
        var part: String?
        // On a busy machine nothing may have been said in time, and the next one has more.
        for seconds in [1, 5, 30] where part == nil {
            let slow = try await GatewayScene { $0.reply(with: .init("Half", " more", pauseAfter: 1)) }
            slow.start(timeout: .seconds(seconds))
            let late = try await slow.end().end
            #expect(late.cause == .timeout && late.fault?.reason == .timeout)
            part = late.partialReply
            if part != nil { #expect(await slow.gateway.request("chat.abort").fault == nil) }
        }
        #expect(part == "Half")
    }

    @Test(arguments: [3, 4]) func `collects a reply that ended while nobody listened`(
        version: Int
    ) async throws {
        let scene = try await GatewayScene(manner(version)) {
            $0.reply(with: .init("One ", "two.", pauseAfter: 1))
        }
        scene.start()
        _ = await scene.gateway.request("chat.send")
        scene.gateway.cut()
        scene.gateway.proceed()
        let end = try await scene.end().end
        #expect(end.reply == "One two." && scene.output == "One two.")
        #expect(scene.sends == 1 && scene.gateway.executed.count == 1)
    }

    @Test func `is lost, and not sent again, when the gateway is killed in its middle`() async throws {
        let scene = try await GatewayScene { $0.reply(with: .init("One ", "two.", pauseAfter: 1)) }
        scene.start()
        _ = await scene.gateway.request("chat.send")
        try await scene.gateway.kill()
        try await scene.gateway.restart()
        let end = try await scene.end().end
        #expect(end.fault?.reason == .truncated && end.fault?.mayPass == false)
        #expect(scene.sends == 1 && scene.gateway.executed.count == 1)
    }

    @Test func `is resumed by the next daemon without being sent again`() async throws {
        let first = try await GatewayScene { $0.reply(with: .init("One ", "two.", pauseAfter: 1)) }
        first.start()
        _ = await first.gateway.request("chat.send")
        first.pool.close()
        let second = try await GatewayScene(after: first)
        #expect(second.performer.holds(second.key))
        _ = try await second.performer.connect()
        _ = await second.gateway.request("chat.history")
        second.gateway.proceed()
        #expect(try await second.end().end.reply == "One two.")
        #expect(second.gateway.executed.count == 1 && second.sends == 1)
    }

    @Test func `is known to the next daemon as one that the gateway had, though that lost it`() async throws {
        let first = try await GatewayScene { $0.reply(with: .init("One ", "two.", pauseAfter: 1)) }
        first.start()
        _ = await first.gateway.request("chat.send")
        first.pool.close()
        try await first.gateway.kill()
        try await first.gateway.restart()
        let second = try await GatewayScene(after: first)
        #expect(second.sentPrompts.map(\.isTaken) == [false])
        _ = try await second.performer.connect()
        #expect(try await second.end().end.fault?.reason == .truncated)
        // Else a later prompt of the same words would be taken for one that it had before.
        #expect(second.sentPrompts.map(\.isTaken) == [true])
        #expect(second.gateway.executed.count == 1)
    }

    @Test func `is sent by the next daemon where the first one waited for its gateway`() async throws {
        let first = try await GatewayScene()
        _ = await first.gateway.request("connect")
        try await first.gateway.kill()
        first.start()
        first.pool.close()
        try await first.gateway.restart()
        let second = try await GatewayScene(after: first)
        #expect(second.performer.holds(second.key))
        _ = try await second.performer.connect()
        #expect(try await second.end().end.reply == "Hello there")
        #expect(second.gateway.executed.count == 1 && second.sends == 1)
        second.performer.acknowledge(second.key)
        #expect(second.notes.isEmpty)
    }

    @Test func `is sent by the next daemon where it never arrived`() async throws {
        let first = try await GatewayScene {
            $0.fail(
                "chat.send",
                with: #"{"code":"UNAVAILABLE","message":"starting","retryable":true,"retryAfterMs":29000}"#)
        }
        first.start()
        _ = await first.gateway.request("chat.send")
        first.pool.close()
        let second = try await GatewayScene(after: first)
        _ = try await second.performer.connect()
        #expect(try await second.end().end.reply == "Hello there")
        #expect(second.gateway.executed.count == 1)
    }
}
