import OpenClaw
import Testing
import Timeline
import Tracking

@testable import TestSupport

/// Frames as real gateways and their clients exchange them: checked against the schemas of version 3, or, where they are of
/// version 4 alone, written from its sources.
///
/// - Source: openclaw.md 9.
private enum Fixtures {
    static let both = frames(
        #"""
        {"type":"event","event":"connect.challenge","payload":{"nonce":"00000000-0000-4000-8000-000000000001","ts":1737264000000}}
        {"type":"req","id":"1","method":"connect","params":{"minProtocol":3,"maxProtocol":4,"client":{"id":"gateway-client","displayName":"scheduler","version":"0.1.0","platform":"linux","deviceFamily":"server","mode":"backend","instanceId":"i-1"},"role":"operator","scopes":["operator.read","operator.write"],"caps":[],"auth":{"token":"test-token"},"device":{"id":"21fe31dfa154a261626bf854046fd2271b7bed4b6abe45aa58877ef47f9721b9","publicKey":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","signature":"W82UarXnuLPBba19KlgmRfayDQ4DMlF2mhbp-9SOqEFV7SNzmEYnELtY-FF0Bj4e1UfLymjyQlesuF0UAUZSBg","signedAt":1737264000000,"nonce":"00000000-0000-4000-8000-000000000001"},"locale":"en-US","userAgent":"scheduler/0.1.0"}}
        {"type":"res","id":"1","ok":true,"payload":{"type":"hello-ok","protocol":3,"server":{"version":"2026.4.12","connId":"c-1"},"features":{"methods":["health","chat.send","cron.list"],"events":["tick","chat","cron"]},"snapshot":{"presence":[{"host":"gw","mode":"gateway","ts":1737264000000}],"health":{},"stateVersion":{"presence":1,"health":1},"uptimeMs":1000,"sessionDefaults":{"defaultAgentId":"main","mainKey":"main","mainSessionKey":"agent:main:main","scope":"per-sender"}},"auth":{"deviceToken":"dt","role":"operator","scopes":["operator.read","operator.write"],"issuedAtMs":1737264000100},"policy":{"maxPayload":26214400,"maxBufferedBytes":52428800,"tickIntervalMs":30000}}}
        {"type":"res","id":"1","ok":false,"error":{"code":"INVALID_REQUEST","message":"protocol mismatch","details":{"expectedProtocol":4}}}
        {"type":"res","id":"1","ok":false,"error":{"code":"NOT_PAIRED","message":"pairing required","details":{"code":"PAIRING_REQUIRED","requestId":"r-1","reason":"not-paired"}}}
        {"type":"res","id":"2","ok":false,"error":{"code":"INVALID_REQUEST","message":"missing scope: operator.admin"}}
        {"type":"res","id":"2","ok":false,"error":{"code":"UNAVAILABLE","message":"gateway starting","retryable":true,"retryAfterMs":500}}
        {"type":"event","event":"tick","payload":{"ts":1737264030000},"seq":7}
        {"type":"event","event":"shutdown","payload":{"reason":"service restart","restartExpectedMs":1500},"seq":8}
        {"type":"req","id":"3","method":"chat.send","params":{"sessionKey":"agent:main:main","message":"hi","deliver":false,"timeoutMs":600000,"idempotencyKey":"k1"}}
        {"type":"res","id":"3","ok":true,"payload":{"runId":"k1","status":"started"}}
        {"type":"event","event":"chat","payload":{"runId":"k1","sessionKey":"agent:main:main","seq":3,"state":"delta","message":{"role":"assistant","content":[{"type":"text","text":"He"}],"timestamp":1737264001000}},"seq":9}
        {"type":"event","event":"chat","payload":{"runId":"k1","sessionKey":"agent:main:main","seq":5,"state":"final","message":{"role":"assistant","content":[{"type":"text","text":"Hello"}],"timestamp":1737264002000}},"seq":10}
        {"type":"event","event":"chat","payload":{"runId":"k2","sessionKey":"agent:main:main","seq":4,"state":"final"},"seq":11}
        {"type":"event","event":"chat","payload":{"runId":"k3","sessionKey":"agent:main:main","seq":2,"state":"aborted","stopReason":"rpc"},"seq":12}
        {"type":"event","event":"chat","payload":{"runId":"k4","sessionKey":"agent:main:main","seq":2,"state":"error","errorMessage":"rate limited"},"seq":13}
        {"type":"req","id":"4","method":"chat.history","params":{"sessionKey":"main","limit":50}}
        {"type":"req","id":"5","method":"chat.abort","params":{"sessionKey":"main","runId":"k1"}}
        {"type":"req","id":"6","method":"sessions.list","params":{"activeMinutes":120}}
        {"type":"req","id":"7","method":"agent","params":{"message":"run","agentId":"main","sessionKey":"agent:main:sched:1","deliver":false,"timeout":600,"idempotencyKey":"k5"}}
        {"type":"res","id":"7","ok":true,"payload":{"runId":"k5","status":"accepted","acceptedAt":1737264003000}}
        {"type":"res","id":"7","ok":true,"payload":{"runId":"k5","status":"ok","summary":"completed","result":{"payloads":[{"text":"done"}]}}}
        {"type":"req","id":"8","method":"agent.wait","params":{"runId":"k5","timeoutMs":30000}}
        {"type":"res","id":"8","ok":true,"payload":{"runId":"k5","status":"ok","startedAt":1737264003000,"endedAt":1737264009000}}
        {"type":"req","id":"9","method":"send","params":{"to":"123","message":"hi","channel":"telegram","idempotencyKey":"k6"}}
        {"type":"req","id":"10","method":"wake","params":{"mode":"now","text":"check the queue"}}
        {"type":"req","id":"11","method":"cron.add","params":{"name":"Morning brief","schedule":{"kind":"cron","expr":"0 7 * * *","tz":"America/Los_Angeles","staggerMs":0},"sessionTarget":"isolated","wakeMode":"now","payload":{"kind":"agentTurn","message":"Summarize","timeoutSeconds":600},"delivery":{"mode":"announce","channel":"last","bestEffort":true},"failureAlert":{"after":3,"cooldownMs":3600000,"mode":"webhook","to":"https://example.invalid/h"}}}
        {"type":"req","id":"12","method":"cron.add","params":{"name":"Reminder","schedule":{"kind":"at","at":"2027-02-01T16:00:00Z"},"sessionTarget":"main","wakeMode":"now","payload":{"kind":"systemEvent","text":"check"},"deleteAfterRun":true}}
        {"type":"req","id":"13","method":"cron.add","params":{"name":"Probe","schedule":{"kind":"every","everyMs":900000},"sessionTarget":"session:probe","wakeMode":"next-heartbeat","payload":{"kind":"agentTurn","message":"x"},"delivery":{"mode":"webhook","to":"https://example.invalid/hook"}}}
        {"type":"req","id":"14","method":"cron.update","params":{"id":"j","patch":{"enabled":false}}}
        {"type":"req","id":"15","method":"cron.run","params":{"id":"j","mode":"due"}}
        {"type":"req","id":"16","method":"cron.list","params":{"includeDisabled":true,"limit":50,"offset":0,"sortBy":"nextRunAtMs","sortDir":"asc"}}
        {"type":"req","id":"17","method":"cron.runs","params":{"scope":"job","id":"j","limit":20,"sortDir":"desc"}}
        {"type":"res","id":"16","ok":true,"payload":{"jobs":[{"id":"j","name":"Morning brief","enabled":true,"createdAtMs":1,"updatedAtMs":1,"schedule":{"kind":"cron","expr":"0 7 * * *","tz":"America/Los_Angeles","staggerMs":0},"sessionTarget":"isolated","wakeMode":"now","payload":{"kind":"agentTurn","message":"Summarize"},"delivery":{"mode":"announce"},"state":{"nextRunAtMs":2,"lastRunAtMs":1,"lastRunStatus":"ok","lastStatus":"ok","lastDurationMs":5,"consecutiveErrors":0,"lastDelivered":true,"lastDeliveryStatus":"delivered"}}],"total":1,"offset":0,"limit":50,"hasMore":false,"nextOffset":null}}
        {"type":"res","id":"17","ok":true,"payload":{"entries":[{"ts":5,"jobId":"j","action":"finished","status":"ok","summary":"s","delivered":true,"deliveryStatus":"delivered","sessionId":"sid","sessionKey":"agent:main:cron:j:run:sid","runAtMs":1,"durationMs":2,"nextRunAtMs":3,"model":"m","provider":"p","usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}],"total":1,"offset":0,"limit":20,"hasMore":false,"nextOffset":null}}
        {"type":"event","event":"cron","payload":{"jobId":"j","action":"finished","runAtMs":1,"durationMs":2,"status":"error","error":"timeout","delivered":false,"deliveryStatus":"not-delivered","nextRunAtMs":3},"seq":14}
        """#)

    static let only4 = frames(
        #"""
        {"type":"event","event":"chat","payload":{"runId":"k1","sessionKey":"agent:main:main","seq":3,"state":"delta","deltaText":"lo"},"seq":3}
        {"type":"event","event":"chat","payload":{"runId":"k1","sessionKey":"agent:main:main","seq":4,"state":"delta","deltaText":"Hello again","replace":true},"seq":4}
        {"type":"res","id":"2","ok":false,"error":{"code":"FORBIDDEN","message":"missing scope: operator.admin","details":{"code":"MISSING_SCOPE","missingScope":"operator.admin","requiredScopes":["operator.admin"]}}}
        {"type":"req","id":"18","method":"cron.update","params":{"id":"j","expectedConfigRevision":"r3","patch":{"enabled":true}}}
        """#)

    private static func frames(_ text: String) -> [JSON] {
        text.split(separator: "\n").map { json(String($0)) }
    }

    static let requests = both.filter { $0["type"]?.text == "req" }

    /// The request of that id.
    static func request(_ id: String, in frames: [JSON] = both) -> JSON? {
        frames.first { $0["type"]?.text == "req" && $0["id"]?.text == id }
    }

    /// What the answers under that id hold, in their order.
    static func answers(_ id: String, in frames: [JSON] = both) -> [Result<JSON, GatewayFault>] {
        frames.compactMap { json in
            guard case .response(id, let result)? = try? GatewayFrame(json.bytes[...]) else { return nil }
            return result
        }
    }

    /// The chat events, by their run.
    static func chat(_ frames: [JSON]) -> [ChatEvent] {
        frames.filter { $0["event"]?.text == "chat" }.compactMap { $0["payload"].flatMap { ChatEvent($0) } }
    }
}

@Suite struct `a frame of real gateways and clients` {
    @Test func `is one here, and its parameters are good for the emulated gateway`() throws {
        #expect(Fixtures.both.count == 36 && Fixtures.only4.count == 4 && !Fixtures.both.contains(.null))
        for frame in Fixtures.both + Fixtures.only4 where frame["type"]?.text != "req" {
            if case .other = try GatewayFrame(frame.bytes[...]) { Issue.record("unknown: \(frame)") }
        }
        for request in Fixtures.requests {
            let (method, params) = (request["method"]?.text ?? "", request["params"] ?? .null)
            #expect(method == "connect" || GatewaySchemas.methods[method] != nil)
            for version in [3, 4] {
                #expect(GatewaySchemas.fault(inRequest: request, version: version) == nil)
                #expect(GatewaySchemas.fault(in: params, of: method, version: version) == nil, "\(request)")
            }
        }
        let newer = try #require(Fixtures.request("18", in: Fixtures.only4)?["params"])
        #expect(GatewaySchemas.fault(in: newer, of: "cron.update", version: 4) == nil)
        #expect(GatewaySchemas.fault(in: newer, of: "cron.update", version: 3) != nil)
    }

    private static let main = "agent:main:main"
    private static let calls: [(String, GatewayCall)] = [
        ("3", .send("hi", to: main, key: "k1", isDelivered: false, timeout: .seconds(600))),
        ("4", .history(of: "main", limit: 50)),
        ("5", .abort("k1", in: "main")),
        ("6", .sessions(activeWithin: .seconds(7200))),
        (
            "7",
            .agent(
                "run", of: "main", in: "agent:main:sched:1", key: "k5", isDelivered: false,
                timeout: .seconds(600))
        ),
        ("8", .wait(for: "k5", atMost: .seconds(30))),
        ("9", .deliver("hi", to: "123", by: "telegram", key: "k6")),
        ("10", .wake("check the queue", atOnce: true)),
        ("14", .cronUpdate("j", ["enabled": .bool(false)])),
        ("15", .cronRun("j", onlyIfDue: true)),
    ]

    @Test(arguments: calls.indices)
    func `is what is sent here for the same call`(index: Int) throws {
        let (id, call) = Self.calls[index]
        let known = try #require(Fixtures.request(id))
        #expect(Self.sorted(json(String(decoding: call.frame(id: id), as: UTF8.self))) == Self.sorted(known))
    }

    /// The order of members means nothing.
    private static func sorted(_ json: JSON) -> JSON {
        switch json {
        case .members(let members):
            .members(members.map { .init($0.name, sorted($0.value)) }.sorted { $0.name < $1.name })
        case .array(let elements): .array(elements.map { sorted($0) })
        case .null, .bool, .number, .string: json
        }
    }

    @Test func `greets, or refuses for a reason that decides about the next attempt`() throws {
        let answers = Fixtures.answers("1")
        let hello = try #require(GatewayHello(try answers[0].get()))
        #expect(hello.version == 3 && hello.server == "2026.4.12" && hello.mainSession == Self.main)
        #expect(hello.deviceToken == "dt" && hello.missingScopes == [] && hello.tick == .seconds(30))
        #expect(hello.maxPayload == 26_214_400)
        let troubles = answers.dropFirst().compactMap { answer in
            if case .failure(let fault) = answer { GatewayTrouble(refusal: fault) } else { nil }
        }
        #expect(troubles.map(\.kind) == [.version(4), .pairing(request: "r-1", reason: "not-paired")])
        let faults = (Fixtures.answers("2") + Fixtures.answers("2", in: Fixtures.only4)).compactMap {
            answer in
            if case .failure(let fault) = answer { fault } else { nil }
        }
        #expect(faults.map(\.missingScope) == ["operator.admin", nil, "operator.admin"])
        #expect(faults.map(\.pause) == [nil, .milliseconds(500), nil])
    }

    @Test func `reports of a run what both versions mean`() {
        let events = Fixtures.chat(Fixtures.both)
        #expect(events.map(\.run) == ["k1", "k1", "k2", "k3", "k4"])
        #expect(
            events.map(\.state) == [
                .delta, .final, .final, .aborted(reason: "rpc"), .failed(message: "rate limited", kind: nil),
            ])
        var older = ChatAssembly()
        #expect(older.receive(events[0]) == [.appended("He")])
        #expect(older.receive(events[1]) == [.appended("llo"), .ended(.final)] && older.text == "Hello")
        var newer = ChatAssembly()
        _ = newer.receive(events[0])
        let changes = Fixtures.chat(Fixtures.only4).map { newer.receive($0) }
        // The first has the number of what came before, the second begins as that did.
        #expect(changes.first == [] && changes.last == [.appended("llo again")])
        #expect(newer.text == "Hello again")
    }

    @Test func `accepts an agent's run, and has its result in the second answer`() throws {
        let answers = try Fixtures.answers("7").map { try $0.get() }
        #expect(answers.map { $0["status"]?.text } == ["accepted", "ok"])
    }

    @Test func `lists a scheduler's jobs and what became of their runs`() throws {
        let jobs = try #require(try Fixtures.answers("16").first?.get()["jobs"]?.elements)
        let job = try #require(jobs.first.flatMap { GatewayJob($0) })
        #expect(job.id == "j" && job.name == "Morning brief" && job.isEnabled && job.isKnown)
        #expect(job.times == .cron("0 7 * * *", zone: "America/Los_Angeles"))
        #expect(job.work == .turn("Summarize") && job.stagger == .zero)
        let runs = try #require(try Fixtures.answers("17").first?.get()["entries"]?.elements)
        let run = try #require(runs.first.flatMap { GatewayRun($0) })
        #expect(run.job == "j" && run.status == "ok" && run.delivery == "delivered" && run.error == nil)
        #expect(run.at == Moment(microseconds: 5000) && run.began == Moment(microseconds: 1000))
    }
}
