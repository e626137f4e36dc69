package import Performing
package import Prompting
import Tracking

/// Who offers tools to the bots of providers, and performs their calls.
package struct BotTools: Sendable {
    /// The tools that the bot of that name may call now.
    let offered: @Sendable (_ bot: String) async -> [Tool]
    /// Performs a call that the bot made in an attempt.
    let perform: @Sendable (_ call: ToolCall, _ bot: String, _ key: RunKey) async -> ToolAnswer

    /// Tools that `offered` lists and `perform` performs.
    package init(
        offered: @escaping @Sendable (_ bot: String) async -> [Tool],
        perform: @escaping @Sendable (_ call: ToolCall, _ bot: String, _ key: RunKey) async -> ToolAnswer
    ) {
        self.offered = offered
        self.perform = perform
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
    /// Performs a call.
    let perform: (ToolCall) async -> ToolAnswer

    /// Asks, and reports what happens; the last event is an end.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, and what ``ask`` throws; no end is reported then.
    func run(_ prompt: Prompt, _ report: (ReplyEvent) -> Void) async throws {
        var prompt = prompt
        var joint = JointReply()
        for turn in 1...max(maxTurns, 1) {
            var end: Finish?
            joint.begin(turn)
            try await ask(prompt, turn) { event in
                if case .finished(let finish) = event {
                    end = finish
                } else {
                    joint.pass(event, report)
                }
            }
            guard let end else { return }
            let calls = end.turn.openCalls
            guard end.reason == .toolCalls, !calls.isEmpty else { return report(.finished(end)) }
            guard turn < maxTurns else { break }
            prompt.turns.append(end.turn)
            // One turn with a result for every call: a provider refuses the conversation else.
            prompt.turns.append(Turn(.user, try await results(of: calls)))
            joint.hasCalled = true
        }
        report(.failed(ReplyFailure(.endedEarly(.turns), hasOutput: true)))
    }

    private func results(of calls: [ToolCall]) async throws(CancellationError) -> [Turn.Part] {
        var results: [Turn.Part] = []
        for (number, call) in calls.enumerated() {
            let answer =
                number < Self.callsPerTurn
                ? await perform(call)
                : ToolAnswer(
                    "not performed: at most \(Self.callsPerTurn) calls of a turn are; call it again in the next one",
                    isError: true)
            if Task.isCancelled { throw CancellationError() }
            results.append(.toolResult(id: call.id, text: answer.text, isError: answer.isError))
        }
        return results
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
            if beginsParagraph { report(.text("\n\n")) }
            (beginsParagraph, hasText) = (false, true)
            report(.text(piece))
        case .failed(var failure):
            failure.hasOutput = failure.hasOutput || hasText || hasCalled
            report(.failed(failure))
        default: report(event)
        }
    }
}
