import Prompting
import TestSupport
import Testing

@Suite struct `a stream of a reply` {
    private static let decoders: [(any ReplyDecoder, [[UInt8]])] = [
        (AnthropicDecoder(model: "m"), AnthropicStreams.all), (ChatDecoder(model: "m"), ChatStreams.all),
    ]

    @Test func `means the same however its bytes are cut`() {
        for (decoder, streams) in Self.decoders {
            for stream in streams {
                let whole = replies(decoder, stream)
                #expect(replies(decoder, stream, pieces: 1) == whole)
                // Two pieces, with the cut after every byte.
                for cut in 1..<stream.count {
                    var decoder = decoder
                    var events: [ReplyEvent] = []
                    decoder.receive(stream[..<cut]) { events.append($0) }
                    decoder.receive(stream[cut...]) { events.append($0) }
                    decoder.end { events.append($0) }
                    #expect(events == whole, "cut after \(cut) bytes")
                }
            }
        }
    }

    @Test func `counts no more tokens than anybody believes, and calls whatever their indices are`() {
        let least = "-9223372036854775808"
        let chat = [
            "{\"choices\":[],\"usage\":{\"prompt_tokens\":\(least),\"completion_tokens\":\(Int.max),"
                + "\"prompt_tokens_details\":{\"cached_tokens\":5}}}",
            #"{"choices":[{"delta":{"tool_calls":[{"index":\#(Int.max),"id":"a","function":{"name":"x"}}]}}]}"#,
            #"{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"y"}}]}}]}"#,
        ]
        let events = replies(ChatDecoder(model: "m"), Array(chat.map { "data: \($0)\n\n" }.joined().utf8))
        #expect(events.usage == TokenUsage(input: 0, cacheRead: 5, output: 1_000_000_000_000))
        let start =
            #"{"type":"message_start","message":{"usage":{"input_tokens":\#(Int.max),"output_tokens":\#(least)}}}"#
        let claude = replies(
            AnthropicDecoder(model: "m"), Array("event: message_start\ndata: \(start)\n\n".utf8))
        #expect(claude.usage == TokenUsage(input: 1_000_000_000_000))
    }

    @Test func `has exactly one end, and nothing after it, whatever its bytes are`() {
        let seed = UInt64.random(in: 0 ... .max)
        var mutants = StreamMutants(seed: seed, of: Self.decoders.flatMap { $0.1 })
        for _ in 0..<30_000 {
            let bytes = mutants.next()
            for (decoder, _) in Self.decoders {
                let events = replies(decoder, bytes, pieces: 1 + mutants.below(400))
                #expect(events.last?.isLast == true, "seed \(seed)")
                #expect(events.dropLast().allSatisfy { !$0.isLast }, "seed \(seed)")
                #expect(
                    events.filter { if case .started = $0 { true } else { false } }.count <= 1, "seed \(seed)"
                )
            }
        }
    }
}
