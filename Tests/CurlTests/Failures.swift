import Curl
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `a request that fails` {
    let curl: CurlMulti

    init() throws {
        curl = try CurlMulti()
    }

    /// The error of one GET of `url`.
    private func failure(
        of url: String, timeouts: CurlTimeouts = CurlTimeouts(), guard: AddressGuard = .open
    ) async -> CurlError? {
        do throws(CurlError) {
            _ = try await curl.perform(CurlRequest(url: url, timeouts: timeouts, addressGuard: `guard`))
            return nil
        } catch {
            return error
        }
    }

    @Test func `reports that nobody listens`() async throws {
        let nobody = try RefusingPort()
        guard case .connect(let fault) = await failure(of: nobody.url("/")) else {
            Issue.record("no connect error")
            return
        }
        #expect(fault.code == 7)
        #expect(fault.text.contains("127.0.0.1"))
    }

    @Test func `reports that a name has no address`() async {
        guard case .resolve(let fault) = await failure(of: "http://no-such-host.invalid/secret") else {
            Issue.record("no resolve error")
            return
        }
        #expect(fault.code == 6)
        #expect(!fault.text.contains("secret"))
    }

    @Test(arguments: ["drop", "cut"])
    func `reports that the answer was cut`(plan: String) async throws {
        let server = try await HookServer(["--status-plan", plan])
        guard case .cut(let fault) = await failure(of: server.url()) else {
            Issue.record("no cut")
            return
        }
        #expect(fault.code == (plan == "cut" ? 18 : 52))
    }

    @Test func `reports that the answer is not HTTP`() async throws {
        let server = try await HookServer(["--status-plan", "garbage"])
        guard case .answer = await failure(of: server.url()) else {
            Issue.record("no answer error")
            return
        }
    }

    @Test func `gives a silent server its time and no more`() async throws {
        let server = try await HookServer(["--status-plan", "hang"])
        var code: Int?
        // A busy machine may not even have connected in time, and the next one has more.
        for total in [Duration.milliseconds(200), .seconds(3), .seconds(30)] where code == nil {
            let failure = await failure(of: server.url(), timeouts: CurlTimeouts(total: total))
            guard case .timedOut(let stage, let fault) = failure else {
                Issue.record("no time-out")
                return
            }
            if stage == .answering { code = Int(fault.code) }
        }
        #expect(code == 28)
        let other = try await HookServer()
        #expect(await failure(of: other.url()) == nil)
        withExtendedLifetime(other) {}
    }

    @Test func `gives a handshake that never ends the time to connect`() async throws {
        let server = try await HookServer(["--deaf"])
        let short = CurlTimeouts(connect: .milliseconds(200))
        let url = server.url(scheme: "https")
        guard case .timedOut(.connecting, _) = await failure(of: url, timeouts: short) else {
            Issue.record("no time-out")
            return
        }
    }

    @Test func `names the address the guard refused, and never connects`() async throws {
        let server = try await HookServer()
        let closed = AddressGuard(key: "closed") { _ in false }
        let address = SocketAddress(ip: .v4(0x7f00_0001), port: UInt16(server.port))
        #expect(await failure(of: server.url(), guard: closed) == .refused(address))
        // The name is judged by what it resolves to.
        guard case .refused = await failure(of: server.url(host: "localhost"), guard: closed) else {
            Issue.record("not refused")
            return
        }
        _ = try await curl.perform(CurlRequest(url: server.url("/allowed"), addressGuard: .open))
        #expect(try await server.record().path == "/allowed")
    }

    @Test func `leaves the others alone`() async throws {
        let silent = try await HookServer(["--status-plan", "hang"])
        let lively = try await HookServer()
        let stuck = Task { await failure(of: silent.url()) }
        _ = try await silent.record()
        for _ in 1...20 { #expect(await failure(of: lively.url()) == nil) }
        stuck.cancel()
        #expect(await stuck.value == .canceled)
    }
}
