package import Performing
package import Prompting
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
        state.turns.append(Turn(.user, state.results))
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
