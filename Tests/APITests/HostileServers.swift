import API
import APIClient
import Glibc
import Host
import TestSupport
import Testing

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
