import OpenClaw
import Testing
import Timeline
import Tracking

@testable import TestSupport

/// A value of JSON text that the test itself wrote.
func json(_ text: String) -> JSON { JSON(parsing: Array(text.utf8)[...]) ?? .null }

func frame(_ text: String) throws -> GatewayFrame { try GatewayFrame(Array(text.utf8)[...]) }

@Suite struct `a frame of a gateway` {
    @Test func `is an answer, an event, or something unknown`() throws {
        let good = try frame(
            #"{"type":"res","id":"3","ok":true,"payload":{"runId":"k1","status":"started"}}"#)
        #expect(good == .response(id: "3", .success(json(#"{"runId":"k1","status":"started"}"#))))
        let tick = try frame(
            #"{"type":"event","event":"tick","payload":{"ts":1737264030000},"seq":7,"new":1}"#)
        #expect(tick == .event(name: "tick", payload: json(#"{"ts":1737264030000}"#), seq: 7))
        #expect(try frame(#"{"type":"stream","id":1}"#) == .other("stream"))
    }

    @Test(arguments: [
        "", "nothing", "[]", "{}", #"{"type":1}"#, #"{"type":"res","id":1,"ok":true}"#,
        #"{"type":"res","id":"1"}"#, #"{"type":"event","payload":{}}"#,
    ])
    func `is refused where it is none`(text: String) {
        #expect(throws: GatewayFrame.Malformed.self) { try frame(text) }
    }

    @Test func `is refused unread above 25 MiB`() {
        let bytes = [UInt8](repeating: 0x20, count: GatewayFrame.limit + 1)
        #expect(throws: GatewayFrame.Malformed.self) { try GatewayFrame(bytes[...]) }
    }

    @Test(arguments: [
        #"{"code":"INVALID_REQUEST","message":"missing scope: operator.admin"}"#,
        #"{"code":"FORBIDDEN","message":"no","details":{"code":"MISSING_SCOPE","missingScope":"operator.admin"}}"#,
    ])
    func `names the scope that is missing, in both versions`(error: String) throws {
        let answer = try frame(#"{"type":"res","id":"2","ok":false,"error":\#(error)}"#)
        guard case .response("2", .failure(let fault)) = answer else { Issue.record("no fault"); return }
        #expect(fault.missingScope == "operator.admin" && fault.pause == nil)
    }

    @Test func `says how long a starting gateway wants to be left alone`() throws {
        let answer = try frame(
            #"{"type":"res","id":"2","ok":false,"error":{"code":"UNAVAILABLE","message":"gateway starting","retryable":true,"retryAfterMs":500,"details":null}}"#
        )
        guard case .response(_, .failure(let fault)) = answer else { Issue.record("no fault"); return }
        #expect(fault.pause == .milliseconds(500))
    }
}

@Suite struct `a greeting of a gateway` {
    private static let hello3 = """
        {"type":"hello-ok","protocol":3,"server":{"version":"2026.4.12","connId":"c-1"},"features":{"methods":[],"events":[]},
        "snapshot":{"presence":[],"health":{},"stateVersion":{"presence":1,"health":1},"uptimeMs":1000,"sessionDefaults":
        {"defaultAgentId":"main","mainKey":"main","mainSessionKey":"agent:main:main","scope":"per-sender"}},
        "policy":{"maxPayload":26214400,"maxBufferedBytes":52428800,"tickIntervalMs":30000},"new":[1]}
        """

    @Test func `is read in both versions`() throws {
        let three = try #require(GatewayHello(json(Self.hello3)))
        #expect(three.version == 3 && three.scopes == nil && three.deviceToken == nil)
        #expect(three.mainSession == "agent:main:main" && three.tick == .seconds(30))
        #expect(three.missingScopes == [])
        var four = json(Self.hello3)
        four["protocol"] = .int(4)
        four["auth"] = json(#"{"role":"operator","scopes":["operator.read"],"deviceToken":"dt"}"#)
        let hello = try #require(GatewayHello(four))
        #expect(hello.version == 4 && hello.deviceToken == "dt")
        #expect(hello.missingScopes == ["operator.write"])
    }

    @Test func `is none in another version`() {
        var five = json(Self.hello3)
        five["protocol"] = .int(5)
        #expect(GatewayHello(five) == nil && GatewayHello(.null) == nil)
    }

    @Test func `asks for both versions and nothing that one of them does not know`() throws {
        let challenge = try #require(GatewayChallenge(json(#"{"nonce":"n","ts":1737264000000}"#)))
        let statement = DeviceStatement(device: "d", token: "", challenge: challenge)
        let call = GatewayCall.connect(
            DeviceProof(statement, publicKey: "p", signature: "s"), version: "1.0")
        #expect(call.params["minProtocol"]?.int == 3 && call.params["maxProtocol"]?.int == 4)
        // Without a token there is no auth at all.
        #expect(call.params["auth"] == nil)
        #expect(call.params["client"]?["mode"]?.text == "backend")
        #expect(call.frame(id: "1").count < GatewayFrame.limitBeforeHello)
    }
}

@Suite struct `the next attempt to connect` {
    private func trouble(_ code: String, _ more: String = "") -> GatewayTrouble {
        let answer = json(
            #"{"error":{"code":"INVALID_REQUEST","message":"m","details":{"code":"\#(code)"\#(more)}}}"#)
        guard
            case .response(_, .failure(let fault)) = try? GatewayFrame(
                JSON.object([
                    "type": .string("res"), "id": .string("1"), "ok": .bool(false), "error": answer["error"],
                ])
                .bytes[...])
        else { return GatewayTrouble(.starting) }
        return GatewayTrouble(refusal: fault)
    }

    @Test(arguments: [
        "AUTH_TOKEN_MISSING", "AUTH_BOOTSTRAP_TOKEN_INVALID", "AUTH_PASSWORD_MISSING",
        "AUTH_PASSWORD_MISMATCH", "AUTH_DEVICE_TOKEN_MISMATCH", "AUTH_SCOPE_MISMATCH",
        "CONTROL_UI_DEVICE_IDENTITY_REQUIRED", "DEVICE_IDENTITY_REQUIRED", "CLIENT_VERSION_MISMATCH",
    ])
    func `is never made after a refusal that stays`(code: String) {
        let trouble = trouble(code)
        var backoff = GatewayBackoff()
        #expect(backoff.wait(after: trouble, chance: 0.5) == nil)
        #expect(trouble.needsPerson)
    }

    @Test func `is made slowly where a person must approve the device`() {
        let trouble = trouble("PAIRING_REQUIRED", #","requestId":"r-1","reason":"not-paired""#)
        var backoff = GatewayBackoff()
        #expect(backoff.wait(after: trouble, chance: 0.5) == .seconds(45))
        #expect(trouble.hint(of: "opta") == "openclaw devices approve r-1")
        #expect(
            trouble.sentence(of: "opta", at: "h:1") == "opta: the gateway at h:1 wants this device approved")
        let paused = self.trouble("PAIRING_REQUIRED", #","pauseReconnect":true"#)
        #expect(paused.reconnect == .never)
        // What a gateway names stands in a command that people copy.
        let evil = self.trouble("PAIRING_REQUIRED", #","requestId":"r; rm -rf /""#)
        #expect(evil.hint(of: "opta") == "openclaw devices list")
    }

    @Test func `grows from 800 ms to 15 s by 1.7, a fifth more or less`() {
        var backoff = GatewayBackoff()
        let lost = GatewayTrouble(closeCode: nil, reason: "", announced: nil)
        let waits = (0..<9).map { _ in backoff.wait(after: lost, chance: 0.5)?.milliseconds ?? -1 }
        #expect(waits == [800, 1360, 2312, 3930, 6681, 11358, 15000, 15000, 15000])
        #expect(backoff.wait(after: lost, chance: 0) == .seconds(12))
        #expect(backoff.wait(after: lost, chance: 1)?.milliseconds == 18_000)
        backoff.reset()
        #expect(backoff.wait(after: lost, chance: 0.5) == .milliseconds(800))
    }

    @Test
    func `begins with 800 ms after a connection that lasted or broke, and not after one that ended at once`()
    {
        let unreadable = GatewayTrouble(.malformed("it has no type"))
        let changed = GatewayTrouble(closeCode: 4001, reason: "", announced: nil)
        let broken = GatewayTrouble(closeCode: nil, reason: "", announced: nil)
        var backoff = GatewayBackoff()
        let waits = [unreadable, changed, unreadable, unreadable].map { trouble in
            backoff.opened(at: .seconds(100))
            backoff.ended(trouble, at: .seconds(101))
            return backoff.wait(after: trouble, chance: 0.5)?.milliseconds ?? -1
        }
        #expect(waits == [800, 1360, 2312, 3930])
        backoff.opened(at: .seconds(100))
        backoff.ended(unreadable, at: .seconds(115))
        #expect(backoff.wait(after: unreadable, chance: 0.5) == .milliseconds(800))
        _ = backoff.wait(after: unreadable, chance: 0.5)
        // What was no connection changes nothing.
        backoff.ended(broken, at: .seconds(200))
        #expect(backoff.wait(after: broken, chance: 0.5) == .milliseconds(2312))
        backoff.opened(at: .seconds(200))
        backoff.ended(broken, at: .seconds(200))
        #expect(backoff.wait(after: broken, chance: 0.5) == .milliseconds(800))
    }

    @Test func `is made at once where that is asked for, and not more than twice a second if it goes on so`()
    {
        let hasty = GatewayTrouble(.starting, .after(.zero))
        var backoff = GatewayBackoff()
        let waits = (0..<3).map { _ in backoff.wait(after: hasty, chance: 0)?.milliseconds ?? -1 }
        #expect(waits == [50, 500, 500])
        #expect(backoff.wait(after: GatewayTrouble(.starting, .after(.seconds(3))), chance: 0) == .seconds(3))
    }

    @Test func `comes when a restart was announced for`() {
        let announced = GatewayTrouble(closeCode: 1012, reason: "service restart", announced: .seconds(3))
        #expect(announced.reconnect == .after(.seconds(3)))
        #expect(
            GatewayTrouble(closeCode: 1012, reason: "", announced: nil).reconnect
                == .after(.milliseconds(1500)))
        #expect(GatewayTrouble(closeCode: 1002, reason: "", announced: nil).kind == .version(nil))
        #expect(GatewayTrouble(closeCode: 4001, reason: "", announced: nil).kind == .authChanged)
        #expect(GatewayTrouble(closeCode: 1013, reason: "", announced: nil).reconnect == .after(.seconds(5)))
        let expected = trouble("PROTOCOL_MISMATCH", #","expectedProtocol":5"#)
        #expect(expected.kind == .version(5) && expected.reconnect == .after(.seconds(420)))
    }

    /// All that a gateway does to a client, with what a person reads of it, and when the next attempt is made.
    private static let troubles: [(GatewayTrouble, String, String, GatewayTrouble.Reconnect)] = [
        (closed(1000), "closed the connection (1000): why", "openclaw gateway status", .soon),
        (closed(1002), "speaks another version of its protocol", "update Belfry", .after(.seconds(420))),
        (closed(1006), "closed the connection (1006): why", "openclaw gateway status", .soon),
        (closed(1008), "closed the connection (1008): why", "openclaw logs", .soon),
        (closed(1009), "closed the connection (1009): why", "openclaw gateway status", .soon),
        (closed(1012), "is restarting: why", "wait", .after(.milliseconds(1500))),
        (closed(1013), "closed the connection (1013): why", "wait", .after(.seconds(5))),
        (closed(4001), "changed its token", "bots.opta.token", .soon),
        (closed(nil), "closed the connection: why", "openclaw gateway status", .soon),
        (.init(.silent(.seconds(60))), "sent nothing for 60 s", "openclaw gateway status", .soon),
        (.init(.oversized), "sent a frame of more than 25 MiB", "/new", .soon),
        (.init(.malformed("it has no type")), "cannot be read: it has no type", "between Belfry", .soon),
        (.init(.untrusted("x")), "has a certificate that cannot be trusted: x", "bots.opta.ca", .soon),
        (.init(.unreachable("x")), "cannot be reached: x", "bots.opta.url", .soon),
        (.init(.noGateway("x")), "is not an OpenClaw gateway: x", "bots.opta.url", .soon),
        (.init(.starting), "is starting", "wait", .soon),
        (.init(.rateLimited), "too many attempts", "wait a minute", .soon),
        (.init(.tokenRefused, .never), "refused the token", "belfry reload", .never),
        (.init(.tokenMissing, .never), "wants a token", "bots.opta.token", .never),
        (.init(.refused(code: "X", "y"), .never), "refused the connection (X): y", "belfry reload", .never),
        (.init(.refused(code: "X", "")), "refused the connection (X)", "openclaw logs", .soon),
    ]

    private static func closed(_ code: Int?) -> GatewayTrouble {
        GatewayTrouble(closeCode: code, reason: "why", announced: nil)
    }

    @Test(arguments: troubles.indices) func `has a reason and a hint, whatever the gateway did`(index: Int) {
        let (trouble, reason, hint, reconnect) = Self.troubles[index]
        let sentence = trouble.sentence(of: "opta", at: "h:1")
        #expect(sentence.hasPrefix("opta: the gateway at h:1 ") && sentence.contains(reason), "\(sentence)")
        #expect(trouble.hint(of: "opta").contains(hint), "\(trouble.hint(of: "opta"))")
        #expect(trouble.reconnect == reconnect)
        let advice = trouble.advice(of: "opta").sentence
        #expect(advice.first?.isUppercase == true && advice.contains(hint.dropFirst()), "\(advice)")
    }

    @Test func `has a hint that is a sentence, or ends in the command to run`() {
        func advice(_ kind: GatewayTrouble.Kind) -> String {
            GatewayTrouble(kind).advice(of: "opta").sentence
        }
        #expect(advice(.version(nil)) == "Update Belfry, or the gateway.")
        #expect(advice(.tokenRefused) == "Check bots.opta.token, then: belfry reload")
        #expect(advice(.pairing(request: "r-1", reason: nil)) == "Run: openclaw devices approve r-1")
    }

    @Test func `follows a gap in the numbers alone, whatever the first one is`() {
        var watch = SequenceWatch()
        #expect(
            [100, 101, nil, 102, 104, 104, 105].map { watch.note($0) } == [
                false, false, false, false, true, false, false,
            ])
    }
}

/// What the emulated gateway refuses: frames and parameters that the real one refuses as well.
@Suite struct `the schemas of the emulated gateway` {
    private static func connect(
        _ id: String = "gateway-client", _ mode: String = "backend", more: String = ""
    )
        -> String
    {
        #"{"minProtocol":3,"maxProtocol":4,"client":{"id":"\#(id)","version":"1","platform":"linux","mode":"\#(mode)"}\#(more)}"#
    }

    private static func job(_ schedule: String, _ payload: String) -> String {
        #"{"name":"x","schedule":\#(schedule),"sessionTarget":"main","wakeMode":"now","payload":\#(payload)}"#
    }

    private static let hourly = #"{"kind":"cron","expr":"0 * * * *"}"#
    private static let note = #"{"kind":"systemEvent","text":"x"}"#

    @Test(arguments: [
        ("connect", connect(), connect("gateway-client", "operator")),
        ("connect", connect(), connect("ios-node")),
        ("connect", connect(), connect(more: #","extra":1"#)),
        ("chat.history", #"{"sessionKey":"main","limit":50}"#, #"{"sessionKey":"main","before":50}"#),
        ("sessions.patch", #"{"key":"main","label":"x"}"#, #"{"sessionKey":"main","patch":{"label":"x"}}"#),
        ("cron.update", #"{"id":"j","patch":{"enabled":false}}"#, #"{"id":"j","enabled":false}"#),
        ("cron.status", "{}", #"{"jobId":"j"}"#),
        ("cron.add", job(hourly, note), job(#"{"kind":"cron","expression":"0 * * * *"}"#, note)),
        ("cron.add", job(hourly, note), job(#""0 * * * *""#, note)),
        ("cron.add", job(hourly, note), job(hourly, #"{"kind":"systemEvent","message":"x"}"#)),
    ])
    func `take the good form of parameters and refuse the bad one`(
        method: String, good: String, bad: String
    ) {
        for version in [3, 4] {
            #expect(GatewaySchemas.fault(in: json(good), of: method, version: version) == nil)
            #expect(GatewaySchemas.fault(in: json(bad), of: method, version: version) != nil)
        }
    }

    @Test func `refuse a trace's name in the older version only`() {
        let frame = json(#"{"type":"req","id":"1","method":"health","traceparent":"00-1-2-01"}"#)
        #expect(GatewaySchemas.fault(inRequest: frame, version: 3) == "unexpected property traceparent")
        #expect(GatewaySchemas.fault(inRequest: frame, version: 4) == nil)
    }
}
