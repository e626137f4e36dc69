import Curl
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `a connection` {
    let curl: CurlMulti

    init() throws {
        curl = try CurlMulti()
    }

    @Test func `is kept and used again`() async throws {
        let server = try await HookServer()
        var reused: [Bool] = []
        for _ in 1...5 {
            let request = CurlRequest(method: "POST", url: server.url(), body: [1], addressGuard: .open)
            reused.append(try await curl.perform(request).connectionWasReused)
        }
        #expect(reused == [false, true, true, true, true])
        #expect(Set(try await server.records(5).map(\.client)).count == 1)
    }

    @Test func `is never shared by requests of two guards`() async throws {
        let server = try await HookServer()
        for key in ["a", "b", "a", "b"] {
            _ = try await curl.perform(
                CurlRequest(url: server.url(), addressGuard: AddressGuard(key: key) { _ in true }))
        }
        let clients = try await server.records(4).map(\.client)
        #expect(clients[0] == clients[2])
        #expect(clients[1] == clients[3])
        #expect(clients[0] != clients[1])
    }

    @Test func `that is kept is judged again before each request`() async throws {
        let server = try await HookServer()
        _ = try await curl.perform(CurlRequest(url: server.url(), addressGuard: .open))
        // The same key on purpose: even then a kept connection does not slip past a stricter guard.
        let strict = AddressGuard(key: AddressGuard.open.key) { _ in false }
        let refused = CurlError.refused(SocketAddress(ip: .v4(0x7f00_0001), port: UInt16(server.port)))
        await #expect(throws: refused) {
            try await curl.perform(CurlRequest(url: server.url(), addressGuard: strict))
        }
        _ = try await curl.perform(CurlRequest(url: server.url("/last"), addressGuard: .open))
        #expect(try await server.records(2).map(\.path) == ["/hook", "/last"])
    }

    @Test func `is opened for each of a hundred requests at once`() async throws {
        let server = try await HookServer(["--status-plan", "200", "--body-size", "10000"])
        let bodies = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...100 {
                group.addTask { [curl] in
                    let request = CurlRequest(
                        method: "POST", url: server.url("/\(number)"), body: Array("\(number)".utf8),
                        addressGuard: .open)
                    return try await curl.perform(request).body.count
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(bodies == [Int](repeating: 10_000, count: 100))
        let records = try await server.records(100)
        #expect(records.allSatisfy { $0.path == "/" + ($0.body ?? "") })
        #expect(Set(records.map(\.path)).count == 100)
    }

    @Test func `to IPv6 works`() async throws {
        let server = try await HookServer(["--host", "::1"])
        let seen = Seen()
        let request = CurlRequest(
            url: server.url(host: "[::1]"),
            addressGuard: AddressGuard(key: "seen") { address in
                seen.note(address)
                return true
            })
        #expect(try await curl.perform(request).status == 204)
        let expected = SocketAddress(ip: .v6(high: 0, low: 1), port: UInt16(server.port))
        #expect(seen.all == [expected, expected])
        #expect(expected.description == "[::1]:\(server.port)")
    }

    @Test func `is encrypted, to a server whose certificate is trusted for its name`() async throws {
        let pair = try SelfSignedCertificate(for: "localhost")
        let server = try await HookServer(["--tls", pair.certificate, pair.key])
        var request = CurlRequest(
            url: server.url(scheme: "https", host: "localhost"), authorities: pair.certificate,
            addressGuard: .open)
        #expect(try await curl.perform(request).status == 204)

        request.authorities = nil
        await #expect(performing: { try await curl.perform(request) }, throws: isTLS)
        request.authorities = pair.certificate
        request.url = server.url(scheme: "https")
        await #expect(performing: { try await curl.perform(request) }, throws: isTLS)
        let plain = try await HookServer()
        request.url = plain.url(scheme: "https")
        await #expect(performing: { try await curl.perform(request) }, throws: isTLS)
        await plain.stop()
    }

    private func isTLS(_ error: any Error) -> Bool {
        if case .tls(let fault) = error as? CurlError { return fault.code != 0 && !fault.text.isEmpty }
        return false
    }
}
