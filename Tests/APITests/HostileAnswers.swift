import API
import APIClient
import Glibc
import Host
import TestSupport
import Testing

@Suite struct `an answer` {
    private static func parts(_ text: String, by size: Int = .max) throws -> [HTTPAnswerParser.Part] {
        let bytes = Array(text.utf8)
        var parser = HTTPAnswerParser()
        var parts: [HTTPAnswerParser.Part] = []
        for start in stride(from: 0, to: bytes.count, by: min(size, bytes.count)) {
            parts += try parser.receive(bytes[start..<min(bytes.count, start + min(size, bytes.count))])
        }
        return parts + (try parser.finish())
    }

    private static func body(_ parts: [HTTPAnswerParser.Part]) -> String {
        String(
            decoding: parts.flatMap { part -> [UInt8] in
                guard case .body(let bytes) = part else { return [] }
                return bytes
            }, as: UTF8.self)
    }

    @Test(arguments: [1, 2, 3, 5, 1000])
    func `is read however its bytes are cut`(size: Int) throws {
        let chunked = try Self.parts(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y \r\n\r\n"
                + "3\r\nabc\r\nA;ext=1\r\n0123456789\r\n0\r\ntrailer: x\r\n\r\n", by: size)
        #expect(Self.body(chunked) == "abc0123456789")
        #expect(chunked.last == .end)
        guard case .head(let head)? = chunked.first else {
            Issue.record("no head")
            return
        }
        #expect(head.status == 200)
        #expect(head["x"] == "y")
        let counted = try Self.parts("HTTP/1.1 404 No\ncontent-length: 2\n\nhixx", by: size)
        #expect(Self.body(counted) == "hi")
        let open = try Self.parts("HTTP/1.0 200 OK\r\n\r\nall of it", by: size)
        #expect(Self.body(open) == "all of it")
    }

    @Test func `may be announced, and may be empty`() throws {
        let parts = try Self.parts("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")
        #expect(parts.count == 2 && parts.last == .end)
        guard case .head(let head)? = parts.first else {
            Issue.record("no head")
            return
        }
        #expect(head.status == 204)
        #expect(try Self.parts("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").last == .end)
    }

    @Test(arguments: [
        "\r\n\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 +20 OK\r\n\r\n",
        "HTTP/1.1 999 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\n a: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\na b: c\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: +1\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 1e3\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-3\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffff\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabcd\r\n",
    ])
    func `is refused when it is not one`(text: String) {
        let error = #expect(throws: APIError.self) { try Self.parts(text) }
        #expect(error?.code == .notBelfry)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n",
    ])
    func `is known to be incomplete`(text: String) {
        let error = #expect(throws: APIError.self) { try Self.parts(text) }
        #expect(error?.code == .connectionLost)
    }

    @Test func `is refused when its head does not end`() {
        var parser = HTTPAnswerParser()
        let line = Array("a: b\r\n".utf8)
        let error = #expect(throws: APIError.self) {
            _ = try parser.receive("HTTP/1.1 200 OK\r\n".utf8)
            for _ in 0..<20_000 { _ = try parser.receive(line) }
        }
        #expect(error?.code == .notBelfry)
    }

    @Test func `never breaks the parser, whatever it holds`() {
        var random = SeededGenerator(seed: 11)
        for round in 0..<3000 {
            var parser = HTTPAnswerParser()
            let heads = [
                "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
                "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n",
            ]
            do {
                if round % 4 > 0 { _ = try parser.receive(heads[round % 4 - 1].utf8) }
                for _ in 0..<4 {
                    let sent = random.bytes(Int(random.next() % 60))
                    let count = try parser.receive(sent).count
                    #expect(count <= sent.count + 1)
                }
                _ = try parser.finish()
            } catch {
                let code = error.code
                #expect(code == .notBelfry || code == .connectionLost)
            }
        }
    }
}

@Suite struct `a client` {
    /// Answers every connection with the next of `answers`, whatever it asks, and hangs up.
    private static func whileAnswering(
        _ answers: [[UInt8]], _ body: @escaping @Sendable (DaemonClient) throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("false.sock")
        let listener = try SilentListener.listen(at: path)
        try BackgroundThread.start(named: "false daemon") {
            for answer in answers {
                guard let connection = try? Descriptor(accept(listener.raw, nil, nil), call: "accept")
                else { return }
                var buffer = [UInt8](repeating: 0, count: 4096)
                _ = try? connection.read(into: &buffer)
                // The client may have disconnected already: it read enough.
                _ = unsafe answer.withUnsafeBytes {
                    unsafe send(connection.raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
            }
        }
        // It asks for no sign of life meanwhile, which would take one of the answers.
        let client = DaemonClient(socket: path, timeout: .seconds(60), longest: .seconds(60))
        try await blocking { try body(client) }
    }

    @Test func `reports it, whatever something that is no daemon answers`() async throws {
        var random = SeededGenerator(seed: 3)
        let beginnings = ["", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"]
        let answers = (0..<200).map { round in
            Array(beginnings[round % 3].utf8) + random.bytes(Int(random.next() % 200))
        }
        try await Self.whileAnswering(answers) { client in
            for round in answers.indices {
                let error = #expect(throws: APIError.self, "answer \(round)") {
                    try client.ask(Endpoints.status())
                }
                #expect(error?.code == .notBelfry || error?.code == .connectionLost, "answer \(round)")
            }
        }
    }

    @Test func `reports a refusal without a reason by its status`() async throws {
        try await Self.whileAnswering([Array("HTTP/1.1 418 Teapot\r\ncontent-length: 0\r\n\r\n".utf8)]) {
            client in
            let error = #expect(throws: APIError.self) { try client.ask(Endpoints.status()) }
            #expect(error?.message == "the daemon answered with status 418 and no reason")
        }
    }

    @Test func `does not accept another answer as an event stream`() async throws {
        try await Self.whileAnswering([Array("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]".utf8)]) {
            client in
            let error = #expect(throws: APIError.self) { try EventFeed(of: client, query: EventsQuery()) }
            #expect(error?.code == .notBelfry)
        }
    }
}
