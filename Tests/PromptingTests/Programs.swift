import Prompting
import Testing
import Timeline
import Tracking

@Suite struct `a bot that is a program` {
    private func replies(
        _ dialect: ProgramDialect, _ text: String, end: BotProgramEnd = .code(0), pieces: Int = .max
    ) -> [ReplyEvent] {
        var decoder = ProgramDecoder(dialect)
        var events: [ReplyEvent] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            decoder.receive(rest.prefix(pieces)) { events.append($0) }
            rest = rest.dropFirst(pieces)
        }
        decoder.end(end) { events.append($0) }
        return events
    }

    /// Counts that no machine can subtract from, or believe.
    private static let counts = ["-9223372036854775808", "9223372036854775807", "-1", "5"]

    @Test func `counts tokens, whatever numbers it prints`() {
        for read in Self.counts {
            for cached in Self.counts {
                let lines: [(ProgramDialect, String)] = [
                    (
                        .gemini,
                        #"{"type":"result","status":"success","stats":{"input_tokens":R,"cached":C,"output_tokens":R}}"#
                    ),
                    (
                        .codex,
                        #"{"type":"turn.completed","usage":{"input_tokens":R,"cached_input_tokens":C,"output_tokens":R}}"#
                    ),
                    (
                        .claude,
                        #"{"type":"result","subtype":"success","usage":{"input_tokens":R,"cache_creation_input_tokens":R,"cache_read_input_tokens":C,"output_tokens":R}}"#
                    ),
                ]
                for (dialect, line) in lines {
                    let text = line.replacing("R", with: read).replacing("C", with: cached)
                    let usage = replies(dialect, text + "\n").usage
                    let parts = [usage?.input, usage?.cacheWrite, usage?.cacheRead, usage?.output]
                    #expect(
                        parts.allSatisfy { $0.map { (0...1_000_000_000_000).contains($0) } == true },
                        "\(text): \(parts)")
                }
            }
        }
    }

    private static let claude = """
        {"type":"system","subtype":"init","session_id":"5d1c-fix","tools":["Bash"]}
        {"type":"assistant","message":{"content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"Let me see."}]}}
        {"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}
        {"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}}
        {"type":"assistant","message":{"content":[{"type":"text","text":"One file."}]}}
        {"type":"result","subtype":"success","is_error":false,"session_id":"5d1c-fix","total_cost_usd":0.02,"usage":{"input_tokens":9,"cache_read_input_tokens":4,"output_tokens":7},"result":"One file."}

        """
    private static let codex = """
        {"type":"thread.started","thread_id":"th-1"}
        {"type":"turn.started"}
        {"type":"item.completed","item":{"id":"i0","type":"reasoning","text":"Hm."}}
        {"type":"item.started","item":{"id":"i1","type":"command_execution","command":"ls","status":"in_progress"}}
        {"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"ls","exit_code":0,"status":"completed"}}
        {"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"One file."}}
        {"type":"turn.completed","usage":{"input_tokens":24,"cached_input_tokens":20,"output_tokens":7}}

        """
    private static let gemini = """
        {"type":"init","session_id":"g-1","model":"m"}
        {"type":"message","role":"user","content":"Hi"}
        {"type":"tool_use","tool_name":"ls","tool_id":"t1","parameters":{"path":"."}}
        {"type":"tool_result","tool_id":"t1","status":"success"}
        {"type":"message","role":"assistant","content":"One ","delta":true}
        {"type":"message","role":"assistant","content":"file.","delta":true}
        {"type":"result","status":"success","stats":{"input_tokens":9,"output_tokens":7}}

        """

    @Test func `as Claude reports its session, its tools, its text and what it cost`() {
        let events = replies(.claude, Self.claude)
        #expect(events.first == .started(Continuation(provider: "claude", id: "5d1c-fix")))
        #expect(events.thinking == "Hm.")
        #expect(events.text == "Let me see.\n\nOne file.")
        #expect(
            events.calls == [
                ToolCall(
                    id: "t1", name: "Bash", arguments: .object(["command": .string("ls")]), isPerformed: true)
            ])
        #expect(events.usage == TokenUsage(input: 9, cacheRead: 4, output: 7, costUSD: 0.02))
        #expect(events.finish == Finish(.end, turn: SpokenTurn(.assistant, "Let me see.\n\nOne file.")))
    }

    @Test func `as Claude with partial messages says each text once`() {
        let events = replies(
            .claude,
            """
            {"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}
            {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"One "}}}
            {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"file."}}}
            {"type":"assistant","message":{"content":[{"type":"text","text":"One file."}]}}
            {"type":"result","subtype":"success","is_error":false,"result":"One file."}
            """)
        #expect(events.text == "One file.")
        #expect(events.finish?.reason == .end)
    }

    @Test func `as Claude puts a call off until a person has been asked`() {
        let events = replies(
            .claude,
            #"{"type":"result","subtype":"success","is_error":false,"stop_reason":"tool_deferred","#
                + #""session_id":"s-1","deferred_tool_use":{"id":"t-1","name":"AskUserQuestion","input":{}},"#
                + #""result":""}"#)
        #expect(events.finish?.reason == .deferred(call: "t-1"))
    }

    @Test(arguments: [
        (
            #"{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"API Error: Overloaded"}"#,
            "overloaded"
        ),
        (
            #"{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login"}"#,
            "auth"
        ),
        (#"{"type":"result","subtype":"error_max_turns","is_error":false}"#, "budget"),
        (#"{"type":"result","subtype":"error_during_execution","is_error":true}"#, "server"),
        (
            #"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1793000000}}"#
                + "\n"
                + #"{"type":"result","subtype":"success","is_error":true,"result":"limit"}"#, "usageLimit"
        ),
    ])
    func `as Claude fails as its result says, whatever its exit code`(line: String, word: String) {
        #expect(replies(.claude, line, end: .code(0)).failure?.word == word)
    }

    @Test func `as Claude waits until its account's limit ends, which it reports as a reply, too`() {
        let failure = replies(
            .claude,
            """
            {"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1793000000}}
            {"type":"assistant","message":{"content":[{"type":"text","text":"You've hit your limit"}]}}
            {"type":"result","subtype":"success","is_error":true,"result":"You've hit your limit"}
            """, end: .code(1)
        ).failure
        let counted = failure?.counted(from: Moment(seconds: 1_793_000_000 - 7200))
        #expect(counted?.retry == .after(.seconds(7200)))
        let place = ReplyFailure.Place(bot: "sage", provider: "claude", isProgram: true)
        #expect(
            counted?.sentence(at: place) == "sage: claude reached its usage limit, which ends in 2 h")
        #expect(failure?.counted(from: Moment(seconds: 1_793_000_001)).retry == .after(.zero))
        #expect(failure?.retry == .never, "nobody knows when it ends")
        let worked = replies(
            .claude,
            """
            {"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}
            {"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1793000000}}
            {"type":"result","subtype":"success","is_error":true,"result":"You've hit your limit"}
            """, end: .code(1)
        ).failure
        #expect(
            worked?.counted(from: Moment(seconds: 1_793_000_000)).retry == .never,
            "its work would be done twice")
    }

    @Test func `as Codex reports its thread, its commands, its text and its tokens`() {
        let events = replies(.codex, Self.codex)
        #expect(events.first == .started(Continuation(provider: "codex", id: "th-1")))
        #expect(events.thinking == "Hm.")
        #expect(events.contains(.calling("shell")))
        #expect(
            events.calls == [
                ToolCall(
                    id: "i1", name: "shell",
                    arguments: .object(["command": .string("ls"), "exit_code": .int(0)]), isPerformed: true)
            ])
        #expect(events.usage == TokenUsage(input: 4, cacheRead: 20, output: 7))
        #expect(events.finish == Finish(.end, turn: SpokenTurn(.assistant, "One file.")))
    }

    @Test func `as Codex fails with its turn, or with the last error before its end`() {
        let failed = replies(
            .codex, #"{"type":"turn.failed","error":{"message":"usage limit reached"}}"#, end: .code(1))
        #expect(failed.failure == ReplyFailure(.budget, detail: "usage limit reached"))
        let lost = replies(.codex, #"{"type":"error","message":"stream lost"}"#, end: .code(1))
        #expect(lost.failure == ReplyFailure(.server, detail: "stream lost"))
    }

    @Test func `as Gemini reports its session, its tools and its text`() {
        let events = replies(.gemini, Self.gemini)
        #expect(events.first == .started(Continuation(provider: "gemini", id: "g-1")))
        #expect(events.calls.map(\.name) == ["ls"])
        #expect(events.text == "One file.")
        #expect(events.usage == TokenUsage(input: 9, output: 7))
        #expect(events.finish?.reason == .end)
    }

    @Test func `as Gemini fails with its result, or with its exit code`() {
        let failed = replies(
            .gemini, #"{"type":"result","status":"error","error":{"message":"Quota exceeded"}}"#,
            end: .code(1))
        #expect(failed.failure == ReplyFailure(.budget, detail: "Quota exceeded"))
        #expect(replies(.gemini, "", end: .code(42)).failure?.word == "badRequest")
        #expect(replies(.gemini, "", end: .code(53)).failure?.word == "budget")
    }

    @Test func `of any kind says what it prints`() {
        let events = replies(.text, "\nOne\r\n\n\n\ntwo\nthree")
        #expect(events.text == "One\n\n\ntwo\nthree")
        #expect(events.finish == Finish(.end, turn: SpokenTurn(.assistant, "One\n\n\ntwo\nthree")))
    }

    @Test func `of any kind says each line at once, unless it may be the object at the end`() {
        var decoder = ProgramDecoder(.text)
        var said: [String] = []
        for line in ["One\n", "\n", "two\n", "{ 3\n", "four\n"] {
            var events: [ReplyEvent] = []
            decoder.receive(Array(line.utf8)[...]) { events.append($0) }
            said.append(events.text)
        }
        #expect(said == ["One", "", "\n\ntwo", "", "\n{ 3\nfour"])
    }

    @Test func `of any kind may end with an object that has the last words, or none`() {
        #expect(replies(.text, "log\n{\"notify\":true,\"text\":\"Done.\"}\n").text == "log\nDone.")
        let finish = replies(
            .text, #"{"text":"Full","title":"Disk\u0007 ","priority":"high"}"#
        ).finish
        #expect(finish?.title == "Disk" && finish?.priority == "critical")
        let plain = replies(.text, #"{"text":"x","title":" ","priority":"so so"}"#).finish
        #expect(plain?.title == nil && plain?.priority == nil)
        let quiet = replies(.text, "{\"notify\":false,\"text\":\"nothing new\"}\n")
        #expect(quiet.finish?.isQuiet == true && quiet.text == "nothing new")
        #expect(replies(.text, "{\"notify\":false}").text.isEmpty)
        #expect(replies(.text, "{\"a\":1}").text == "{\"a\":1}")
    }

    @Test(arguments: ProgramDialect.allCases)
    func `fails with its exit code, and 75 asks to try again`(dialect: ProgramDialect) {
        #expect(replies(dialect, "", end: .code(75)).failure?.retry == .soon)
        #expect(replies(dialect, "", end: .code(3)).failure?.kind == .program(exit: 3))
        #expect(replies(dialect, "", end: .signal).failure?.kind == .program(exit: nil))
    }

    @Test(arguments: [ProgramDialect.claude, .codex, .gemini])
    func `that promised JSON and prints something else fails with the line`(dialect: ProgramDialect) {
        #expect(
            replies(dialect, "command \u{1B}[31mnot found\n").failure
                == ReplyFailure(.malformed, detail: "a line is not JSON: command not found"))
        #expect(replies(dialect, "{\"type\":\"x\"}\n").failure?.kind == .truncated)
    }

    @Test func `means the same however its bytes are cut, and ends once, whatever they are`() {
        let streams: [(ProgramDialect, String)] = [
            (.claude, Self.claude), (.codex, Self.codex), (.gemini, Self.gemini),
            (.text, "One\r\n\n\ntwo\n{\"text\":\"café\"}\n"),
        ]
        for (dialect, text) in streams {
            let whole = replies(dialect, text)
            for size in 1...40 { #expect(replies(dialect, text, pieces: size) == whole, "size \(size)") }
        }
        let seed = UInt64.random(in: 0 ... .max)
        var mutants = StreamMutants(seed: seed, of: streams.map { Array($0.1.utf8) })
        for _ in 0..<5000 {
            let bytes = mutants.next()
            for dialect in ProgramDialect.allCases {
                var decoder = ProgramDecoder(dialect)
                var events: [ReplyEvent] = []
                decoder.receive(bytes[...]) { events.append($0) }
                decoder.end(.code(mutants.below(2))) { events.append($0) }
                #expect(events.last?.isLast == true, "seed \(seed)")
                #expect(events.dropLast().allSatisfy { !$0.isLast }, "seed \(seed)")
            }
        }
    }
}
