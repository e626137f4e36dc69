import API
import APIClient
import ArgumentParser
import Host
import Timeline
import Tracking

extension CodingAgent: ExpressibleByArgument {}

/// One call of a hook by an agent: what it wrote is asked or reported, and the decision is printed in its dialect.
///
/// Nothing else is printed, and the exit code is 0 in any case: of other codes an agent makes a decision of its own.
/// Without a decision (nobody answered in time, no daemon, a payload that says something new) the agent goes on by itself.
struct AgentHookRun {
    let agent: CodingAgent
    let client: DaemonClient
    /// How long each question waits; nil: as long as is usual.
    let wait: Duration?
    /// How long only the desktop asks.
    let grace: Duration

    /// Long enough for whoever sits at the desktop.
    static let standardGrace = Duration.seconds(10)
    /// How long a run keeps its process while a person is asked.
    private static let parkingWait = Duration.seconds(60)
    private static let longestPayload = 4 << 20

    func run() {
        guard let text = try? StandardInput.text(limit: Self.longestPayload),
            let payload = JSON(parsing: Array(text.utf8)[...])
        else { return }
        let hook = AgentHook(agent: agent, payload: payload)
        if let settled = hook.settled {
            let request = SettleRequest(session: settled.session, about: settled.about)
            _ = try? client.ask(Endpoints.settleQuestions(body: request))
        }
        switch hook.task {
        case .ask(let questions):
            if let place = hook.parking(in: Machine.environment) {
                return print(park(questions, of: hook, in: place.run, call: place.call))
            }
            let end = Duration.sinceBoot + (wait ?? agent.standardWait)
            var answers = AgentAnswers(hook, questions)
            while let question = answers.next {
                guard let answer = answer(to: question, of: hook, until: end) else { return }
                answers.add(answer)
            }
            print(hook.output(answers.given))
        case .say(let request): _ = try? client.ask(Endpoints.notify(body: request))
        case .none: return
        }
    }

    private func print(_ output: JSON?) {
        guard let output else { return }
        StandardOutput.print(String(decoding: output.bytes, as: UTF8.self))
    }

    private func request(_ question: AgentQuestion, id: String, of hook: AgentHook) -> AskRequest {
        var request = AskRequest(id: id, text: question.text)
        request.choices = question.choices
        request.reply = question.takesText ? true : nil
        request.graceMs = DurationArgument(duration: grace).milliseconds
        request.trust = question.trust
        request.bot = hook.bot
        (request.session, request.about) = (hook.session, question.about)
        return request
    }

    /// What a person answered; nil: nobody did in time, or nobody could be asked.
    private func answer(to question: AgentQuestion, of hook: AgentHook, until end: Duration) -> String? {
        var request = request(question, id: UniqueID.v7(at: .now), of: hook)
        request.afterMs = max(1, (end - .sinceBoot).milliseconds)
        var waiter = QuestionWaiter(client: client, request: request)
        waiter.isPatient = false
        return (try? waiter.wait())?.answer
    }

    /// What the call is answered, after it was put off or at once; it is put off while a question is open.
    ///
    /// The agent makes the same call again when it is resumed, and finds the same questions by their ids.
    private func park(_ questions: [AgentQuestion], of hook: AgentHook, in run: String, call: String) -> JSON?
    {
        let end = Duration.sinceBoot + (wait ?? Self.parkingWait)
        var (answers, isOpen, isWithdrawn) = ([String](), false, false)
        for (place, question) in questions.enumerated() {
            let id = NamedID.of("question \(run) \(call) \(place)")
            var request = request(question, id: id, of: hook)
            (request.keep, request.run) = (true, run)
            let waiter = QuestionWaiter(client: client, request: request)
            guard let asked = try? waiter.look(until: end) else { return nil }
            if let answer = asked.answer {
                answers.append(answer)
            } else if asked.state == "open" {
                isOpen = true
            } else {
                isWithdrawn = true
            }
        }
        if isWithdrawn { return AgentHook.withdrawal }
        return isOpen ? AgentHook.deferral : hook.output(answers)
    }
}
