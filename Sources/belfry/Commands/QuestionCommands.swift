import API
import APIClient
import ArgumentParser
import Glibc
import Host
import Ledger
import TerminalView
import Tracking

struct ConfirmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirm", abstract: "Asks you a question and prints the answer.",
        discussion: """
            The question is shown on the desktop with a button for each choice, and is
            answered there or with: belfry answer. It survives a restart of the daemon; if
            this command ends first, the question is withdrawn.

            Exit codes: 0 the first choice, 1 another answer, 6 no answer in time. With
            --default, the default is printed instead, with its own code.

              belfry confirm "Deploy to production?" && ./deploy
              belfry confirm "Delete 40 GB?" --default no --after 30m
              size=$(belfry confirm "Which size?" --choices small,medium,large)
              name=$(belfry confirm "What should it be called?" --reply)
              belfry confirm "Restart the router?" --grace 2m

            A job may ask early and go on: systemd-notify X_QUESTION="Deploy?"
            X_QUESTION_KEY=deploy. With --key it then waits for that answer:

              belfry confirm "Deploy?" --key deploy && ./deploy
            """)

    @Argument(help: "The question.")
    var text: String?
    /// What a shell makes of a text without quotes.
    @Argument(help: .hidden) var rest: [String] = []
    @Option(
        help: ArgumentHelp(
            "The choices, separated by commas (default: yes,no).", valueName: "list"))
    var choices: String?
    @Option(
        name: .customLong("default"),
        help: ArgumentHelp("The answer if nobody gives one in time.", valueName: "choice"))
    var fallback: String?
    @Option(
        help: ArgumentHelp("Wait this long for an answer (default: forever).", valueName: "duration"),
        transform: DurationArgument.read)
    var after: DurationArgument?
    @Option(
        help: ArgumentHelp(
            "Ask on the desktop alone for this long, then everywhere.", valueName: "duration"),
        transform: DurationArgument.read)
    var grace: DurationArgument?
    @Option(
        help: ArgumentHelp(
            "Be the hook of a coding agent, claude or codex; see: belfry hook install.",
            valueName: "agent"))
    var hook: CodingAgent?
    @Option(
        help: ArgumentHelp(
            "How long a hook waits for your answer (default: claude 595s, codex 20s).",
            valueName: "duration"), transform: DurationArgument.read)
    var wait: DurationArgument?
    @Flag(help: "Accept any text as the answer.")
    var reply = false
    @Option(
        help: ArgumentHelp(
            "In a job: ask once under this key in a run, also after X_QUESTION_KEY.", valueName: "key"))
    var key: String?
    @Option(help: ArgumentHelp("The bot that asks.", valueName: "bot"), completion: Completions.bots)
    var bot: String?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if hook != nil {
            guard text == nil, choices == nil, fallback == nil, after == nil, !reply else {
                throw ValidationError("--hook takes its question from the agent: leave out the rest")
            }
            return
        }
        if wait != nil { throw ValidationError("--wait belongs to --hook; use --after") }
        guard let text else { throw ValidationError("Missing expected argument '<text>'") }
        if !rest.isEmpty {
            let whole = JobText.quoted(([text] + rest).joined(separator: " "))
            throw ValidationError("the question is one argument; quote it: belfry confirm \(whole)")
        }
        if fallback != nil, after == nil {
            throw ValidationError("--default needs --after: how long to wait for an answer")
        }
    }

    private static func trimmed(_ word: Substring) -> String {
        let start = word.drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }

    func run() throws {
        if let hook {
            // Also without a daemon: of a code other than 0 agents make a decision.
            guard let client = try? common.client() else { return }
            return AgentHookRun(
                agent: hook, client: client, wait: wait?.duration,
                grace: grace?.duration ?? AgentHookRun.standardGrace
            ).run()
        }
        var request = AskRequest(id: UniqueID.v7(at: .now), text: text ?? "")
        request.choices = choices?.split(separator: ",", omittingEmptySubsequences: false).map(Self.trimmed)
        request.default = fallback
        request.afterMs = after?.milliseconds
        request.graceMs = grace?.milliseconds
        request.reply = reply ? true : nil
        request.bot = bot
        request.run = Machine.environment["BELFRY_RUN_ID"]
        if let key {
            guard let run = request.run else {
                throw APIError(.badValue, "--key works in a job alone: BELFRY_RUN_ID is not set")
            }
            (request.id, request.keep) = (ReportedQuestion.id(of: key, in: run), true)
        }
        var waiter = QuestionWaiter(client: try common.client(), request: request)
        waiter.asked = { question in
            guard isatty(STDERR_FILENO) == 1 else { return }
            StandardError.print("Asked. Answer here or elsewhere: \(QuestionText.command(question))")
        }
        let question = try waiter.wait()
        if common.json { StandardOutput.print(try WireCoding.text(question)) }
        guard let answer = question.answer else {
            if common.json { throw ExitCode(6) }
            throw APIError(
                .timedOut,
                question.state == "withdrawn" ? "the question was withdrawn" : "nobody answered in time")
        }
        if !common.json { StandardOutput.print(answer) }
        let isFirst = question.choices.first.map { $0 == answer } ?? true
        throw ExitCode(isFirst ? 0 : 1)
    }
}

struct QuestionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "questions", abstract: "Lists and shows questions that wait for your answer.",
        subcommands: [QuestionListCommand.self, QuestionShowCommand.self],
        defaultSubcommand: QuestionListCommand.self)
}

struct QuestionListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists questions, newest first.",
        discussion: """
              belfry questions list --all
              belfry questions --json
            """)

    @Flag(help: "Also list questions that are closed.")
    var all = false
    @OptionGroup var listing: ListOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        var query = QuestionsQuery()
        query.all = all
        query.limit = listing.limit
        let questions = try common.client().ask(Endpoints.questions(query: query))
        try common.screen.list(questions, asJSON: common.json) { screen in
            var table = TextTable(["ASKED", "BY", "QUESTION", all ? "ANSWER" : "CHOICES", "UNTIL", "ID"])
            for (question, id) in zip(questions, ShortID.shown(questions.map(\.id))) {
                table.add([
                    "\(screen.time(question.askedAt))", "\(question.run ?? question.bot)",
                    "\(PlainText.preview(question.text))",
                    "\(all ? QuestionText.state(question) : QuestionText.choices(question))",
                    "\(screen.time(question.deadline))", TextTable.Cell(id, .dim),
                ])
            }
            screen.print(table, empty: all ? "No questions." : "No open questions.")
        }
    }
}

struct QuestionShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows one question in full.",
        discussion: """
              belfry questions show 2f1b7a11
            """)

    @OptionGroup var question: QuestionArgument
    @OptionGroup var common: CommonOptions

    func run() throws {
        let question = try common.client().ask(Endpoints.question(question.id))
        if common.json { return try StandardOutput.print(json: question) }
        let screen = common.screen
        screen.field("id", question.id)
        screen.field("bot", question.bot)
        screen.field("run", question.run)
        screen.field("asked", screen.time(question.askedAt))
        screen.field("until", question.deadline.map { screen.time($0) })
        screen.field("choices", QuestionText.choices(question))
        screen.field("default", question.default)
        screen.field("state", QuestionText.state(question))
        screen.field("closed", (question.answeredAt ?? question.closedAt).map { screen.time($0) })
        screen.print("")
        for line in PlainText.lines(question.text) { screen.print(line) }
    }
}

struct AnswerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer", abstract: "Answers a question.",
        discussion: """
            The first answer counts, wherever it is given.

              belfry answer 2f1b7a11 yes
              belfry answer 2f1b7a11 "Call it tower"
              belfry answer 2f1b7a11 --withdraw
            """)

    @OptionGroup var question: QuestionArgument
    @Argument(help: "One of the choices, or any text where the question accepts it.")
    var answer: String?
    /// What a shell makes of a text without quotes.
    @Argument(help: .hidden) var rest: [String] = []
    @Flag(help: "Withdraw the question, so that it can no longer be answered.")
    var withdraw = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if !rest.isEmpty {
            let whole = JobText.quoted(([answer ?? ""] + rest).joined(separator: " "))
            throw ValidationError("the answer is one argument; quote it: \(whole)")
        }
        guard (answer == nil) == withdraw else {
            throw ValidationError("give an answer, or --withdraw")
        }
    }

    func run() throws {
        let client = try common.client()
        let closed: WireQuestion
        if let answer {
            var request = AnswerRequest(answer: answer)
            request.by = "cli"
            closed = try client.ask(Endpoints.answerQuestion(question.id, body: request))
        } else {
            closed = try client.ask(Endpoints.withdrawQuestion(question.id))
        }
        if common.json { return StandardOutput.print(try WireCoding.text(closed)) }
        StandardOutput.print(
            closed.answer.map { "Answered: \(PlainText.oneLine($0))" } ?? "The question is withdrawn.")
    }
}

/// The id of a question.
struct QuestionArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The question's id; four digits or more of its start, or of the last eight, are enough.",
            valueName: "id"), completion: Completions.questions)
    var id: String

    func validate() throws {
        if id.allSatisfy(\.isWhitespace) { throw ValidationError("the id of a question is empty") }
    }
}

/// Questions in words.
enum QuestionText {
    /// `belfry answer 2f1b7a11 yes|no`.
    static func command(_ question: WireQuestion) -> String {
        "belfry answer \(question.id.suffix(ShortID.shownDigits)) \(choices(question, separator: "|"))"
    }

    /// `yes, no`; `any text` where that is accepted.
    static func choices(_ question: WireQuestion, separator: String = ", ") -> String {
        let words = question.choices + (question.reply == true ? ["any text"] : [])
        return PlainText.oneLine(words.joined(separator: separator))
    }

    /// `open`, `expired`, or the answer with who gave it.
    static func state(_ question: WireQuestion) -> String {
        guard let answer = question.answer else { return question.state }
        return PlainText.preview(answer) + (question.answeredBy.map { " (\($0))" } ?? "")
    }
}

/// Asks a question and waits until it is closed, however often the daemon stops meanwhile.
struct QuestionWaiter {
    let client: DaemonClient
    let request: AskRequest
    /// Called with the question once it is asked.
    var asked: (WireQuestion) -> Void = { _ in }

    /// Whether it waits for a daemon that has stopped to come back.
    var isPatient = true

    /// The question as it was closed.
    ///
    /// As long as this process lives the question stays open: the daemon withdraws it when the connection ends, and a
    /// daemon that starts again is asked again under the same id.
    /// - Throws: why the daemon does not ask it.
    func wait() throws(APIError) -> WireQuestion {
        // A job has a daemon: where there is none just now, it comes back in a moment.
        let isOfJob = request.run != nil
        var (isSent, isAsked) = (false, false)
        var reconnection = Reconnection(note: "belfry: the daemon has stopped; waiting for it to come back")
        var start = Reconnection()
        while true {
            do throws(APIError) {
                let stream = try client.open(Endpoints.askQuestion(body: request))
                var parser = ServerSentEventParser()
                reconnection.succeeded()
                while case .bytes(let bytes) = try arrival(of: stream) {
                    for event in try parser.receive(bytes) where event.name == QuestionStream.eventName {
                        let question = try WireCoding.decode(WireQuestion.self, from: Array(event.data.utf8))
                        if question.state != "open" { return question }
                        if !isAsked { asked(question) }
                        (isSent, isAsked) = (true, true)
                    }
                }
            } catch {
                // A request that was sent and not answered may have been asked, and nobody else waits for it.
                if error.code == .connectionLost { isSent = true }
                guard isPatient, isSent || isOfJob, mayPass(error) else { throw error }
                if !isSent {
                    do throws(APIError) { try start.wait() } catch _ { throw error }
                    continue
                }
            }
            guard isPatient else { throw APIError(.connectionLost, "the daemon has stopped") }
            try reconnection.wait()
        }
    }

    /// The question as it is when it is closed, or at this time since boot; it stays open then.
    ///
    /// - Throws: why the daemon does not ask it.
    func look(until end: Duration) throws(APIError) -> WireQuestion {
        let stream = try client.open(Endpoints.askQuestion(body: request))
        var parser = ServerSentEventParser()
        var last: WireQuestion?
        while last == nil || Duration.sinceBoot < end {
            let left = last == nil ? nil : max(.zero, end - .sinceBoot)
            let arrival: AnswerStream.Arrival
            do throws(APIError) {
                arrival = try stream.next(timeout: left)
            } catch {
                // It is in the ledger, whatever happened to the daemon.
                guard let last else { throw error }
                return last
            }
            switch arrival {
            case .bytes(let bytes):
                for event in try parser.receive(bytes) where event.name == QuestionStream.eventName {
                    let question = try WireCoding.decode(WireQuestion.self, from: Array(event.data.utf8))
                    if question.state != "open" { return question }
                    last = question
                }
            case .ended:
                guard let last else { throw APIError(.connectionLost, "the daemon has stopped") }
                return last
            case .nothing: break
            }
        }
        guard let last else { throw APIError(.noAnswer) }
        return last
    }

    /// What comes next; a signal that does not end this process changes nothing.
    private func arrival(of stream: AnswerStream) throws(APIError) -> AnswerStream.Arrival {
        while true {
            let arrival = try stream.next(timeout: nil)
            if arrival != .nothing { return arrival }
        }
    }

    private func mayPass(_ error: APIError) -> Bool {
        error.code.row.exitCode == 3 || [.timedOut, .tooBusy, .ledgerRefused].contains(error.code)
    }
}
