import CronBench
import Prompting
import Tracking

/// Prints how many bytes a second of a reply's stream are parsed, and how many are decoded to the end.
enum StreamBench {
    private static let size = 64 << 20
    private static let piece = 16 << 10

    /// Runs the bench; takes no arguments.
    static func run(arguments: [String]) {
        let event = Array(
            ("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
                + "\"delta\":{\"type\":\"text_delta\",\"text\":\" opens at nine o'clock\"}}\n\n").utf8)
        var stream: [UInt8] = []
        stream.reserveCapacity(size + event.count)
        while stream.count < size { stream += event }
        print("sse: \(stream.count >> 20) MiB in pieces of \(piece >> 10) KiB, best of 3")
        let parsed = best {
            var parser = EventStreamParser()
            var events = 0
            for start in stride(from: 0, to: stream.count, by: piece) {
                try? parser.receive(stream[start..<min(start + piece, stream.count)]) { _ in events += 1 }
            }
            return events
        }
        let rate = Double(stream.count) / parsed / 1e6
        report("parsed, bytes a second", "\(rate.short) MB", limit: "200 MB", isKept: rate >= 200)
        let part = Array(stream.prefix(8 << 20))
        let decoded = best {
            var decoder = AnthropicDecoder(model: "m")
            var events = 0
            decoder.receive(FuzzStreams.opening[...]) { _ in }
            for start in stride(from: 0, to: part.count, by: piece) {
                decoder.receive(part[start..<min(start + piece, part.count)]) { _ in events += 1 }
            }
            return events
        }
        print("  decoded as Anthropic's, bytes a second: \((Double(part.count) / decoded / 1e6).short) MB")
    }

    /// The shortest of three rounds, in seconds.
    private static func best(_ round: () -> Int) -> Double {
        var best = Double.infinity
        for _ in 0..<3 {
            let watch = Stopwatch()
            guard round() > 0 else { return .nan }
            best = min(best, watch.seconds)
        }
        return best
    }
}

/// Mutated streams for the decoders of replies: each ends in exactly one end, however it is cut.
///
/// Nothing may trap or hang. A fault prints its seed and ends the program: `bench stream-fuzz [COUNT [SEED]]`.
enum StreamFuzz {
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs `arguments[0]` inputs (a million unless said) for each decoder with the seed `arguments[1]`.
    static func run(arguments: [String]) throws {
        let count = arguments.first.flatMap { Int($0) } ?? 1_000_000
        let seed = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1
        print("stream-fuzz: \(count) inputs each, seed \(seed)")
        var random = SeededNumbers(seed: seed)
        try run("server-sent events", count) { try events(FuzzStreams.mutant(&random), &random) }
        let decoders: [(String, any ReplyDecoder)] = [
            ("Anthropic", AnthropicDecoder(model: "m")), ("OpenAI", ChatDecoder(model: "m")),
        ]
        for (name, decoder) in decoders {
            try run(name, count) {
                try ends(FuzzStreams.mutant(&random), &random) { pieces in
                    var decoder = decoder
                    var events: [ReplyEvent] = []
                    for piece in pieces { decoder.receive(piece) { events.append($0) } }
                    decoder.end { events.append($0) }
                    return events
                }
            }
        }
        for dialect in ProgramDialect.allCases {
            try run("the program \(dialect)", count) {
                try ends(FuzzStreams.output(&random), &random) { pieces in
                    var decoder = ProgramDecoder(dialect)
                    var events: [ReplyEvent] = []
                    for piece in pieces { decoder.receive(piece) { events.append($0) } }
                    decoder.end(.code(0)) { events.append($0) }
                    return events
                }
            }
        }
    }

    private static func run(_ name: String, _ count: Int, _ round: () throws -> Bool) throws {
        let watch = Stopwatch()
        var whole = 0
        for index in 0..<count {
            do {
                if try round() { whole += 1 }
            } catch {
                throw Fault(description: "\(name), input \(index): \(error)")
            }
        }
        print("  \(name): \(count) inputs, \(whole) complete, \(watch.seconds.short) s")
    }

    /// The bytes in two to five pieces, some of them empty.
    private static func pieces(of bytes: [UInt8], _ random: inout SeededNumbers) -> [ArraySlice<UInt8>] {
        var cuts = (0...Int.random(in: 0...3, using: &random)).map { _ in
            Int.random(in: 0...bytes.count, using: &random)
        }
        cuts.sort()
        return zip([0] + cuts, cuts + [bytes.count]).map { bytes[$0..<$1] }
    }

    private static func fault(_ pieces: [ArraySlice<UInt8>]) -> Fault {
        Fault(description: "other events when cut after the bytes \(pieces.dropLast().map(\.endIndex))")
    }

    /// The events are the same in one piece and in several.
    private static func events(_ bytes: [UInt8], _ random: inout SeededNumbers) throws -> Bool {
        let parts = pieces(of: bytes, &random)
        func events(_ pieces: [ArraySlice<UInt8>]) -> [EventStreamParser.Event] {
            var parser = EventStreamParser(lineLimit: 500, eventLimit: 700)
            var events: [EventStreamParser.Event] = []
            for piece in pieces {
                guard (try? parser.receive(piece, { events.append($0) })) != nil else { break }
            }
            return events
        }
        let whole = events([bytes[...]])
        guard events(parts) == whole else { throw fault(parts) }
        return !whole.isEmpty
    }

    /// There is at most one start, one end and nothing after it, and the events are the same in one piece and in several.
    private static func ends(
        _ bytes: [UInt8], _ random: inout SeededNumbers, _ events: ([ArraySlice<UInt8>]) -> [ReplyEvent]
    ) throws -> Bool {
        let parts = pieces(of: bytes, &random)
        let whole = events([bytes[...]])
        guard whole.count(where: { if case .started = $0 { true } else { false } }) <= 1 else {
            throw Fault(description: "more than one start")
        }
        guard whole.last?.isLast == true, whole.dropLast().allSatisfy({ !$0.isLast }) else {
            throw Fault(description: "not exactly one end")
        }
        guard events(parts) == whole else { throw fault(parts) }
        if case .finished? = whole.last { return true }
        return false
    }
}

/// Streams that are nearly right: real ones with bytes changed, and parts cut out, repeated and exchanged.
enum FuzzStreams {
    /// The beginning of a reply of Anthropic's: a text block that is open.
    static let opening = wire(anthropicStart)

    private static let anthropicStart = [
        #"{"type":"message_start","message":{"usage":{"input_tokens":4,"output_tokens":1}}}"#,
        #"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    ]
    private static let originals: [[UInt8]] = [
        wire(
            anthropicStart + [
                #"{"type":"ping"}"#,
                #"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Caf\u00e9."}}"#,
                #"{"type":"content_block_stop","index":0}"#,
                #"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"go","input":{}}}"#,
                #"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}"#,
                #"{"type":"content_block_stop","index":1}"#,
                #"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":58}}"#,
                #"{"type":"message_stop"}"#,
            ]),
        wire(
            anthropicStart + [
                #"{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
                #"{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"So"}}"#,
                #"{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
                #"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ]),
        wire([
            #"{"choices":[{"index":0,"delta":{"role":"assistant","content":"Caf\u00e9"},"finish_reason":null}],"usage":null}"#,
            #"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"go","arguments":"{\"a\""}}]}}]}"#,
            #"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}"#,
            #"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
            #"{"choices":[],"usage":{"prompt_tokens":80,"completion_tokens":21}}"#, "[DONE]",
        ]),
        wire([
            #"{"choices":[{"index":0,"delta":{"content":"x","reasoning":"y","refusal":null}}]}"#,
            #"{"error":{"message":"The server had an error","type":"server_error","code":500}}"#,
        ]),
    ]
    private static let tokens = [
        "data: ", "event: ", "\n\n", "\r", "\r\n", "{", "}", "[", "]", "null", "\"", "\\u", "\\ud83d", ":",
        ",",
        "1e999", "-1", "[DONE]", "\"index\":0", "\"type\":", "\"text\":7", "\"delta\":{", "\u{FEFF}", "é",
        "stop",
    ].map { Array($0.utf8) }

    private static let outputs: [[UInt8]] = [
        #"{"type":"system","subtype":"init","session_id":"s"}"#,
        #"{"type":"assistant","message":{"content":[{"type":"text","text":"So"},{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}"#,
        #"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}}"#,
        #"{"type":"result","subtype":"success","is_error":false,"usage":{"input_tokens":9},"result":"So"}"#,
        #"{"type":"thread.started","thread_id":"t"}"#,
        #"{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"So"}}"#,
        #"{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"ls"}}"#,
        #"{"type":"turn.completed","usage":{"input_tokens":24,"output_tokens":7}}"#,
        #"{"type":"init","session_id":"g"}"#, #"{"type":"message","role":"assistant","content":"So"}"#,
        #"{"type":"result","status":"success","stats":{"output_tokens":7}}"#, #"{"notify":false,"text":"x"}"#,
    ].map { Array("\($0)\n".utf8) }

    /// A stream of an API that is nearly right.
    static func mutant(_ random: inout SeededNumbers) -> [UInt8] {
        mutated(originals[Int.random(in: 0..<originals.count, using: &random)], &random)
    }

    /// A program's output that is nearly right: some lines in any order.
    static func output(_ random: inout SeededNumbers) -> [UInt8] {
        var lines: [UInt8] = []
        for _ in 0...Int.random(in: 0...5, using: &random) {
            lines += outputs[Int.random(in: 0..<outputs.count, using: &random)]
        }
        return mutated(lines, &random)
    }

    static func mutated(_ original: [UInt8], _ random: inout SeededNumbers) -> [UInt8] {
        func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
        var bytes = original
        for _ in 0...below(6) where !bytes.isEmpty {
            let place = below(bytes.count)
            let end = min(place + below(60), bytes.count)
            switch below(6) {
            case 0: bytes[place] = UInt8(below(256))
            case 1: bytes.removeSubrange(place..<end)
            case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 3: bytes.insert(contentsOf: tokens[below(tokens.count)], at: place)
            case 4: bytes.replaceSubrange(place..<end, with: tokens[below(tokens.count)])
            default: bytes.removeSubrange(place...)
            }
        }
        return bytes
    }

    private static func wire(_ lines: [String]) -> [UInt8] { lines.flatMap { Array("data: \($0)\n\n".utf8) } }
}
