import Delivery
import Foundation
import GatewayClient
import Host
import OpenClaw
import TestSupport
import Testing
import Timeline
import Tracking

/// The lines of the checklist that a client of a gateway is held against, by their numbers there.
///
/// - Source: openclaw.md 15.
@Suite(.timeLimit(.minutes(5))) struct `a client's checklist` {
    @Test func `1 - waits 6 s for the challenge, then closes and tries again after a pause`() async throws {
        let clock = ManualClock(now: Moment(seconds: 1_793_000_000))
        let scene = try await LinkScene(manner { $0.challenges = false }, clock: clock)
        clock.advance(to: await clock.nextSleeper())
        #expect(try await scene.trouble() == GatewayTrouble(.silent(.seconds(6)), .soon))
        #expect(await first(of: scene.gateway.closes) == 4000)
    }

    @Test func `2 - signs the third form of its proof, with the challenge's own time`() async throws {
        // Two and a half years lie between the clocks: a proof of the client's time would have expired.
        let clock = ManualClock(now: Moment(seconds: 1_700_000_000))
        let scene = try await LinkScene(manner { $0.acceptsOldProofs = false }, clock: clock)
        _ = try await scene.online()
        let request = try #require(scene.gateway.requests.first)
        #expect(request.fault == nil && request.params["device"]?["nonce"]?.text?.isEmpty == false)
        #expect(request.params["device"]?["signedAt"]?.int == scene.gateway.challengeTimes.first)
    }

    @Test(arguments: [3, 4]) func `3 - speaks versions 3 and 4, and ignores what a greeting adds`(
        version: Int
    ) async throws {
        let scene = try await LinkScene(manner { $0.version = version })
        let online = try await scene.online()
        #expect(online.hello.version == version && online.hello.missingScopes == [])
        let asked = scene.gateway.requests.first?.params
        #expect(asked?["minProtocol"]?.int == 3 && asked?["maxProtocol"]?.int == 4)
        #expect(scene.gateway.requests.map(\.method) == ["connect"])
        #expect(scene.gateway.requests.allSatisfy { $0.fault == nil })
    }

    @Test func `4 - keeps the token of this device, and connects with it the next time`() async throws {
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

    @Test func `5 - sees in the greeting that a scope was not granted`() async throws {
        let scene = try await LinkScene(manner { $0.scopes = ["operator.read"] })
        #expect(try await scene.online().hello.missingScopes == ["operator.write"])
    }

    @Test
    func `6 - names the request that a person approves and slows down, and stops at what stays refused`()
        async throws
    {
        let scene = try await LinkScene(manner { $0.wantsApproval = true })
        let trouble = try await scene.trouble()
        #expect(trouble.kind == .pairing(request: "r-1", reason: "not-paired"))
        #expect(trouble.hint(of: "opta") == "openclaw devices approve r-1")
        #expect(trouble.reconnect == .after(.seconds(45)))
        scene.gateway.approve()
        await scene.link.retry()
        _ = try await scene.online()
        let fatal = try await LinkScene {
            try $0.refuse(
                with:
                    #"{"code":"INVALID_REQUEST","message":"no","details":{"code":"DEVICE_IDENTITY_REQUIRED"}}"#
            )
        }
        #expect(try await fatal.trouble().reconnect == .never)
        #expect(await fatal.link.online(within: .seconds(60)) == nil)
    }

    @Test func `7 - comes back when the gateway that closes with 1012 said so`() async throws {
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

    @Test func `7 - reads its token again when the gateway closes with 4001`() async throws {
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

    @Test func `8 - closes with 4000 when nothing came for two ticks, and connects again`() async throws {
        let clock = ManualClock(now: Moment(seconds: 1_793_000_000))
        let scene = try await LinkScene(manner { $0.tick = 10_000 }, clock: clock)
        _ = try await scene.online()
        // The first ping is answered; the next one is not due before that.
        #expect(try await scene.online().latency == .zero)
        let pacer = pace(clock)
        defer { pacer.cancel() }
        #expect(try await scene.trouble() == GatewayTrouble(.silent(.seconds(20)), .soon))
        #expect(await first(of: scene.gateway.closes) == 4000)
    }

    @Test func `9 - fails a request after 30 s, but waits for the second answer of an agent`() async throws {
        #expect(GatewayLink.patience == .seconds(30))
        let start = Moment(seconds: 1_793_000_000)
        let clock = ManualClock(now: start)
        let scene = try await LinkScene(
            manner { ($0.tick, $0.swallows) = (300_000, ["cron.status"]) }, clock: clock)
        _ = try await scene.online()
        // The first ping is answered: no other sleeps as long as the calls below.
        #expect(try await scene.online().latency == .zero)
        async let silent = scene.link.failure(of: .cronStatus, within: .seconds(29))
        while await clock.nextSleeper() != start + .seconds(29) {}
        scene.gateway.reply(with: .init("do", "ne", pauseAfter: 1))
        let agent = GatewayCall.agent(
            "run", of: "main", in: "agent:main:sched:1", key: "k5", isDelivered: false, timeout: .seconds(60))
        async let end = scene.link.call(agent, endingWithin: .seconds(600))
        while await clock.nextSleeper() != start + .seconds(600) {}
        clock.advance(by: .seconds(31))
        #expect(await silent == .timedOut)
        scene.gateway.proceed()
        #expect(try await end["result"]?["payloads"]?.elements.first?["text"]?.text == "done")
    }

    @Test func `9 - does not wait for ever for a second answer`() async throws {
        let start = Moment(seconds: 1_793_000_000)
        let clock = ManualClock(now: start)
        let scene = try await LinkScene(manner { $0.tick = 300_000 }, clock: clock)
        _ = try await scene.online()
        #expect(try await scene.online().latency == .zero)
        scene.gateway.reply(with: .init("do", "ne", pauseAfter: 1))
        let agent = GatewayCall.agent(
            "run", of: nil, in: nil, key: "k5", isDelivered: false, timeout: .seconds(60))
        async let end = scene.link.failure(of: agent, endingWithin: .seconds(61))
        while await clock.nextSleeper() != start + .seconds(61) {}
        clock.advance(by: .seconds(61))
        #expect(await end == .timedOut)
    }

    @Test func `10 - takes the second answer of an agent, and ignores late and unknown ones`() async throws {
        let scene = try await LinkScene()
        _ = try await scene.online()
        scene.gateway.reply(with: .init("done"))
        let call = GatewayCall.agent(
            "run", of: "main", in: "agent:main:sched:1", key: "k5", isDelivered: false, timeout: .seconds(60))
        let end = try await scene.link.call(call, endingWithin: .seconds(60))
        #expect(
            end["status"]?.text == "ok" && end["result"]?["payloads"]?.elements.first?["text"]?.text == "done"
        )
        // The same key is not executed again; without waiting the first answer is the result.
        let again = try await scene.link.call(call)
        #expect(again["status"]?.text == "accepted" && scene.gateway.executed == ["run"])
        // Answers to nobody: of a request that was answered, of one that was never made.
        for id in ["b1", "b2", "b999", ""] {
            scene.gateway.send(#"{"type":"res","id":"\#(id)","ok":true,"payload":{"status":"ok"}}"#)
        }
        let sent = try await scene.link.call(.deliver("hi", to: "123", by: "telegram", key: "k6"))
        #expect(sent["messageId"]?.text == "m-1")
        for call in [
            GatewayCall.wake("look", atOnce: true), .status, .sessions(activeWithin: .seconds(7200)),
        ] {
            _ = try await scene.link.call(call)
        }
        #expect(scene.gateway.requests.allSatisfy { $0.fault == nil })
    }

    @Test(arguments: [3, 4])
    func `11 - puts the text together from deltas, replacements and a last word, whichever is missing`(
        version: Int
    ) async throws {
        let scene = try await LinkScene(manner { $0.version = version })
        let hello = try await scene.online().hello
        var silent = GatewayEmulator.Reply("One ", "two.")
        silent.hasMessage = false
        scene.gateway.reply(with: .init("One ", "two."), silent)
        for key in ["k1", "k2"] {
            let signals = await scene.link.follow(key)
            _ = try await scene.link.call(
                .send("Count.", to: hello.mainSession, key: key, isDelivered: false, timeout: nil))
            var (text, ends) = (ChatAssembly(), 0)
            for await case .chat(let event) in signals {
                for case .ended in text.receive(event) { ends += 1 }
                // The same end again, as gateways send it to each of a client's subscriptions.
                if text.isOver {
                    #expect(text.receive(event) == [])
                    break
                }
            }
            #expect(text.text == "One two." && ends == 1)
        }
        var replaced = ChatAssembly()
        let head = #""runId":"k","sessionKey":"s","state":"delta","#
        for text in [
            #"{\#(head)"seq":1,"deltaText":"On"}"#, #"{\#(head)"seq":2,"deltaText":"Two","replace":true}"#,
        ] {
            _ = replaced.receive(try #require(ChatEvent(json(text))))
        }
        #expect(replaced.text == "Two")
    }

    @Test(arguments: [3, 4])
    func `12 - has runs compared when a number is missing, where the numbers are its own`(
        version: Int
    ) async throws {
        let scene = try await LinkScene(manner { $0.version = version })
        _ = try await scene.online()
        var signals = await scene.link.follow("k1").makeAsyncIterator()
        scene.gateway.send("tick", json("{}"))
        scene.gateway.change { $0.skipped = 5 }
        scene.gateway.send("tick", json("{}"))
        scene.gateway.send("chat", json(#"{"runId":"k1","sessionKey":"s","seq":1,"state":"final"}"#))
        // Version 3 counts for all clients together: a hole is no loss.
        if version == 4 { #expect(await signals.next() == .gap) }
        let next = await signals.next()
        guard case .chat(let event)? = next else { Issue.record("\(String(describing: next))"); return }
        #expect(event.state == .final)
    }

    @Test func `13 - sends again under the same key, whatever the gateway makes of it`() async throws {
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

    @Test(arguments: [3, 4])
    func `14 - has jobs made, listed, changed, run and removed, and patches what it knows alone`(version: Int)
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
        let strange =
            #"{"id":"s","name":"S","enabled":true,"novelty":{"a":[1]},"schedule":{"kind":"stream","x":1},"payload":{"kind":"script"}}"#
        scene.gateway.put(job: strange)
        try await link.setEnabled(false, try #require(GatewayJob(json(strange))))
        var kept = json(strange)
        kept["enabled"] = .bool(false)
        #expect(scene.gateway.job("s") == kept)
        scene.gateway.lose(job: "s")
        try await link.setEnabled(false, job)
        #expect(try await link.look().jobs.first?.isEnabled == false)
        for call in [
            GatewayCall.cronStatus, .cronJob(job.id), .cronRun(job.id, onlyIfDue: true), .cronRemove(job.id),
        ] {
            _ = try await link.call(call)
        }
        #expect(try await link.look().jobs.isEmpty)
        #expect(scene.gateway.requests.allSatisfy { $0.fault == nil })
        let patches = scene.gateway.requests.filter { $0.method == "cron.update" }.compactMap {
            $0.params["patch"]
        }
        #expect(patches == [json(#"{"enabled":false}"#), json(#"{"enabled":false}"#)])
        // A change that the protocol does not know is refused whole.
        await #expect(throws: GatewayLink.CallFailure.self) {
            try await link.call(.cronAdd(json(#"{"name":"x","schedule":"0 7 * * *"}"#)))
        }
    }

    @Test func `15 - finds in the log of runs what no event reported, once`() async throws {
        let scene = try await LinkScene()
        _ = try await scene.online()
        scene.gateway.put(
            job:
                #"{"id":"j","name":"Brief","schedule":{"kind":"cron","expr":"0 7 * * *"},"payload":{"kind":"agentTurn"},"state":{"lastRunStatus":"ok","consecutiveErrors":0}}"#
        )
        var watch = GatewayWatch()
        func words() async throws -> [String] {
            let look = try await scene.link.look()
            return watch.review(look, at: look.at).map(\.matter.word)
        }
        #expect(try await words() == [])
        // It failed, and went well again before anybody looked.
        for (ts, end) in [(1_793_000_000_000, #""error","error":"no model""#), (1_793_000_060_000, #""ok""#)]
        {
            scene.gateway.log(
                run: #"{"ts":\#(ts),"jobId":"j","action":"finished","status":\#(end),"runAtMs":\#(ts - 900)}"#
            )
        }
        #expect(try await words() == ["failing"])
        // The event comes after all.
        scene.gateway.report("finished", of: "j")
        #expect(try await words() == [])
    }

    @Test func `16 - sends no frame that is too large, and a small first one`() async throws {
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
        #expect(scene.gateway.requests[0].params.bytes.count < 60_000)
    }

    @Test func `17 - sends no Origin, and no key that version 3 does not know`() async throws {
        let scene = try await LinkScene(manner { $0.version = 3 })
        let hello = try await scene.online().hello
        let calls: [GatewayCall] = [
            .health, .status, .agents, .sessions(activeWithin: .seconds(60)), .history(of: hello.mainSession),
            .cronStatus, .cronJobs(from: 0), .cronRuns(limit: 1),
        ]
        for call in calls { _ = try await scene.link.call(call) }
        _ = await scene.gateway.request("cron.runs")
        // Its frames are closed: a traceparent would be refused.
        #expect(scene.gateway.requests.allSatisfy { $0.fault == nil })
        #expect(scene.gateway.heads.count == 1 && scene.gateway.heads.allSatisfy { $0["origin"] == nil })
    }

    @Test func `18 - leaves a gateway alone that is starting, for as long as it asks`() async throws {
        let starting =
            #"{"code":"UNAVAILABLE","message":"starting","retryable":true,"retryAfterMs":50,"details":null}"#
        let scene = try await LinkScene { try $0.refuse(with: starting) }
        #expect(try await scene.trouble() == GatewayTrouble(.starting, .after(.milliseconds(50))))
        _ = try await scene.online()
        scene.gateway.fail("health", with: starting, starting)
        #expect(try await scene.link.call(.health)["ok"] == .bool(true))
        for _ in 1...3 { _ = await scene.gateway.request("health") }
    }

    @Test func `19 - shows no token, whoever quotes it`() async throws {
        let folder = try TemporaryFolder()
        try DeviceFile(folder: folder.file("gateways"), host: "gw", port: 1).keep(token: "dt-secret-2")
        let (shared, own) = ("sk-secret-1", "dt-secret-2")
        let long = String(repeating: "x", count: 290)
        let details =
            #"{"code":"\#(own)","requestId":"\#(own)","reason":"\#(own)","more":["\#(shared)"]}"#
        let scene = try await LinkScene(
            manner { $0.token = shared }, token: shared, folder: folder
        ) { try $0.refuse(with: #"{"code":"\#(own)","message":"\#(long)\#(own)","details":\#(details)}"#) }
        let refused = try await scene.trouble()
        _ = try await scene.trouble()
        _ = try await scene.online()
        scene.gateway.fail(
            "health", with: #"{"code":"X","message":"\#(shared) device-token-1"}"#)
        let fault = await scene.link.failure(of: .health)
        let signals = await scene.link.follow("k1")
        scene.gateway.send(
            "chat",
            json(#"{"runId":"k1","sessionKey":"s","seq":1,"state":"error","errorMessage":"no \#(shared)"}"#))
        let event = await first(of: signals)
        scene.gateway.close(1008, "bye \(shared)")
        let closed = try await scene.trouble()
        let texts = [
            "\(refused)", refused.sentence(of: "opta", at: "h:1"), refused.hint(of: "opta"),
            "\(String(describing: fault))",
            "\(String(describing: event))", "\(closed)", closed.sentence(of: "opta", at: "h:1"),
            "\(scene.link)", String(reflecting: await scene.link.state),
        ]
        for text in texts {
            for secret in ["sk-secret", "dt-sec", "device-token-1"] {
                #expect(!text.contains(secret), "\(text)")
            }
        }
        // What is left of them shows that something was there.
        #expect("\(String(describing: fault))".contains("*** ***") && "\(closed)".contains("bye ***"))
    }

    @Test func `20 - keeps two gateways apart: states, devices and tokens`() async throws {
        let (good, bad) = (try await GatewayEmulator(), try await GatewayEmulator())
        bad.change { $0.token = "another" }
        let folder = try TemporaryFolder()
        let (news, reported) = AsyncStream.makeStream(of: (String, GatewayLink.State).self)
        let pool = GatewayPool(
            folder: folder.path, version: "1.0", clock: try SystemClock(), reread: { _ in "shared-token" },
            report: { bot, _, state in if let state { reported.yield((bot, state)) } })
        defer { pool.close() }
        func wish(_ gateway: GatewayEmulator) throws -> GatewayPool.Wish {
            .init(
                reach: try HTTPReach(
                    url: try HTTPAddress("http://127.0.0.1:\(gateway.port)"),
                    allow: [try AddressException("127.0.0.1/32")]),
                token: "shared-token")
        }
        pool.update(["one": try wish(good), "two": try wish(bad)])
        var words: [String: String] = [:]
        for await (bot, state) in news {
            switch state {
            case .connecting: continue
            case .online: words[bot] = "online"
            case .away: words[bot] = "away"
            }
            if words.count == 2 { break }
        }
        #expect(words == ["one": "online", "two": "away"])
        func device(_ gateway: GatewayEmulator) -> String? {
            gateway.requests.first?.params["device"]?["id"]?.text
        }
        #expect(device(good) != nil && device(good) != device(bad))
    }
}

/// The next element; nil: none comes any more.
private func first<Element: Sendable>(of stream: AsyncStream<Element>) async -> Element? {
    for await element in stream { return element }
    return nil
}

extension GatewayLink {
    /// Why a call failed; nil: it did not.
    fileprivate func failure(
        of call: GatewayCall, within limit: Duration = GatewayLink.patience, endingWithin end: Duration? = nil
    ) async -> CallFailure? {
        do throws(CallFailure) {
            _ = try await self.call(call, within: limit, endingWithin: end)
            return nil
        } catch {
            return error
        }
    }
}
