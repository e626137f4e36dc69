import TestSupport
import Testing
import Tracking

@Suite struct `a stream of server-sent events` {
    private typealias Event = EventStreamParser.Event

    private static func events(
        _ bytes: [UInt8], pieces: Int = .max, limit: Int = 1000
    ) throws -> [Event] {
        var parser = EventStreamParser(lineLimit: limit, eventLimit: limit)
        var events: [Event] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            try parser.receive(rest.prefix(pieces)) { events.append($0) }
            rest = rest.dropFirst(pieces)
        }
        return events
    }

    private static func events(_ text: String) throws -> [Event] { try events(Array(text.utf8)) }

    private static func event(_ data: String, name: String = "message", id: String? = nil) -> Event {
        Event(name: name, data: Array(data.utf8), id: id)
    }

    @Test func `ends an event with an empty line and joins its data by line feeds`() throws {
        let read = try Self.events("event: delta\nid: 7\ndata: one\ndata:two\ndata\n\ndata: next\n\n")
        #expect(read == [Self.event("one\ntwo\n", name: "delta", id: "7"), Self.event("next")])
    }

    @Test(arguments: ["\n", "\r", "\r\n"])
    func `ends lines with any of the three line ends`(end: String) throws {
        let read = try Self.events("\(end)data: a\(end)data:  b\(end)\(end)\(end)")
        #expect(read == [Self.event("a\n b")])
    }

    @Test func `may begin with a byte order mark, and only there`() throws {
        let read = try Self.events("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\ndata: c\n\n")
        #expect(read == [Self.event("a"), Self.event("c")])
    }

    @Test func `skips comments and unknown fields, and reports no event without data`() throws {
        let read = try Self.events(": keep-alive\nfuture: 1\ndataset: 2\nevent: x\n\ndata: y\n\n")
        #expect(read == [Self.event("y")])
    }

    @Test func `names the place and the pause with which a reader resumes`() throws {
        var parser = EventStreamParser()
        #expect(parser.lastEventID.isEmpty)
        let text = "id: 1\n\nid: a\0b\n\nretry: 2500\nretry: 3s\nretry:\nid: 2\n"
        try parser.receive(Array(text.utf8)[...]) { _ in }
        // The last id belongs to an event that is not complete.
        #expect(parser.lastEventID == "1")
        #expect(parser.retry == .milliseconds(2500))
    }

    @Test func `never reports an event that is cut off`() throws {
        #expect(try Self.events("data: a\n\ndata: b\n").count == 1)
        #expect(try Self.events("data: a\n\ndata: b").count == 1)
    }

    @Test func `has lines and events of bounded length`() throws {
        let line = Array("data: \(String(repeating: "x", count: 2000))".utf8)
        #expect(throws: EventStreamParser.Failure.lineTooLong(limit: 1000)) { try Self.events(line) }
        #expect(throws: EventStreamParser.Failure.lineTooLong(limit: 1000)) {
            try Self.events(line, pieces: 7)
        }
        let event = (0..<30).flatMap { _ in Array("data: \(String(repeating: "x", count: 100))\n".utf8) }
        #expect(throws: EventStreamParser.Failure.eventTooLong(limit: 1000)) { try Self.events(event) }
    }

    /// Bits of real streams, so that random bytes get past the first line.
    private static let fragments = [
        "data", "data:", "data: ", ":", "event: ", "id: ", "id", "retry: 1", "\n", "\r", "\r\n", "\n\n",
        "\r\r",
        "\u{FEFF}", "é", "\0", "{}", "x",
    ]

    @Test func `is read the same however its bytes are cut`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            var bytes: [UInt8] = []
            for _ in 0..<generator.below(30) {
                bytes += Array(Self.fragments[generator.below(Self.fragments.count)].utf8)
                if generator.below(8) == 0 { bytes.append(UInt8(generator.below(256))) }
            }
            let whole = try Self.events(bytes)
            for size in [1, 2, 3, 1 + generator.below(40)] {
                #expect(try Self.events(bytes, pieces: size) == whole, "seed \(seed), size \(size)")
            }
        }
    }
}

@Suite struct `the usage of a bot` {
    @Test func `adds up, and costs what has a price`() {
        let priced = BotUsage(inputTokens: 10, cachedTokens: 4, outputTokens: 3, costMicros: 70)
        let free = BotUsage(inputTokens: 1, outputTokens: 2)
        #expect(
            priced + free == BotUsage(inputTokens: 11, cachedTokens: 4, outputTokens: 5, costMicros: 70))
        #expect((free + free).costMicros == nil)
        let most = BotUsage(inputTokens: .max, cachedTokens: .max, outputTokens: .max, costMicros: .max)
        #expect(most + priced == most && most.tokens == .max)
        #expect(priced.tokens == 13 && priced.costUSD == 0.00007)
    }

    @Test(arguments: [
        (0, "$0.00"), (5_000_000, "$5.00"), (5_034_999, "$5.03"), (5_035_000, "$5.04"), (99_999, "$0.1000"),
        (100_000, "$0.10"), (12_340, "$0.0123"), (49, "$0.0000"), (50, "$0.0001"),
        (1_234_567_890_000, "$1,234,567.89"), (-12_340, "-$0.0123"),
        (.max, "$9,223,372,036,854.78"), (.min, "-$9,223,372,036,854.78"),
    ])
    func `is shown in dollars, small amounts more exactly`(micros: Int64, text: String) {
        #expect(UsageWords.dollars(micros: micros) == text)
    }

    @Test func `is shown in grouped tokens`() {
        #expect(UsageWords.tokens(1) == "1 token" && UsageWords.tokens(999) == "999 tokens")
        #expect(UsageWords.tokens(1_234_567) == "1,234,567 tokens")
        #expect(UsageWords.grouped(-1000) == "-1,000" && UsageWords.grouped(.min).hasPrefix("-9,223,"))
    }
}
