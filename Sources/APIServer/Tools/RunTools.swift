import API
import Engine
import Grouping
import Host
import Ledger
import ServiceLifecycle
import Timeline
import Tracking

/// What a bot reports and asks while a run of it is under way.
enum RunTools {
    static let all = [reportProgress, askPerson]

    private static let reportProgress = BotTool(
        "report_progress",
        "Shows the person how far you are with what you were asked. Call it when a part is done.",
        [
            ToolParameter("progress", .number(0...1), "The part that is done, 0 to 1."),
            ToolParameter("phase", .text(limit: 100), "What you are at, in a few words."),
            ToolParameter("message", .text(limit: 300), "One line for the person."),
        ], isRepeatable: true
    ) { request throws(APIError) in
        let run = try request.underWay
        let arguments = request.arguments
        guard !arguments.values.isEmpty else {
            throw APIError(.badValue, "there is nothing to report", hint: "Give progress, phase or message.")
        }
        let report = ProgressReport(
            fraction: arguments.number("progress"),
            phase: arguments.text("phase").map { CleanText.line($0, limit: 100) },
            message: arguments.text("message").map { CleanText.line($0, limit: 300) })
        _ = await request.daemon.control.board.receive(
            report, of: run.id, at: request.daemon.control.clock.now)
        return "shown"
    }

    private static let askPerson = BotTool(
        "ask_person",
        "Asks the person, and waits for the answer. Ask only what you can't find out and must not decide yourself.",
        [
            ToolParameter(
                "question", .text(limit: ReportedQuestion.longestText), "What to ask.", isRequired: true),
            ToolParameter(
                "choices", .texts(most: ReportedQuestion.mostChoices, limit: ReportedQuestion.longestChoice),
                "The answers to choose from; any text if left out."),
            ToolParameter("minutes", .whole(1...1440), "How long the answer may take; 60 if left out."),
        ], isRepeatable: true
    ) { request throws(APIError) in
        let run = try request.underWay
        var asked = AskRequest(
            id: NamedID.of("question:" + request.key), text: request.arguments.text("question") ?? "")
        asked.choices = request.arguments.texts("choices")
        asked.reply = asked.choices == nil
        asked.afterMs = Int64(request.arguments.whole("minutes") ?? 60) * 60_000
        (asked.bot, asked.run) = (request.user.bot.name, run.id)
        let end = try await request.daemon.answer(to: asked)
        if end?.state == .withdrawn { return "the question was withdrawn" }
        return (end?.answer).map { "the person answered: \($0)" }
            ?? "nobody answered in time: do without, or reply that you need an answer"
    }
}

extension ToolRequest {
    /// The run in which the bot calls.
    ///
    /// - Throws: a sentence for the bot where there is none.
    var underWay: RunRecord {
        get throws(APIError) {
            guard let run = user.run, !run.state.isEnded else {
                throw APIError(.badValue, "this tool works only while a run of yours is under way")
            }
            return run
        }
    }
}

extension DaemonHandler {
    /// Notes that somebody waits for the answer, as long as what this returns lives; made before it is asked.
    func wait(for asked: AskRequest) -> (AgentQuestions.Wait, QuestionAskers.Claim) {
        (AgentQuestions.Wait(for: asked, agents), control.askers.claim(asked.id))
    }

    /// Asks a question, and waits for its end; nil: the task was cancelled, and with it the question.
    func answer(to asked: AskRequest) async throws(APIError) -> QuestionEnd? {
        // Before it is asked: no answer is missed.
        let commits = control.ledger.commits()
        let draft = try Self.asking(asked)
        let wait = wait(for: asked)
        defer { withExtendedLifetime(wait) {} }
        let record = try await asking(await control.ask(draft))
        if let end = record.end { return end }
        for await stations in commits where stations.contains(.questions) {
            let now = try await reading(await control.ledger.question(id: record.id))
            if let end = now?.end { return end }
        }
        // The daemon stops, and the question stays: it is asked on by the next one.
        guard Task.isCancelled, !Task.isShuttingDownGracefully else { throw APIError(.stopping) }
        _ = try await asking(await control.withdraw(record.id))
        return nil
    }
}

/// What a bot says while it works.
enum MessageTools {
    static let all = [sendMessage]

    private static let sendMessage = BotTool(
        "send_message",
        "Sends a message to the person at once. What you reply at the end is sent anyway: use this for what must not wait for it.",
        [
            ToolParameter("text", .text(limit: 20_000), "What to say, in Markdown.", isRequired: true),
            ToolParameter("title", .text(limit: 200), "A line above it."),
            ToolParameter(
                "urgency", .choice(["low", "normal", "critical"]), "How much it disturbs; normal if left out."
            ),
        ]
    ) { request throws(APIError) in
        var notice = NotifyRequest(text: request.arguments.text("text") ?? "")
        notice.bot = request.user.bot.name
        notice.thread = request.user.thread
        notice.title = request.arguments.text("title")
        notice.urgency = request.arguments.text("urgency")
        let message = try await request.daemon.notify(notice)
        return "sent as message \(message.id)"
    }
}

/// Waits for the ends of runs that a bot asked for.
struct RunWatch {
    private let daemon: DaemonHandler

    init(_ daemon: DaemonHandler) { self.daemon = daemon }

    /// The rows of these runs once all have ended, or as they are when the time is up, the task is cancelled, or the run
    /// `asker` that wants to know has ended itself; `note` is called with the rows each time something happened.
    func ends(
        of ids: [String], within limit: Duration, for asker: String? = nil,
        _ note: ([RunRecord]) async -> Void = { _ in }
    ) async throws(APIError) -> [RunRecord] {
        let (clock, board) = (daemon.control.clock, daemon.control.board)
        let deadline = clock.sinceBoot + limit
        let commits = daemon.control.ledger.commits()
        let (news, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        wake.yield()
        let result = await withTaskGroup(of: Void.self) { group -> Result<[RunRecord], APIError> in
            defer { group.cancelAll() }
            group.addTask {
                for await stations in commits where stations.contains(.runs) { wake.yield() }
                wake.finish()
            }
            group.addTask { for await _ in board.taps() { wake.yield() } }
            group.addTask {
                // A wait that is cut short looks again, and nothing more.
                try? await clock.sleep(until: clock.now + limit)
                wake.yield()
            }
            do throws(APIError) {
                for await _ in news {
                    let rows = try await current(ids)
                    await note(rows)
                    if rows.allSatisfy(\.state.isEnded) || clock.sinceBoot >= deadline {
                        return .success(rows)
                    }
                    if let asker, try await current([asker]).allSatisfy(\.state.isEnded) {
                        return .success(rows)
                    }
                }
                // The daemon stops: what is waited for goes on.
                guard Task.isCancelled, !Task.isShuttingDownGracefully else {
                    return .failure(APIError(.stopping))
                }
                return .success(try await current(ids))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func current(_ ids: [String]) async throws(APIError) -> [RunRecord] {
        let rows = try await daemon.reading(await daemon.control.ledger.runs(ids: ids))
        return ids.compactMap { id in rows.first { $0.id == id } }
    }

    /// The beginning of what the run's last attempt printed or replied, without what steers a terminal.
    func output(of run: RunRecord, limit: Int) -> String {
        let path = daemon.identity.places.output(of: run.id, job: run.job, attempt: run.attempt)
        // A run that printed nothing has no output.
        guard let slice = try? OutputLog(path: path).read(from: 0, limit: limit) else { return "" }
        let text = String(decoding: slice.bytes, as: UTF8.self)
        let isCut = run.outputBytes.map { $0 > Int64(slice.bytes.count) } ?? false
        return isCut ? text + "\n… \(run.name) has more" : text
    }
}

extension RunRecord {
    /// How it ended: `completed`, `failed: exit code 3`.
    var sentence: String {
        guard state != .completed else { return "completed" }
        return state.words + (reason.map { ": " + $0.words } ?? "")
    }
}

extension WireToolProgress {
    /// How far a run is that a call waits for.
    init(_ live: LiveState?, of name: String, hasEnded: Bool = false) {
        let words = hasEnded ? "has ended" : live?.message ?? live?.phase
        self.init(
            progress: hasEnded ? 1 : live?.progress,
            message: CleanText.line(words.map { "\(name): \($0)" } ?? name, limit: 300))
    }

    /// How far several are that a call waits for: what nobody knows of one counts as nothing.
    init(together parts: [WireToolProgress]) {
        let done = parts.reduce(0) { $0 + ($1.progress ?? 0) }
        self.init(
            progress: parts.isEmpty ? nil : done / Double(parts.count),
            message: parts.compactMap(\.message).joined(separator: "; "))
    }
}
