import Curl
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `a streamed answer` {
    private let curl: CurlMulti

    init() throws {
        curl = try CurlMulti()
    }

    private func request(
        _ server: ProviderServer, timeouts: CurlTimeouts = CurlTimeouts()
    ) -> CurlRequest {
        CurlRequest(url: server.url(), timeouts: timeouts, addressGuard: .open)
    }

    /// Reads to the end.
    private func text(_ stream: CurlStream) async throws(CurlError) -> String {
        var bytes: [UInt8] = []
        while let more = try await stream.next() { bytes += more }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `is there with its head, and then piece by piece`() async throws {
        let server = try await ProviderServer(
            .init("one two three", status: 201, headers: ["X-Request": "7"], piece: 1))
        let stream = try await curl.open(request(server))
        #expect(stream.status == 201)
        #expect(stream.header("x-request") == "7")
        #expect(try await text(stream) == "one two three")
        #expect(try await stream.next() == nil)
    }

    @Test func `hands over what has arrived while the server still sends`() async throws {
        let server = try await ProviderServer(.init("first", then: .hang))
        let stream = try await curl.open(request(server))
        #expect(try await stream.next() == Array("first".utf8))
        _ = try await server.request()
        stream.cancel()
        #expect(try await server.line() == "left")
        await #expect(throws: CurlError.canceled) { try await stream.next() }
    }

    @Test func `is as fast as its reader, and whole`() async throws {
        let piece = String(repeating: "0123456789abcde\n", count: 4096)
        let server = try await ProviderServer(.init(piece, repeating: 200))
        let stream = try await curl.open(request(server))
        var size = 0
        var largest = 0
        while let bytes = try await stream.next() {
            size += bytes.count
            largest = max(largest, bytes.count)
            // Another request on the same thread: the pause stops nobody else.
            if size < 1 << 20 { await Task.yield() }
        }
        #expect(size == 200 * 65_536)
        #expect(largest <= CurlStream.window + 65_536)
    }

    @Test func `that nobody reads stops nobody else`() async throws {
        let piece = String(repeating: "x", count: 65_536)
        let server = try await ProviderServer(.init(piece, repeating: 1000), .init("small"))
        let unread = try await curl.open(request(server))
        for _ in 0..<5 { #expect(try await text(curl.open(request(server))) == "small") }
        // The server would have sent all of it by now.
        var size = try await unread.next()?.count ?? 0
        #expect((1...CurlStream.window + 65_536).contains(size))
        while let bytes = try await unread.next() { size += bytes.count }
        #expect(size == 1000 * 65_536)
    }

    @Test func `that is cut off ends in an error, after what had arrived`() async throws {
        let server = try await ProviderServer(.init("half", then: .cut))
        let stream = try await curl.open(request(server))
        #expect(try await stream.next() == Array("half".utf8))
        await #expect { try await stream.next() } throws: {
            if case CurlError.cut = $0 { true } else { false }
        }
    }

    @Test func `that is silent is given up`() async throws {
        let server = try await ProviderServer(.init("one", then: .hang))
        var first: [UInt8]?
        // A busy machine may be silent for so long before that, and the next one waits longer.
        for silence in [Duration.milliseconds(100), .seconds(3), .seconds(30)] where first == nil {
            await #expect {
                let stream = try await curl.open(
                    request(server, timeouts: CurlTimeouts(silence: silence)))
                first = try await stream.next()
                _ = try await stream.next()
            } throws: {
                if case CurlError.timedOut(.silent, _) = $0 { true } else { false }
            }
        }
        #expect(first == Array("one".utf8))
    }

    @Test func `without a head is given up`() async throws {
        let server = try await HookServer(["--status-plan", "hang"])
        let request = CurlRequest(
            url: server.url(), timeouts: CurlTimeouts(head: .milliseconds(100)), addressGuard: .open)
        await #expect { try await curl.open(request) } throws: {
            if case CurlError.timedOut(.silent, _) = $0 { true } else { false }
        }
    }

    @Test func `ends with the task that reads it`() async throws {
        let server = try await ProviderServer(.init("one", then: .hang))
        let stream = try await curl.open(request(server))
        _ = try await server.request()
        #expect(try await stream.next() != nil)
        let reader = Task { try await stream.next() }
        reader.cancel()
        await #expect(throws: CurlError.canceled) { try await reader.value }
        #expect(try await server.line() == "left")
    }

    @Test func `ends when nobody holds it`() async throws {
        let server = try await ProviderServer(.init("one", then: .hang))
        do {
            let stream = try await curl.open(request(server))
            #expect(try await stream.next() != nil)
        }
        _ = try await server.request()
        #expect(try await server.line() == "left")
    }

    @Test func `ends with the thread`() async throws {
        let server = try await ProviderServer(.init("one", then: .hang))
        let stream = try await curl.open(request(server))
        #expect(try await stream.next() != nil)
        curl.close()
        await #expect(throws: CurlError.closed) { try await stream.next() }
        let request = request(server)
        await #expect(throws: CurlError.closed) { try await curl.open(request) }
    }

    @Test func `has no connection that the guard refuses`() async throws {
        let server = try await ProviderServer(.init("one"))
        let request = CurlRequest(
            url: server.url(), addressGuard: AddressGuard(key: "none") { _ in false })
        await #expect { try await curl.open(request) } throws: {
            if case CurlError.refused = $0 { true } else { false }
        }
    }
}
