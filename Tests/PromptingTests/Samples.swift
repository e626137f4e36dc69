import Prompting
import TestSupport
import Testing
import Tracking

/// The events of a whole stream that comes in pieces of this size.
func replies(
    _ decoder: some ReplyDecoder, _ bytes: [UInt8], pieces: Int = .max, ends: Bool = true
) -> [ReplyEvent] {
    var decoder = decoder
    var events: [ReplyEvent] = []
    var rest = bytes[...]
    while !rest.isEmpty {
        decoder.receive(rest.prefix(pieces)) { events.append($0) }
        rest = rest.dropFirst(pieces)
    }
    if ends { decoder.end { events.append($0) } }
    return events
}

extension [ReplyEvent] {
    /// The text of the reply.
    var text: String {
        map { if case .text(let text) = $0 { text } else { "" } }.joined()
    }

    /// The thinking.
    var thinking: String {
        map { if case .thinking(let text) = $0 { text } else { "" } }.joined()
    }

    /// The complete tool calls.
    var calls: [ToolCall] {
        compactMap { if case .toolCall(let call) = $0 { call } else { nil } }
    }

    /// The last usage.
    var usage: TokenUsage? {
        compactMap { if case .usage(let usage) = $0 { usage } else { nil } }.last
    }

    /// The end, where the last event is one.
    var finish: Finish? { if case .finished(let finish)? = last { finish } else { nil } }

    /// The failure, where the last event is one.
    var failure: ReplyFailure? { if case .failed(let failure)? = last { failure } else { nil } }
}

/// Streams of Anthropic's Messages API.
enum AnthropicStreams {
    static let start =
        #"{"type":"message_start","message":{"id":"msg_fixB","type":"message","role":"assistant","model":"claude-sonnet-5-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":412,"cache_creation_input_tokens":7,"cache_read_input_tokens":3,"output_tokens":1,"service_tier":"standard"}}}"#

    /// The wire form of a list of events, each one line of JSON.
    static func wire(_ lines: [String]) -> [UInt8] {
        lines.flatMap { line in
            let type = JSON(parsing: Array(line.utf8)[...])?["type"]?.text ?? "unknown"
            return Array("event: \(type)\ndata: \(line)\n\n".utf8)
        }
    }

    /// A reply of text.
    static let text = wire([
        start, #"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        #"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Caf\u00e9 opens at 9."}}"#,
        #"{"type":"content_block_stop","index":0}"#,
        #"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}"#,
        #"{"type":"message_stop"}"#,
    ])

    /// Text, then a tool call whose arguments come in pieces.
    static let tool = wire([
        start, #"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        #"{"type":"ping"}"#,
        #"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Scheduling that."}}"#,
        #"{"type":"content_block_stop","index":0}"#,
        #"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_fix1","name":"schedule_task","input":{}}}"#,
        #"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        #"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"prompt\": \"water pl"}}"#,
        #"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"ants\", \"cron\": \"0 9 * * *\"}"}}"#,
        #"{"type":"content_block_stop","index":1}"#,
        #"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":58}}"#,
        #"{"type":"message_stop"}"#,
    ])

    /// An overload in the middle of the stream.
    static let overload = wire([
        start, #"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"So"}}"#,
        #"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_fixC"}"#,
    ])

    /// Thinking with its signature, sealed thinking, then text.
    static let thinking = wire([
        start,
        #"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        #"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Check the zone first."}}"#,
        #"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2lnLWZpeHR1cmU="}}"#,
        #"{"type":"content_block_stop","index":0}"#,
        #"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"c2VhbGVk"}}"#,
        #"{"type":"content_block_stop","index":1}"#,
        #"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"It is"}}"#,
        #"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":" noon."}}"#,
        #"{"type":"content_block_stop","index":2}"#,
        #"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":30}}"#,
        #"{"type":"message_stop"}"#,
    ])

    /// A refusal.
    static let refusal = wire([
        start,
        #"{"type":"message_delta","delta":{"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":"cyber","explanation":"declined"}},"usage":{"output_tokens":0}}"#,
        #"{"type":"message_stop"}"#,
    ])

    /// Arguments that the size cuts off; their block is never closed.
    static let cutTool = wire([
        start, #"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Writing."}}"#,
        #"{"type":"content_block_stop","index":0}"#,
        #"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_fix2","name":"write","input":{}}}"#,
        #"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"filename\": \"not"}}"#,
        #"{"type":"message_delta","delta":{"stop_reason":"max_tokens","stop_sequence":null},"usage":{"output_tokens":64}}"#,
        #"{"type":"message_stop"}"#,
    ])

    static let all = [text, tool, overload, thinking, refusal, cutTool]
}

/// Streams of OpenAI's chat completions API and of servers like it.
enum ChatStreams {
    /// The wire form of a list of chunks.
    static func wire(_ chunks: [String]) -> [UInt8] { chunks.flatMap { Array("data: \($0)\n\n".utf8) } }

    /// A chunk with this delta.
    static func chunk(_ delta: String, finish: String = "null") -> String {
        #"{"id":"c1","object":"chat.completion.chunk","created":1793000000,"model":"m","choices":[{"index":0,"delta":\#(delta),"finish_reason":\#(finish)}],"usage":null}"#
    }

    static let usage =
        #"{"id":"c1","object":"chat.completion.chunk","created":1793000000,"model":"m","choices":[],"usage":{"prompt_tokens":80,"completion_tokens":21,"total_tokens":101,"prompt_tokens_details":{"cached_tokens":16}}}"#

    /// A reply of text.
    static let text =
        Array(": OPENROUTER PROCESSING\n\n".utf8)
        + wire([
            chunk(#"{"role":"assistant","content":""}"#), chunk(#"{"content":"Caf\u00e9 "}"#),
            chunk(#"{"content":"🏳️‍🌈."}"#), chunk("{}", finish: #""stop""#), usage, "[DONE]",
        ])

    /// Two tool calls whose deltas are mixed.
    static let tools = wire([
        chunk(
            #"{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"notify","arguments":""}}]}"#
        ),
        chunk(#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"te"}}]}"#),
        chunk(
            #"{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"list_tasks","arguments":"{}"}},{"index":0,"function":{"arguments":"xt\":\"hi\"}"}}]}"#
        ),
        chunk("{}", finish: #""tool_calls""#), usage, "[DONE]",
    ])

    /// Ollama: reasoning of its own, a whole call in one delta, `stop` remapped, no usage.
    static let ollama = wire([
        chunk(#"{"role":"assistant","content":"","reasoning":"The user wants"}"#),
        chunk(#"{"role":"assistant","content":"","reasoning":" the time."}"#),
        chunk(
            #"{"role":"assistant","content":"","tool_calls":[{"id":"call_x1","index":0,"type":"function","function":{"name":"clock","arguments":"{\"zone\":\"UTC\"}"}}]}"#
        ),
        chunk(#"{"role":"assistant","content":""}"#, finish: #""tool_calls""#), "[DONE]",
    ])

    /// A failure in the middle of the stream.
    static let failing = wire([
        chunk(#"{"content":"So"}"#),
        #"{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}"#,
    ])

    static let all = [text, tools, ollama, failing]
}

/// Streams that are nearly right: real ones with bytes changed, parts cut out, repeated and exchanged.
struct StreamMutants {
    private var generator: SeededGenerator
    private let originals: [[UInt8]]

    private static let tokens = [
        "data: ", "event: ", "\n\n", "\r", "{", "}", "[", "]", "null", "\"", "\\u", "\\ud83d", ":", ",",
        "1e999",
        "-1", "[DONE]", "\"index\":0", "\"type\":", "\"text\":7", "\"delta\":{", "\u{FEFF}", "é",
    ].map { Array($0.utf8) }

    init(seed: UInt64, of originals: [[UInt8]]) {
        generator = SeededGenerator(seed: seed)
        self.originals = originals
    }

    mutating func below(_ limit: Int) -> Int { generator.below(limit) }

    mutating func next() -> [UInt8] {
        var bytes = originals[below(originals.count)]
        for _ in 0...below(6) where !bytes.isEmpty {
            let place = below(bytes.count)
            let end = min(place + below(60), bytes.count)
            switch below(6) {
            case 0: bytes[place] = UInt8(below(256))
            case 1: bytes.removeSubrange(place..<end)
            case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 3: bytes.insert(contentsOf: Self.tokens[below(Self.tokens.count)], at: place)
            case 4: bytes.replaceSubrange(place..<end, with: Self.tokens[below(Self.tokens.count)])
            default: bytes.removeSubrange(place...)
            }
        }
        return bytes
    }
}
