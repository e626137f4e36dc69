package import Performing
package import Prompting
import Timeline
import Tracking

/// Who offers tools to the bots of providers, and performs their calls.
package struct BotTools: Sendable {
    /// The tools that the bot of that name may call now.
    let offered: @Sendable (_ bot: String) async -> [Tool]
    /// Performs a call that the bot made in an attempt.
    let perform: @Sendable (_ call: ToolCall, _ bot: String, _ key: RunKey) async -> ToolAnswer
    /// Whether a call of that tool, made again after a crash, does nothing twice.
    let isRepeatable: @Sendable (_ tool: String) -> Bool

    /// Tools that `offered` lists and `perform` performs.
    package init(
        offered: @escaping @Sendable (_ bot: String) async -> [Tool],
        perform: @escaping @Sendable (_ call: ToolCall, _ bot: String, _ key: RunKey) async -> ToolAnswer,
        isRepeatable: @escaping @Sendable (_ tool: String) -> Bool = { _ in false }
    ) {
        self.offered = offered
        self.perform = perform
        self.isRepeatable = isRepeatable
    }

    /// No tools at all.
    package static let none = BotTools(
        offered: { _ in [] }, perform: { _, _, _ in ToolAnswer("there are no tools", isError: true) })
}

/// A reply in turns: the bot calls tools, is shown their results, and replies further.
///
/// Each turn is a request of its own. Its events become those of one reply: one start, usages that add up, one end.
struct ToolLoop {
    /// The most calls that are performed of one turn.
    static let callsPerTurn = 32

    /// The most requests.
    let maxTurns: Int
    /// Asks the provider once; the number of the turn begins at 1.
    let ask: (_ prompt: Prompt, _ turn: Int, _ report: (ReplyEvent) -> Void) async throws -> Void
    /// Performs a call, whose id names it among all of the attempt; throws where the reply ends with it.
    let perform: (ToolCall) async throws -> ToolAnswer
    /// Whether a call of that tool, made again after a crash, does nothing twice.
    var isRepeatable: (String) -> Bool = { _ in false }
    /// Keeps how far it is.
    var keep: (LoopState) throws -> Void = { _ in }

    /// Asks, and reports what happens; the last event is an end.
    ///
    /// Goes on from a `state` that was kept.
    /// - Throws: `CancellationError` when the task is cancelled, and what ``ask``, ``perform`` and ``keep`` throw; no end
    ///   is reported then.
    func run(_ prompt: Prompt, from start: LoopState = LoopState(), _ report: (ReplyEvent) -> Void)
        async throws
    {
        var state = start
        var joint = JointReply(resuming: start)
        if !start.said.isEmpty { report(.text(start.said)) }
        if start.usage != TokenUsage() { report(.usage(start.usage)) }
        while true {
            if !state.calls.isEmpty { try await performCalls(&state) }
            joint.hasCalled = !state.turns.isEmpty
            var end: Finish?
            joint.begin(state.turn)
            var asked = prompt
            asked.turns += state.turns
            try await ask(asked, state.turn) { event in
                if case .finished(let finish) = event {
                    end = finish
                } else {
                    joint.pass(event, report)
                }
            }
            guard let end else { return }
            guard end.reason == .toolCalls, !end.turn.openCalls.isEmpty else { return report(.finished(end)) }
            guard state.turn < maxTurns else { break }
            state.turns.append(end.turn)
            (state.said, state.usage) = (joint.said, joint.usage)
        }
        report(.failed(ReplyFailure(.endedEarly(.turns), hasOutput: true)))
    }

    /// Performs the calls of the last turn that have no result yet, one after the other.
    private func performCalls(_ state: inout LoopState) async throws {
        let calls = state.calls
        for number in state.results.count..<calls.count {
            let call = calls[number]
            let isUnknown = state.hasBegun && !isRepeatable(call.name)
            state.hasBegun = true
            let answer: ToolAnswer
            if isUnknown {
                answer = Self.unknown
            } else if number >= Self.callsPerTurn {
                answer = Self.tooMany
            } else {
                try keep(state)
                let named = ToolCall(
                    id: "\(state.turn)-\(number)", name: call.name, arguments: call.arguments)
                answer = try await perform(named)
            }
            if answer.isInterrupted { await Self.untilTheEnd() }
            if Task.isCancelled { throw CancellationError() }
            state.results.append(.toolResult(id: call.id, text: answer.text, isError: answer.isError))
            state.hasBegun = false
        }
        // One turn with a result for every call: a provider refuses the conversation else.
        state.turns.append(SpokenTurn(.user, state.results))
        state.results = []
        try keep(state)
    }

    private static let tooMany = ToolAnswer(
        "not performed: at most \(callsPerTurn) calls of a turn are; call it again in the next one",
        isError: true)
    private static let unknown = ToolAnswer(
        "the daemon ended while this was performed: it is not known whether it was done; look before you call it again",
        isError: true)

    /// The daemon stops: the next one makes the call again.
    private static func untilTheEnd() async {
        let (never, end) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        end.finish()
    }
}

/// The events of several requests as those of one reply.
private struct JointReply {
    /// Whether a tool was called: trying again could do it twice.
    var hasCalled = false
    private var turn = 1
    private var before = TokenUsage()
    private var current = TokenUsage()
    private var hasText = false
    private var beginsParagraph = false
    /// What was said, as people read it.
    private(set) var said: String

    /// What was used.
    var usage: TokenUsage { before + current }

    init(resuming state: LoopState) {
        (said, before, hasText) = (state.said, state.usage, !state.said.isEmpty)
    }

    mutating func begin(_ turn: Int) {
        self.turn = turn
        before = before + current
        current = TokenUsage()
        beginsParagraph = hasText
    }

    mutating func pass(_ event: ReplyEvent, _ report: (ReplyEvent) -> Void) {
        switch event {
        case .started where turn > 1: report(.activity)
        case .usage(let usage):
            current = usage
            report(.usage(before + usage))
        case .text(let piece):
            // What it said before it called a tool is a paragraph of its own.
            let text = beginsParagraph ? "\n\n" + piece : piece
            if beginsParagraph { report(.text("\n\n")) }
            (beginsParagraph, hasText) = (false, true)
            said += text
            report(.text(piece))
        case .failed(var failure):
            failure.hasOutput = failure.hasOutput || hasText || hasCalled
            report(.failed(failure))
        default: report(event)
        }
    }
}

/// How far a reply in turns is: what must be known to go on with it.
struct LoopState: Hashable {
    /// What was said since the prompt: the bot's turns, and the results of its calls.
    var turns: [SpokenTurn] = []
    /// The results of the calls of the last turn, as far as there are some.
    var results: [SpokenTurn.Part] = []
    /// Whether the call after these was begun.
    var hasBegun = false
    /// What the bot said, as people read it.
    var said = ""
    /// What was used.
    var usage = TokenUsage()

    /// The number of the turn that is asked next, or whose calls are performed; from 1.
    var turn: Int { turns.count / 2 + 1 }
    /// The calls that wait for their results; none where the bot is to be asked.
    var calls: [ToolCall] { turns.last.map { $0.speaker == .assistant ? $0.openCalls : [] } ?? [] }

    /// Forgets what only the provider and the model understand that wrote it, such as signed thinking: another one refuses
    /// it.
    mutating func forgetThinking() {
        for index in turns.indices {
            turns[index].parts.removeAll { if case .opaque = $0 { true } else { false } }
        }
    }
}

/// What must be known of an attempt whose bot calls tools, to go on with it after a crash: kept in a file while the
/// attempt is under way.
///
/// It is written before each call is performed and after it, so that no call is made twice.
struct LoopNote: Hashable {
    /// What was ordered.
    var order: PromptOrder
    /// When the attempt began.
    var start: Moment
    var state = LoopState()
    /// Who wrote what ``state`` holds: provider and model; nil: nobody knows.
    var model: String?
    /// What the bot keeps of what it is no longer shown, made in this attempt; nil: nothing was.
    var summary: TalkSummary?
    /// What making it used.
    var summaryUsage = TokenUsage()

    /// The most bytes of its file; a longer reply ends with the daemon.
    static let limit = 16 << 20
}

extension LoopNote: AttemptNote {
    var bytes: [UInt8] {
        JSON.object([
            "run": .string(order.key.run), "attempt": .int(order.key.attempt), "bot": .string(order.bot),
            "text": .string(order.text),
            "earlier": .array(
                order.earlier.map { .object(["isOfBot": .bool($0.isOfBot), "text": .string($0.text)]) }),
            "known": order.summary.map { .string($0) },
            "summary": summary.map { .string($0.text) }, "through": summary.map { .int($0.through) },
            "summaryUsage": summaryUsage.json, "model": model.map { .string($0) },
            "timeout": order.timeout.map { .int($0.milliseconds) }, "path": .string(order.output.path),
            "head": .int(order.output.headBytes), "tail": .int(order.output.tailBytes),
            "isReadLive": .bool(order.isReadLive), "start": .int(start.microseconds),
            "turns": .array(state.turns.map(\.json)), "results": .array(state.results.map(\.json)),
            "hasBegun": .bool(state.hasBegun), "said": .string(state.said), "usage": state.usage.json,
        ]).bytes
    }

    init?(_ bytes: [UInt8]) {
        guard let json = JSON(parsing: bytes[...]), let run = json["run"]?.text,
            let attempt = json["attempt"]?.int, let bot = json["bot"]?.text, let text = json["text"]?.text,
            let path = json["path"]?.text, let head = json["head"]?.int, let tail = json["tail"]?.int,
            let start = json["start"]?.int, let usage = json["usage"].flatMap(TokenUsage.init)
        else { return nil }
        let earlier = (json["earlier"]?.elements ?? []).compactMap { turn in
            turn["text"]?.text.map { EarlierTurn(isOfBot: turn["isOfBot"] == .bool(true), text: $0) }
        }
        order = PromptOrder(
            key: RunKey(run: run, attempt: attempt), bot: bot, earlier: earlier, text: text,
            timeout: json["timeout"]?.int.map { .milliseconds($0) },
            output: ProcessOrder.Output(path: path, headBytes: head, tailBytes: tail))
        order.isReadLive = json["isReadLive"] == .bool(true)
        order.summary = json["known"]?.text
        if let text = json["summary"]?.text, let through = json["through"]?.int {
            summary = TalkSummary(text, through: Int64(through))
        }
        summaryUsage = json["summaryUsage"].flatMap(TokenUsage.init) ?? TokenUsage()
        self.start = Moment(microseconds: Int64(start))
        model = json["model"]?.text
        let turns = (json["turns"]?.elements ?? []).map(SpokenTurn.init)
        let results = (json["results"]?.elements ?? []).map(SpokenTurn.Part.init)
        guard !turns.contains(nil), !results.contains(nil) else { return nil }
        state.turns = turns.compactMap(\.self)
        state.results = results.compactMap(\.self)
        state.hasBegun = json["hasBegun"] == .bool(true)
        state.said = json["said"]?.text ?? ""
        state.usage = usage
    }
}

extension SpokenTurn {
    fileprivate var json: JSON {
        .object(["speaker": .string(speaker.rawValue), "parts": .array(parts.map(\.json))])
    }

    fileprivate init?(_ json: JSON) {
        guard let speaker = json["speaker"]?.text.flatMap(Speaker.init) else { return nil }
        let parts = (json["parts"]?.elements ?? []).map(Part.init)
        guard !parts.contains(nil) else { return nil }
        self.init(speaker, parts.compactMap(\.self))
    }
}

extension SpokenTurn.Part {
    fileprivate var json: JSON {
        switch self {
        case .text(let text): .object(["text": .string(text)])
        case .toolCall(let call):
            .object([
                "call": .string(call.id), "name": .string(call.name), "arguments": call.arguments,
                "isPerformed": .bool(call.isPerformed),
            ])
        case .toolResult(let id, let text, let isError):
            .object(["result": .string(id), "of": .string(text), "isError": .bool(isError)])
        case .opaque(let provider, let json): .object(["provider": .string(provider), "content": json])
        }
    }

    fileprivate init?(_ json: JSON) {
        if let text = json["text"]?.text {
            self = .text(text)
        } else if let id = json["call"]?.text, let name = json["name"]?.text,
            let arguments = json["arguments"]
        {
            self = .toolCall(
                ToolCall(
                    id: id, name: name, arguments: arguments, isPerformed: json["isPerformed"] == .bool(true))
            )
        } else if let id = json["result"]?.text, let text = json["of"]?.text {
            self = .toolResult(id: id, text: text, isError: json["isError"] == .bool(true))
        } else if let provider = json["provider"]?.text, let content = json["content"] {
            self = .opaque(provider: provider, content)
        } else {
            return nil
        }
    }
}

extension TokenUsage {
    fileprivate var json: JSON {
        .object([
            "input": .int(input), "cacheWrite": .int(cacheWrite), "cacheRead": .int(cacheRead),
            "output": .int(output), "costUSD": costUSD.map { .double($0) },
        ])
    }

    fileprivate init?(_ json: JSON) {
        guard let input = json["input"]?.int, let write = json["cacheWrite"]?.int,
            let read = json["cacheRead"]?.int, let output = json["output"]?.int
        else { return nil }
        self.init(
            input: input, cacheWrite: write, cacheRead: read, output: output, costUSD: json["costUSD"]?.double
        )
    }
}
