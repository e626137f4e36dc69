import Foundation
import GatewayClient
import OpenClaw
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a link to a gateway` {

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
        #expect(try await echo.trouble().kind == .refused(code: "X", "bad token ***"))
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

    @Test func `is refused by a gateway of another version, and probes it slowly`() async throws {
        let scene = try await LinkScene(manner { $0.version = 5 })
        let trouble = try await scene.trouble()
        #expect(trouble.kind == .version(5) && trouble.reconnect == .after(.seconds(420)))
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

    @Test func `knows how far the gateway's clock is ahead`() async throws {
        let clock = ManualClock(now: Moment(seconds: 1_700_000_000), sinceBoot: .seconds(1000))
        let scene = try await LinkScene(clock: clock)
        _ = try await scene.online()
        // The emulator has the time of this machine.
        #expect(await scene.link.clockAhead > .seconds(1_000_000))
        scene.gateway.send("tick", json(#"{"ts":1700000600000}"#))
        for time in [#""soon""#, "-1e300", "1e300", "-1e999", "-5"] {
            scene.gateway.send("tick", json(#"{"ts":\#(time)}"#))
        }
        _ = try await scene.link.call(.health)
        #expect(await scene.link.clockAhead == .seconds(600))
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
        #expect(untrusted.word == "untrusted" && untrusted.hint(of: "opta").contains("bots.opta.ca"))
        // What answers is trusted now, and is no gateway.
        let known = try await LinkScene(url: "https://localhost:\(server.port)", authority: good.certificate)
        #expect(try await known.trouble().word == "noGateway")
        let other = try await LinkScene(url: "https://127.0.0.1:\(server.port)", authority: good.certificate)
        #expect(try await other.trouble().kind == .untrusted("its name is not in the certificate"))
        let missing = try await LinkScene(url: "https://localhost:\(server.port)", authority: "/no/such.pem")
        #expect(try await missing.trouble().word == "untrusted")
    }

    @Test func `reads more jobs than a page holds`() async throws {
        let scene = try await LinkScene()
        _ = try await scene.online()
        for number in 0..<450 { scene.gateway.put(job: #"{"id":"j\#(number)","schedule":{},"payload":{}}"#) }
        let look = try await scene.link.look()
        #expect(Set(look.jobs.map(\.id)).count == 450)
    }

    @Test func `gives up a list of jobs whose pages have no end`() async throws {
        let scene = try await LinkScene(manner { $0.repeatsPages = true })
        _ = try await scene.online()
        for number in 0..<3 { scene.gateway.put(job: #"{"id":"j\#(number)","schedule":{},"payload":{}}"#) }
        await #expect(throws: GatewayLink.CallFailure.unsettled) { try await scene.link.look() }
        // Each attempt ends at the first job that comes again.
        #expect(scene.gateway.requests.filter { $0.method == "cron.list" }.count == 6)
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

}

@Suite(.timeLimit(.minutes(5))) struct `a gateway that is silent` {

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
