import Curl
import Delivery
import Synchronization
import TestSupport
import Testing
import WebhookChannel

@Suite struct `the target of a form by HTTP` {
    /// Whether no webhook could ever be sent there.
    private func isRefused(_ url: String, allow: [String] = []) throws -> Bool {
        let places = try allow.map { try AddressException($0) }
        do {
            _ = try HTTPTarget(try HTTPReach(url: try HTTPAddress(url), allow: places))
            return false
        } catch {
            return true
        }
    }

    @Test func `is https, or named under allow`() throws {
        #expect(try !isRefused("https://example.org/hook"))
        #expect(try isRefused("http://example.org/hook"))
        #expect(try !isRefused("http://example.org/hook", allow: ["example.org"]))
        #expect(try !isRefused("http://EXAMPLE.org/hook", allow: ["example.org"]))
        #expect(try isRefused("http://a.example.org/hook", allow: ["example.org"]))
        // The name may resolve into the range: that is seen at connect.
        #expect(try !isRefused("http://example.org/hook", allow: ["10.0.0.0/8"]))
        #expect(try isRefused("ftp://example.org/"))
        #expect(try isRefused("https://"))
    }

    @Test(arguments: [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "192.168.1.1:8443", "[::1]",
        "[::ffff:10.0.0.1]", "user:pass@1.1.1.1",
    ])
    func `is no private address, however it is written`(host: String) throws {
        #expect(try isRefused("https://\(host)/"))
        #expect(try isRefused("http://\(host)/"))
    }

    @Test func `may be a private address that allow names`() throws {
        #expect(try !isRefused("http://127.0.0.1:99/", allow: ["127.0.0.1/32"]))
        #expect(try !isRefused("http://[::ffff:127.0.0.1]:99/", allow: ["127.0.0.1/32"]))
        #expect(try isRefused("http://127.0.0.2/", allow: ["127.0.0.1/32"]))
        #expect(try !isRefused("https://192.168.7.7/", allow: ["10.0.0.0/8", "192.168.0.0/16"]))
        #expect(try !isRefused("https://1.1.1.1/"))
    }

    @Test func `is shown as scheme, host and port`() throws {
        let reach = try HTTPReach(
            url: try HTTPAddress("https://Hooks.example.org:8443/T0/token?key=secret"))
        #expect(try HTTPTarget(reach).shown == "https://hooks.example.org:8443")
    }
}

/// What libcurl alone would make of the addresses: the guard is asked at the connection itself.
@Suite(.timeLimit(.minutes(5))) struct `the guard at the connection` {
    private let curl: CurlMulti
    private let rule = AddressGuard(key: "public") { AddressRange.isPublic($0.ip.bytes) }

    init() throws { curl = try CurlMulti() }

    private func isAnswered(_ url: String, _ rule: AddressGuard) async -> Bool {
        do throws(CurlError) {
            _ = try await curl.perform(
                CurlRequest(url: url, timeouts: CurlTimeouts(resolve: .seconds(2)), addressGuard: rule))
            return true
        } catch {
            return false
        }
    }

    @Test func `lets no byte through to a listener, however its address is written`() async throws {
        for listening in ["127.0.0.1", "::1"] {
            let server = try await HookServer(["--host", listening])
            let names = ["localhost", "localhost.", "LOCALHOST", "ip6-localhost"]
            // Of some, libcurl reads another host than a person does, which is not here.
            let hosts = PrivateHosts.all.filter { !$0.hasSuffix("example.org") } + names
            let answered = await withTaskGroup(of: String?.self) { group in
                for host in hosts {
                    for scheme in ["http", "https"] {
                        let url = "\(scheme)://\(host):\(server.port)/x"
                        group.addTask { await isAnswered(url, rule) ? url : nil }
                    }
                }
                return await group.reduce(into: [String]()) { list, url in url.map { list.append($0) } }
            }
            #expect(answered.isEmpty)
            // Who listens saw none of them: this is its first request.
            let own = listening.contains(":") ? "[\(listening)]" : listening
            #expect(await isAnswered("http://\(own):\(server.port)/first", .open))
            #expect(try await server.record().path == "/first")
        }
    }

    /// A name may have one answer for whoever checks it and another for whoever connects.
    @Test func `judges each address of a name, and again a connection that is kept`() async throws {
        let server = try await HookServer()
        let url = server.url("/x", host: "localhost")
        let seen = Mutex<[SocketAddress]>([])
        let turn = Mutex(0)
        // Public at the first question, as a name whose owner answers anew each time; private from then on.
        let rebinding = AddressGuard(key: "public") { address in
            seen.withLock { $0.append(address) }
            return turn.withLock { turn in
                turn += 1
                return turn == 1
            }
        }
        #expect(await !isAnswered(url, rebinding))
        #expect(await !isAnswered(url, rebinding))
        #expect(seen.withLock { $0.count } >= 2)
        #expect(await isAnswered(server.url("/first"), .open))
        #expect(try await server.record().path == "/first")
    }
}

/// The rules of addresses read them in pure Swift, the system in C: a text must mean the same to both.
@Suite struct `an address read twice` {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `is the same one, or none to either`(seed: UInt64) {
        let pieces = ["0", "1", "10", "127", "255", "256", ".", ".", "8", ":", "::", "ffff", "a", "-", " "]
        var random = SeededGenerator(seed: seed)
        var read = 0
        for _ in 0..<5000 {
            let text = (0..<Int.random(in: 0...9, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            let bytes = AddressRange.bytes(of: text)
            #expect(bytes == IPAddress(text)?.bytes, "seed \(seed): \(text)")
            if bytes != nil { read += 1 }
        }
        #expect(read > 20)
    }
}
