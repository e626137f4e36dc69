import Foundation
import GatewayClient
import OpenClaw
import TestSupport
import Testing
import Timeline
import Tracking

private func manner(_ change: (inout GatewayEmulator.Manner) -> Void) -> GatewayEmulator.Manner {
    var manner = GatewayEmulator.Manner()
    change(&manner)
    return manner
}

@Suite(.timeLimit(.minutes(5))) struct `a link to a gateway` {
    @Test(arguments: [3, 4]) func `greets a gateway of either version and is granted its scopes`(
        version: Int
    ) async throws {
        let scene = try await LinkScene(manner { $0.version = version })
        let online = try await scene.online()
        #expect(online.hello.version == version && online.hello.missingScopes == [])
        #expect(scene.gateway.heads.allSatisfy { $0["origin"] == nil })
        #expect(scene.gateway.requests.map(\.method) == ["connect"])
        #expect(scene.gateway.requests.allSatisfy { $0.fault == nil })
    }

    @Test func `keeps the token that it was issued and shows it the next time`() async throws {
        let scene = try await LinkScene()
        _ = try await scene.online()
        scene.gateway.cut()
        _ = try await scene.trouble()
        _ = try await scene.online()
        let tokens = scene.gateway.requests.filter { $0.method == "connect" }.map {
            $0.params["auth"]?["token"]?.text
        }
        #expect(tokens == ["shared-token", "device-token-1"])
    }

    @Test func `falls back to the shared token once where its own is refused`() async throws {
        let folder = try TemporaryFolder()
        try DeviceFile(folder: folder.file("gateways"), host: "gw", port: 1).keep(token: "stale")
        let scene = try await LinkScene(folder: folder)
        _ = try await scene.online()
        let tokens = scene.gateway.requests.map { $0.params["auth"]?["token"]?.text }
        #expect(tokens == ["stale", "shared-token"])
    }

    @Test func `stops where its token is refused, and shows it nowhere`() async throws {
        let scene = try await LinkScene(token: "sk-wrong")
        let trouble = try await scene.trouble()
        #expect(trouble.kind == .tokenRefused && trouble.reconnect == .never)
        #expect(
            trouble.sentence(of: "opta", at: "h:1") == "opta: the gateway at h:1 refused the token")
        #expect(!"\(trouble)".contains("sk-wrong"))
        #expect(await scene.link.online(within: .seconds(60)) == nil)
        let echo = try await LinkScene(token: "sk-echo") {
            try $0.refuse(with: #"{"code":"X","message":"bad token sk-echo"}"#)
        }
        #expect(try await echo.trouble().kind == .refused(code: "X", "bad token …"))
    }

    @Test func `waits for a person who approves the device`() async throws {
        let scene = try await LinkScene(manner { $0.wantsApproval = true })
        let trouble = try await scene.trouble()
        #expect(trouble.kind == .pairing(request: "r-1", reason: "not-paired"))
        #expect(trouble.hint(of: "opta") == "openclaw devices approve r-1")
        scene.gateway.approve()
        await scene.link.retry()
        _ = try await scene.online()
    }

    @Test func `notices that a scope was not granted`() async throws {
        let scene = try await LinkScene(manner { $0.scopes = ["operator.read"] })
        #expect(try await scene.online().hello.missingScopes == ["operator.write"])
    }

    @Test func `connects again after a restart, and those who follow a run hear of it`() async throws {
        let scene = try await LinkScene()
        _ = try await scene.online()
        var signals = await scene.link.follow("k1").makeAsyncIterator()
        scene.gateway.send("shutdown", .object(["reason": .string("update"), "restartExpectedMs": .int(60)]))
        scene.gateway.close(1012, "service restart")
        #expect(try await scene.trouble().reconnect == .after(.milliseconds(60)))
        _ = try await scene.online()
        #expect(await signals.next() == .disconnected)
        #expect(await signals.next() == .connected)
    }

    @Test func `connects again to a gateway that was killed and started again`() async throws {
        let scene = try await LinkScene()
        _ = try await scene.online()
        try await scene.gateway.kill()
        _ = try await scene.trouble()
        try await scene.gateway.restart()
        _ = try await scene.online()
    }

    @Test(arguments: [
        (1002, GatewayTrouble.Kind.version(nil)), (1008, .closed(code: 1008, "slow consumer")),
        (1013, .closed(code: 1013, "slow consumer")), (4001, .authChanged),
    ])
    func `says why the gateway closed the connection`(code: Int, kind: GatewayTrouble.Kind) async throws {
        let scene = try await LinkScene()
        _ = try await scene.online()
        scene.gateway.close(code, "slow consumer")
        #expect(try await scene.trouble().kind == kind)
    }

    @Test func `reads its token again when the gateway's was changed`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("token")
        try Data("shared-token".utf8).write(to: URL(fileURLWithPath: file))
        let scene = try await LinkScene(manner { $0.issuesTokens = false }, tokenFile: file)
        _ = try await scene.online()
        scene.gateway.change { $0.token = "another-token" }
        try Data("another-token".utf8).write(to: URL(fileURLWithPath: file))
        scene.gateway.close(4001, "gateway auth changed")
        #expect(try await scene.trouble().kind == .authChanged)
        _ = try await scene.online()
        let tokens = scene.gateway.requests.map { $0.params["auth"]?["token"]?.text }
        #expect(tokens == ["shared-token", "another-token"])
    }

    @Test func `sends no frame that is larger than the gateway reads`() async throws {
        let scene = try await LinkScene()
        let hello = try await scene.online().hello
        let text = String(repeating: "x", count: 26_300_000)
        await #expect(throws: GatewayLink.CallFailure.tooLarge) {
            try await scene.link.call(
                .send(text, to: hello.mainSession, key: "k1", isDelivered: false, timeout: .seconds(60)))
        }
        #expect(try await scene.link.call(.health)["ok"] == .bool(true))
        _ = await scene.gateway.request("health")
        #expect(scene.gateway.requests.map(\.method) == ["connect", "health"])
    }

    @Test func `has a prompt executed once, however often it is sent under its key`() async throws {
        let scene = try await LinkScene { $0.reply(with: .init("One ", "two.", pauseAfter: 1)) }
        let hello = try await scene.online().hello
        let call = GatewayCall.send(
            "Count.", to: hello.mainSession, key: "k1", isDelivered: false, timeout: .seconds(60))
        var states: [String?] = []
        for _ in 1...2 { states.append(try await scene.link.call(call)["status"]?.text) }
        scene.gateway.proceed()
        states.append(try await scene.link.call(call)["status"]?.text)
        #expect(states == ["started", "in_flight", "ok"] && scene.gateway.executed == ["Count."])
    }

    @Test func `is refused by a gateway of another version, and probes it slowly`() async throws {
        let scene = try await LinkScene(manner { $0.version = 5 })
        let trouble = try await scene.trouble()
        #expect(trouble.kind == .version(5) && trouble.reconnect == .after(.seconds(420)))
    }

    @Test func `obeys a gateway that is starting`() async throws {
        let starting =
            #"{"code":"UNAVAILABLE","message":"starting","retryable":true,"retryAfterMs":50,"details":null}"#
        let scene = try await LinkScene { try $0.refuse(with: starting) }
        #expect(try await scene.trouble() == GatewayTrouble(.starting, .after(.milliseconds(50))))
        _ = try await scene.online()
        scene.gateway.fail("health", with: starting, starting)
        #expect(try await scene.link.call(.health)["ok"] == .bool(true))
        for _ in 1...3 { _ = await scene.gateway.request("health") }
    }

    @Test func `gives up a gateway that sends what is no frame`() async throws {
        let scene = try await LinkScene()
        _ = try await scene.online()
        scene.gateway.send("event", json("{}"))
        scene.gateway.send(#"{"type":"novelty"}"#)
        #expect(try await scene.link.call(.health)["ok"] == .bool(true))
        scene.gateway.send("no json")
        #expect(try await scene.trouble().kind == .malformed("it is not JSON"))
        _ = try await scene.online()
        scene.gateway.send(String(repeating: " ", count: 30_000_000))
        #expect(try await scene.trouble().kind == .oversized)
    }

    @Test func `does not speak with a port that is no gateway`() async throws {
        let page = try await ProviderServer(.init("<html>", type: "text/html"))
        let scene = try await LinkScene(url: page.url())
        let trouble = try await scene.trouble()
        #expect(trouble.word == "noGateway" && trouble.hint(of: "opta") == "check bots.opta.url")
    }

    @Test func `does not trust a server that speaks no TLS`() async throws {
        let gateway = try await GatewayEmulator()
        let scene = try await LinkScene(url: "https://127.0.0.1:\(gateway.port)")
        #expect(try await scene.trouble().word == "untrusted")
    }

    @Test func `trusts a certificate of its own only by the name that it is for`() async throws {
        let good = try SelfSignedCertificate(for: "localhost")
        let server = try await HookServer(["--tls", good.certificate, good.key])
        let strange = try await LinkScene(url: "https://localhost:\(server.port)")
        let untrusted = try await strange.trouble()
        #expect(untrusted.word == "untrusted" && untrusted.hint(of: "opta")?.contains("bots.opta.ca") == true)
        // What answers is trusted now, and is no gateway.
        let known = try await LinkScene(url: "https://localhost:\(server.port)", authority: good.certificate)
        #expect(try await known.trouble().word == "noGateway")
        let other = try await LinkScene(url: "https://127.0.0.1:\(server.port)", authority: good.certificate)
        #expect(try await other.trouble().kind == .untrusted("its name is not in the certificate"))
        let missing = try await LinkScene(url: "https://localhost:\(server.port)", authority: "/no/such.pem")
        #expect(try await missing.trouble().word == "untrusted")
    }

    @Test(arguments: [3, 4]) func `has its scheduler list, change, run and remove jobs`(version: Int)
        async throws
    {
        let scene = try await LinkScene(
            manner { $0.version = version }, scopes: GatewayIdentity.administration)
        _ = try await scene.online()
        let link = scene.link
        let made = try await link.call(
            .cronAdd(
                json(
                    #"{"name":"Brief","schedule":{"kind":"cron","expr":"0 * * * *"},"sessionTarget":"isolated","wakeMode":"now","payload":{"kind":"agentTurn","message":"x"}}"#
                )))
        let job = try #require(GatewayJob(made))
        #expect(job.stagger == .seconds(300) && job.isEnabled)
        let look = try await link.look()
        #expect(look.jobs.map(\.id) == [job.id] && look.version == version)
        #expect(look.jobs[0].offset == StaggerOffset.of(job.id, within: .seconds(300)))
        try await link.setEnabled(false, job)
        #expect(try await link.look().jobs.first?.isEnabled == false)
        for call in [
            GatewayCall.cronStatus, .cronJob(job.id), .cronRun(job.id, onlyIfDue: true), .cronRemove(job.id),
        ] {
            _ = try await link.call(call)
        }
        #expect(try await link.look().jobs.isEmpty)
        #expect(scene.gateway.requests.allSatisfy { $0.fault == nil })
        // A change that the protocol does not know is refused whole.
        await #expect(throws: GatewayLink.CallFailure.self) {
            try await link.call(.cronAdd(json(#"{"name":"x","schedule":"0 7 * * *"}"#)))
        }
    }

    @Test func `reads more jobs than a page holds`() async throws {
        let scene = try await LinkScene()
        _ = try await scene.online()
        for number in 0..<450 { scene.gateway.put(job: #"{"id":"j\#(number)","schedule":{},"payload":{}}"#) }
        let look = try await scene.link.look()
        #expect(Set(look.jobs.map(\.id)).count == 450)
    }

    @Test func `asks an agent, and waits for the second answer`() async throws {
        let scene = try await LinkScene()
        _ = try await scene.online()
        scene.gateway.reply(with: .init("done"))
        let call = GatewayCall.agent(
            "run", of: "main", in: "agent:main:sched:1", key: "k5", isDelivered: false, timeout: .seconds(60))
        let end = try await scene.link.call(call, isAnsweredTwice: true)
        #expect(
            end["status"]?.text == "ok" && end["result"]?["payloads"]?.elements.first?["text"]?.text == "done"
        )
        // The same key is not executed again; without waiting the first answer is the result.
        let again = try await scene.link.call(call)
        #expect(again["status"]?.text == "accepted" && scene.gateway.executed == ["run"])
        let sent = try await scene.link.call(.deliver("hi", to: "123", by: "telegram", key: "k6"))
        #expect(sent["messageId"]?.text == "m-1")
        for call in [
            GatewayCall.wake("look", atOnce: true), .status, .sessions(activeWithin: .seconds(7200)),
        ] {
            _ = try await scene.link.call(call)
        }
        #expect(scene.gateway.requests.allSatisfy { $0.fault == nil })
    }

    @Test func `fails a call that lacks a scope, and one of an unknown method`() async throws {
        let scene = try await LinkScene(manner { $0.scopes = ["operator.read"] })
        _ = try await scene.online()
        do {
            _ = try await scene.link.call(.abort("k", in: "main"))
            Issue.record("it was not refused")
        } catch {
            guard case .fault(let fault) = error else { Issue.record("\(error)"); return }
            #expect(fault.missingScope == "operator.write")
        }
        await #expect(throws: GatewayLink.CallFailure.self) {
            try await scene.link.call(GatewayCall("no.such"))
        }
    }

    @Test func `reports a gap of version 4 to those who follow a run`() async throws {
        let scene = try await LinkScene(manner { $0.version = 3 })
        _ = try await scene.online()
        var signals = await scene.link.follow("k1").makeAsyncIterator()
        scene.gateway.send("tick", json("{}"))
        scene.gateway.change { $0.skipped = 5 }
        scene.gateway.send("tick", json("{}"))
        let end = #"{"runId":"k1","sessionKey":"s","seq":1,"state":"final"}"#
        scene.gateway.send("chat", json(end))
        // Version 3 counts for all clients: a hole is no loss.
        let first = await signals.next()
        guard case .chat(let event)? = first else { Issue.record("\(String(describing: first))"); return }
        #expect(event.state == .final)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a gateway that is silent` {
    @Test func `is left when its challenge does not come within 6 seconds`() async throws {
        let clock = ManualClock(now: Moment(seconds: 1_793_000_000))
        let scene = try await LinkScene(manner { $0.challenges = false }, clock: clock)
        clock.advance(to: await clock.nextSleeper())
        #expect(try await scene.trouble().kind == .silent(.seconds(6)))
    }

    @Test func `is left when nothing came for two of its ticks`() async throws {
        let clock = ManualClock(now: Moment(seconds: 1_793_000_000))
        let scene = try await LinkScene(manner { $0.tick = 10_000 }, clock: clock)
        _ = try await scene.online()
        // The first ping is answered; the next one is not due before that.
        #expect(try await scene.online().latency == .zero)
        let pacer = pace(clock)
        defer { pacer.cancel() }
        #expect(try await scene.trouble().kind == .silent(.seconds(20)))
    }

    @Test func `fails a call that it does not answer in time`() async throws {
        let clock = ManualClock(now: Moment(seconds: 1_793_000_000))
        let scene = try await LinkScene(
            manner { ($0.tick, $0.swallows) = (300_000, ["cron.status"]) }, clock: clock)
        _ = try await scene.online()
        #expect(try await scene.online().latency == .zero)
        let pacer = pace(clock)
        defer { pacer.cancel() }
        await #expect(throws: GatewayLink.CallFailure.timedOut) {
            try await scene.link.call(.cronStatus, within: .seconds(20))
        }
        #expect(GatewayLink.patience == .seconds(30))
    }

    @Test func `is asked by a ping each 30 seconds, and left when no pong comes within 5`() async throws {
        let clock = ManualClock(now: Moment(seconds: 1_793_000_000))
        let scene = try await LinkScene(manner { $0.tick = 300_000 }, clock: clock)
        _ = try await scene.online()
        let online = try await scene.online()
        #expect(online.latency == .zero)
        scene.gateway.change { $0.answersPings = false }
        let pacer = pace(clock)
        defer { pacer.cancel() }
        #expect(try await scene.trouble().kind == .silent(.seconds(5)))
    }
}

/// Moves the clock to the next moment that somebody sleeps to, again and again, until it is cancelled.
private func pace(_ clock: ManualClock) -> Task<Void, Never> {
    Task {
        while !Task.isCancelled {
            let until = await clock.nextSleeper()
            if until > clock.now { clock.advance(to: until) }
        }
    }
}

private func json(_ text: String) -> JSON { JSON(parsing: Array(text.utf8)[...]) ?? .null }
