import API
import APIClient
import Host
import Tracking

/// One call of a hook by an agent: what it wrote is asked or reported, and the decision is printed in its dialect.
///
/// Nothing else is printed, and the exit code is 0 in any case: of other codes an agent makes a decision of its own.
/// Without a decision (nobody answered in time, no daemon, a payload that says something new) the agent goes on by itself.
struct AgentHookRun {
    let agent: CodingAgent
    let client: DaemonClient
    /// How long each question waits.
    let wait: Duration
    /// How long only the desktop asks.
    let grace: Duration

    /// Long enough for whoever sits at the desktop.
    static let standardGrace = Duration.seconds(10)
    private static let longestPayload = 4 << 20

    func run() {
        guard let text = try? StandardInput.text(limit: Self.longestPayload),
            let payload = JSON(parsing: Array(text.utf8)[...])
        else { return }
        let hook = AgentHook(agent: agent, payload: payload)
        switch hook.task {
        case .ask(let questions):
            var answers: [String] = []
            for question in questions {
                guard let answer = answer(to: question, of: hook.bot) else { return }
                answers.append(answer)
            }
            if let output = hook.output(answers) {
                StandardOutput.print(String(decoding: output.bytes, as: UTF8.self))
            }
        case .say(let request): _ = try? client.ask(Endpoints.notify(body: request))
        case .none: return
        }
    }

    /// What a person answered; nil: nobody did in time, or nobody could be asked.
    private func answer(to question: AgentQuestion, of bot: String) -> String? {
        var request = AskRequest(id: UniqueID.v7(at: .now), text: question.text)
        request.choices = question.choices
        request.reply = question.takesText ? true : nil
        request.afterMs = DurationArgument(duration: wait).milliseconds
        request.graceMs = DurationArgument(duration: grace).milliseconds
        request.trust = question.trust
        request.bot = bot
        var waiter = QuestionWaiter(client: client, request: request)
        waiter.isPatient = false
        return (try? waiter.wait())?.answer
    }
}
