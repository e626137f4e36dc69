import API
import TestSupport
import Testing

@Suite struct `an event stream` {
    static let events = [
        ServerSentEvent(id: "7", name: "run.failed", data: #"{"seq":7}"#),
        ServerSentEvent(name: "live", data: "one\ntwo\n"),
        ServerSentEvent(data: ""),
        ServerSentEvent(id: "9", data: " leads with a blank"),
    ]

    @Test(arguments: [1, 2, 3, 7, 1000])
    func `is read however its bytes are cut`(size: Int) throws {
        let bytes = Self.events.flatMap(\.bytes) + ServerSentEvent.heartbeat
        var parser = ServerSentEventParser()
        var read: [ServerSentEvent] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            read += try parser.receive(bytes[start..<min(start + size, bytes.count)])
        }
        #expect(read == Self.events)
        #expect(parser.lastEventID == "9")
    }

    @Test func `ends lines with any of the three line ends`() throws {
        var parser = ServerSentEventParser()
        let read = try parser.receive("data: a\r\ndata: b\rdata:c\n\r\n\n".utf8)
        #expect(read == [ServerSentEvent(data: "a\nb\nc")])
    }

    @Test func `skips comments, fields it does not know, and events without data`() throws {
        var parser = ServerSentEventParser()
        let read = try parser.receive(": hi\nretry: 5\nfuture: x\nid: 4\n\nevent: x\n\n".utf8)
        #expect(read.isEmpty)
        #expect(parser.lastEventID == "4")
    }

    @Test func `can't be split by what an event holds`() throws {
        let event = ServerSentEvent(id: "1\n\ndata: x", name: "a\rb", data: "x\r\n\ny")
        var parser = ServerSentEventParser()
        let read = try parser.receive(event.bytes)
        #expect(read == [ServerSentEvent(id: "1data: x", name: "ab", data: "x\n\ny")])
    }

    @Test func `refuses an event without an end`() throws {
        var parser = ServerSentEventParser()
        let part = [UInt8](repeating: UInt8(ascii: "x"), count: 1024 * 1024)
        #expect(throws: APIError.self) {
            for _ in 0..<5 { _ = try parser.receive(part) }
        }
    }

    @Test func `survives random bytes`() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            var parser = ServerSentEventParser()
            for _ in 0..<10 {
                for event in try parser.receive(random.bytes(100)) {
                    #expect(event.data.utf8.count <= 4000)
                }
            }
        }
    }
}
