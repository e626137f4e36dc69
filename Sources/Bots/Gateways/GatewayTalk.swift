import GatewayClient
import Host
package import OpenClaw
import Performing
package import Prompting
import Timeline
import Tracking

/// One prompt and its reply: sends it, puts the reply together, and after each loss asks what happened to it.
final class GatewayTalk {
    /// What may happen next.
    private enum Step: Sendable {
        case signal(GatewayLink.RunSignal)
        /// What the gateway knows of the run; nil: it can't be asked now.
        case found(RunRecovery?)
        /// What came of sending it.
        case sent(Result<JSON, GatewayLink.CallFailure>)
        case deadline
    }

    private let note: GatewayNote
    private let key: RunKey
    private let link: GatewayLink
    private let place: ReplyFailure.Place
    private let clock: any WallClock
    private let watch: Duration
    private let report: (ProgressReport) -> Void
    private var assembly = ChatAssembly()
    private var progress = ReplyProgress()
    private var file: OutputFile
    private var firstWord: Duration?
    private var lastReport = Duration.zero
    private var end: GatewayNote.End?
    /// Whether the gateway is known to have taken the prompt.
    private(set) var isTaken = false
    /// What was sent into the session, oldest first.
    private let sent: [SentPrompt]

    /// How often a run is asked about of which nothing comes by itself any more.
    private static let interval = Duration.seconds(20)

    init(
        _ note: GatewayNote, _ key: RunKey, among sent: [SentPrompt], clock: any WallClock,
        since watch: Duration, link: GatewayLink?,
        report: @escaping (ProgressReport) -> Void
    ) throws(AttemptFault) {
        guard let link else {
            throw AttemptFault(
                .botUnavailable, "\(note.bot): its gateway is no longer configured; the reply is lost")
        }
        (self.note, self.key, self.link, self.clock, self.watch) = (note, key, link, clock, watch)
        self.report = report
        self.sent = sent
        place = .init(bot: note.bot, provider: "the gateway")
        file = try Self.file(note)
    }

    private static func file(_ note: GatewayNote) throws(AttemptFault) -> OutputFile {
        do throws(HostError) {
            return try OutputFile(
                path: note.output.path, headBytes: note.output.headBytes, tailBytes: note.output.tailBytes)
        } catch {
            throw AttemptFault(
                .spawnFailed, "\(note.bot): the reply can't be kept: \(error)", mayPass: true)
        }
    }

    /// Records what came of it.
    func apply(_ end: GatewayNote.End, to record: inout ExitRecord) {
        record.outputBytes = file.count
        record.outputTail = Array(assembly.text.utf8.suffix(ExitRecord.tailLimit))
        record.firstWord = firstWord
        record.fault = end.fault
        record.partialReply = end.partial
        record.reply = end.reply
        if end.isTimeout { record.cause = .timeout }
        if end.fault == nil { record.exitCode = 0 }
        record.usage = assembly.usage.map { usage in
            BotUsage(
                TokenUsage(input: usage.input, cacheRead: usage.cacheRead, output: usage.output), price: nil)
        }
    }

    // MARK: Its course

    /// Talks until the run has ended; a prompt that is not fresh was perhaps sent before.
    func run(isFresh: Bool) async -> GatewayNote.End {
        let run = key.description
        let signals = await link.follow(run)
        let (steps, next) = AsyncStream.makeStream(of: Step.self)
        let left = max(note.timeout - (clock.sinceBoot - watch), .seconds(1))
        let tasks = [
            Task { for await signal in signals { next.yield(.signal(signal)) } },
            Task { [clock] in
                try? await clock.sleep(until: clock.now + left)
                if !Task.isCancelled { next.yield(.deadline) }
            },
            isFresh ? send(next) : check(next),
        ]
        var asking: [Task<Void, Never>] = tasks
        for await step in steps {
            if let task = take(step, next) { asking.append(task) }
            if end != nil { break }
        }
        for task in asking { task.cancel() }
        await link.unfollow(run)
        if end == nil || end?.isTimeout == true { await abort() }
        return end ?? GatewayNote.End(partial: assembly.text.isEmpty ? nil : assembly.text)
    }

    /// Takes a step; returns what is asked of the gateway because of it.
    private func take(
        _ step: Step, _ next: AsyncStream<Step>.Continuation
    ) -> Task<Void, Never>? {
        switch step {
        case .signal(.chat(let event)):
            isTaken = true
            apply(assembly.receive(event))
        case .signal(.connected), .signal(.gap): return check(next)
        case .signal(.disconnected): report(ProgressReport(phase: "waiting for the gateway"))
        case .deadline: fail(.deadline(note.timeout), isTimeout: true)
        case .sent(let result): return sent(result, next)
        case .found(let finding): return found(finding, next)
        }
        return nil
    }

    private func sent(
        _ result: Result<JSON, GatewayLink.CallFailure>, _ next: AsyncStream<Step>.Continuation
    ) -> Task<Void, Never>? {
        switch result {
        case .success(let answer):
            isTaken = true
            // The gateway remembers that it has ended.
            return answer["status"]?.text == "ok" ? check(next) : nil
        case .failure(.timedOut), .failure(.unsettled): return check(next)
        case .failure(.away): return nil
        case .failure(.tooLarge): fail(.promptTooLong)
        case .failure(.fault(let fault)): fail(fault)
        }
        return nil
    }

    private func found(_ finding: RunRecovery?, _ next: AsyncStream<Step>.Continuation) -> Task<Void, Never>?
    {
        switch finding {
        // One that it lost stands in its history, too, where a later one of the same words must not be taken for it.
        case .isRunning, .replied, .failed, .lost: isTaken = true
        case .notShown, .neverSent, nil: break
        }
        switch finding {
        case .isRunning, nil: return check(next, after: Self.interval)
        case .replied(let text): apply(assembly.receive(whole: text))
        case .failed(let why): fail(.server, why)
        case .lost, .notShown: fail(.truncated, "it no longer knows the prompt")
        case .neverSent: return send(next)
        }
        return nil
    }

    private func apply(_ changes: [ChatAssembly.Change]) {
        for change in changes {
            switch change {
            case .appended(let piece): write(piece)
            case .replaced(let whole):
                progress = ReplyProgress()
                if let fresh = try? Self.file(note) { file = fresh }
                write(whole)
            case .ended(.delta): break
            case .ended(.final): end = GatewayNote.End(reply: assembly.text)
            case .ended(.aborted(let reason)):
                fail(.truncated, reason == "timeout" ? "it took too long for it" : "somebody ended it there")
            case .ended(.failed(let message, let kind)): fail(ReplyFailure.Kind(gateway: kind), message)
            }
        }
    }

    private func write(_ piece: String) {
        guard !piece.isEmpty else { return }
        file.append(Array(piece.utf8)[...])
        let now = clock.sinceBoot
        firstWord = firstWord ?? now - watch
        guard progress.note(.text(piece)) || now - lastReport >= ReplyProgress.interval else { return }
        lastReport = now
        if let shown = progress.report { report(shown) }
    }

    private func fail(_ kind: ReplyFailure.Kind, _ detail: String = "", isTimeout: Bool = false) {
        var failure = ReplyFailure(kind, detail: detail, hasOutput: !assembly.text.isEmpty)
        // The gateway had the prompt: its agent may have done what it was asked to.
        if isTaken || kind == .truncated || kind == .server { failure.retryAdvice = false }
        end = GatewayNote.End(
            partial: assembly.text.isEmpty ? nil : assembly.text, fault: AttemptFault(failure, at: place),
            isTimeout: isTimeout)
    }

    private func fail(_ fault: GatewayFault) {
        switch fault.code {
        case _ where fault.missingScope != nil:
            fail(.auth, fault.message)
        case "UNAVAILABLE": fail(.overloaded(after: fault.retryAfter), fault.message)
        case "NOT_PAIRED", "NOT_LINKED": fail(.auth, fault.message)
        case "AGENT_TIMEOUT": fail(.server, fault.message)
        default: fail(.badRequest, fault.message)
        }
    }

    // MARK: What is asked of the gateway

    private func send(_ next: AsyncStream<Step>.Continuation) -> Task<Void, Never> {
        let call = GatewayCall.send(
            note.text, to: note.session, key: key.description, isDelivered: note.isDelivered,
            timeout: note.timeout)
        return Task { [link] in
            do throws(GatewayLink.CallFailure) {
                next.yield(.sent(.success(try await link.call(call))))
            } catch {
                next.yield(.sent(.failure(error)))
            }
        }
    }

    private func check(
        _ next: AsyncStream<Step>.Continuation, after wait: Duration = .zero
    ) -> Task<Void, Never> {
        Self.checking(key.description, note, sent, link, clock, next, after: wait)
    }

    private static func checking(
        _ run: String, _ note: GatewayNote, _ sent: [SentPrompt], _ link: GatewayLink,
        _ clock: any WallClock,
        _ next: AsyncStream<Step>.Continuation, after wait: Duration
    ) -> Task<Void, Never> {
        Task {
            if wait > .zero { try? await clock.sleep(until: clock.now + wait) }
            if Task.isCancelled { return }
            let finding = await recovery(of: run, note, among: sent, over: link)
            next.yield(.found(finding))
        }
    }

    /// What the gateway knows of the run; nil: it can't be asked now.
    private static func recovery(
        of run: String, _ note: GatewayNote, among sent: [SentPrompt], over link: GatewayLink
    ) async -> RunRecovery? {
        var wait = RunWaitResult.unknown
        do throws(GatewayLink.CallFailure) {
            wait = RunWaitResult(
                try await link.call(.wait(for: run, atMost: .seconds(1))), hiding: await link.hidden)
        } catch {
            // A gateway that does not know the method, or the run, leaves it to the history.
            guard case .fault = error else { return nil }
        }
        do throws(GatewayLink.CallFailure) {
            let history = SessionHistory(try await link.call(.history(of: note.session)))
            return RunRecovery(
                run, message: note.text, sent: note.sent, wait: wait, history: history, earlier: sent,
                ahead: await link.clockAhead)
        } catch {
            return nil
        }
    }

    /// Ends the run, whoever waits for it.
    private func abort() async {
        _ = try? await link.call(.abort(key.description, in: note.session), within: .seconds(5))
    }
}

extension ReplyFailure.Kind {
    /// The kind of failure that a gateway names.
    fileprivate init(gateway kind: String?) {
        switch kind {
        case "refusal": self = .refused
        case "rate_limit": self = .rateLimited(after: nil)
        case "context_length": self = .promptTooLong
        default: self = .server
        }
    }
}

extension BotGateway {
    /// The key of the session that a prompt belongs to.
    func sessionKey(in hello: GatewayHello, for key: RunKey) -> String {
        if session == .isolated {
            return "agent:\(agent ?? hello.mainAgent):belfry:\(key.run.lowercased())"
        }
        return conversation(in: hello)
    }

    /// The key of its agent's main conversation.
    package func conversation(in hello: GatewayHello) -> String {
        agent.map { "agent:\($0):\(hello.mainKey)" } ?? hello.mainSession
    }
}
