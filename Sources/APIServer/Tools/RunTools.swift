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
            ToolParameter("question", .text(limit: 4000), "What to ask.", isRequired: true),
            ToolParameter(
                "choices", .texts(most: 10, limit: 60), "The answers to choose from; any text if left out."),
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
    /// Asks a question, and waits for its end; nil: the task was cancelled, and with it the question.
    func answer(to asked: AskRequest) async throws(APIError) -> QuestionEnd? {
        // Before it is asked: no answer is missed.
        let commits = control.ledger.commits()
        let draft = try Self.asking(asked)
        let record = try await asking(await control.ask(draft))
        if let end = record.end { return end }
        agents.note(record.id, asked)
        defer { agents.forget(record.id) }
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
