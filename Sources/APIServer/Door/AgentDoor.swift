import API
import Engine
import Grouping
import Ledger
import Synchronization
import Timeline
import Tracking

/// The questions of agents whose askers wait for them now, with what names them in the agents' later events.
///
/// In memory alone: whoever waits for an answer asks again after the daemon's end, and names them again.
final class AgentQuestions: Sendable {
    /// A question that is waited for as long as this object lives.
    ///
    /// Made before it is asked: no event that settles it comes too early.
    final class Wait: Sendable {
        private let questions: AgentQuestions

        init(for asked: AskRequest, _ questions: AgentQuestions) {
            self.questions = questions
            guard let session = asked.session else { return }
            let name = ObjectIdentifier(self)
            questions.waiting.withLock { $0[name] = (asked.id, session, asked.about) }
        }

        deinit {
            let name = ObjectIdentifier(self)
            questions.waiting.withLock { _ = $0.removeValue(forKey: name) }
        }
    }

    private let waiting = Mutex<[ObjectIdentifier: (id: String, session: String, about: String?)]>([:])

    /// Those of a session that are about one call; `about` is nil: all of the session.
    func matching(session: String, about: String?) -> [String] {
        waiting.withLock { waiting in
            Set(
                waiting.values.filter { $0.session == session && (about == nil || $0.about == about) }
                    .map(\.id)
            ).sorted()
        }
    }
}

extension DaemonHandler {
    /// Withdraws what the agent was answered elsewhere.
    func settle(_ asked: SettleRequest) async throws(APIError) {
        for id in agents.matching(session: asked.session, about: asked.about) {
            do throws(EngineError) {
                _ = try await control.withdraw(id)
            } catch .questionClosed, .noSuchQuestion {
                // The second is about to be asked, so nobody has answered it.
                continue
            } catch {
                throw APIError(error)
            }
        }
    }
}

// Agents whose hooks are addresses: what `belfry confirm --hook` prints is the body of the answer.

extension Door {
    /// The largest body of an agent's hook.
    private static let agentLimit = 4 << 20

    /// A request by which an agent asks or reports; nil: it is another one.
    func agent(_ head: RequestHead, by token: TokenRecord) throws(APIError) -> Admission? {
        let parts = head.path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[1] == "v1", parts[2] == "agents" else { return nil }
        guard let agent = CodingAgent(rawValue: String(parts[3])), agent == .claude else {
            throw APIError(.noSuchPath, hint: "Only Claude Code has hooks that are addresses.")
        }
        // A hook asks and reports: with a token that may also answer, an agent could approve its own requests.
        try allow(token, .publish)
        guard head.method == "POST" else { throw APIError(.badMethod, hint: "It takes POST.") }
        return Admission(bodyLimit: Self.agentLimit) { [self] body in
            let hook = JSON(parsing: body[...]).map { AgentHook(agent: agent, payload: $0) }
            // An agent reports each call of a tool, which costs nothing; what it asks and says counts.
            if hook?.task != nil {
                do throws(APIError) { try take(for: "token " + token.name) } catch { return .failure(error) }
            }
            return .awaited { [handler] in
                await Caller.$token.withValue(token.name) { await handler.answer(hook) }
            }
        }
    }
}

extension DaemonHandler {
    private static let agentGrace: Int64 = 10_000

    /// The decision in the agent's dialect; empty where there is none, so that the agent goes on by itself.
    @concurrent
    fileprivate func answer(_ hook: AgentHook?) async -> APIResponse {
        var bytes: [UInt8] = []
        if let hook {
            if let settled = hook.settled {
                try? await settle(SettleRequest(session: settled.session, about: settled.about))
            }
            switch hook.task {
            case .ask(let questions): bytes = await output(of: hook, questions)?.bytes ?? []
            case .say(let request): _ = try? await notify(request)
            case nil: break
            }
        }
        return .whole(status: 200, contentType: "application/json", bytes: bytes)
    }

    private func output(of hook: AgentHook, _ questions: [AgentQuestion]) async -> JSON? {
        let clock = control.clock
        let end = clock.sinceBoot + hook.agent.standardWait
        var answers = AgentAnswers(hook, questions)
        while let question = answers.next {
            let left = end - clock.sinceBoot
            guard left > .zero else { return nil }
            var request = AskRequest(id: control.makeID(), text: question.text)
            request.choices = question.choices
            request.reply = question.takesText ? true : nil
            (request.afterMs, request.graceMs) = (max(1, left.milliseconds), Self.agentGrace)
            (request.trust, request.bot) = (question.trust, hook.bot)
            (request.session, request.about) = (hook.session, question.about)
            guard let answer = try? await answer(to: request)?.answer else { return nil }
            answers.add(answer)
        }
        return hook.output(answers.given)
    }
}
