package import API
import Cron
import Delivery
package import Engine
import Grouping
import Host
package import Ledger
import Timeline

extension APIError {
    /// The API's error when the engine refused.
    package init(_ error: EngineError) {
        switch error {
        case .noSuchJob(let name): self.init(missing: "job", name, .noSuchJob)
        case .noSuchRun(let name): self.init(missing: "run", name, .noSuchRun)
        case .noSuchMessage(let id): self.init(missing: "message", id, .noSuchMessage)
        case .noSuchEntry(let id): self.init(missing: "outbox entry", id, .noSuchOutboxEntry)
        case .noSuchChannel(let name): self.init(missing: "channel", name, .noSuchChannel)
        case .noSuchBot(let name): self.init(missing: "bot", name, .noSuchBot)
        case .noSuchSilence(let id): self.init(missing: "silence", id, .noSuchSilence)
        case .noSuchQuestion(let id): self.init(missing: "question", id, .noSuchQuestion)
        case .noSuchToken(let name): self.init(missing: "token", name, .noSuchToken)
        case .noSuchExpectation(let name): self.init(missing: "expectation", name, .noSuchExpectation)
        case .tokenExists(let name):
            self.init(
                .tokenExists, "a token \(Quoted.of(name)) exists",
                hint: "Remove it first: belfry token rm \(name)")
        case .noSuchGatewayJob(let id):
            self.init(.noSuchGatewayJob, "no job \(Quoted.of(id)) in the gateway")
        case .gatewayJobTaken(let name, let job):
            self.init(
                .gatewayJobTaken, "the gateway's job \(Quoted.of(name)) is run by Belfry already, as \(job)",
                hint: "See: belfry job show \(job)")
        case .gateway(let text, let hint):
            self.init(.gatewayRefused, text, hint: hint)
        case .noSuchZone(let name): self.init(missingZone: name)
        case .nothingToExplain(let name): self.init(noSubject: name)
        case .ambiguousID(let id, let candidates): self.init(ambiguous: id, candidates)
        case .nameTaken(let name, let place): self.init(taken: "job", name, at: place, .jobExists)
        case .botExists(let name, let place): self.init(taken: "bot", name, at: place, .botExists)
        case .ownedByFile(let name, let place): self.init(ofFile: "job", name, at: place, .jobFromFile)
        case .botOfFile(let name, let place): self.init(ofFile: "bot", name, at: place, .botFromFile)
        case .channelExists(let name, let isOfFile): self.init(channelTaken: name, isOfFile: isOfFile)
        case .channelOfFile(let name, let path): self.init(channelOfFile: name, at: path)
        case .jobsName(let name):
            self.init(
                .jobExists, "\(Quoted.of(name)) is the name of a job", hint: "Choose another with --name.")
        case .busy(let job, let runs): self.init(busy: job, runs)
        case .ended(let run, let state): self.init(.runEnded, "\(run) has ended (\(state))")
        case .notEnded(let run):
            self.init(.runNotEnded, "\(run) has not ended", hint: "End it first: belfry run cancel \(run)")
        case .notPausable(let run, let fault): self.init(.notPausable, "\(run) \(fault.words)")
        case .notRepeatable(let run): self.init(notRepeatable: run)
        case .answered(let run, let bot): self.init(answered: run, by: bot)
        case .silentBot(let name): self.init(silentBot: name)
        case .botInUse(let name, let jobs): self.init(botInUse: name, by: jobs)
        case .silenceEnded(_, let moment):
            self.init(
                .silenceEnded, "the silence ended at \(Moment(seconds: moment.seconds).iso8601)")
        case .badMatcher(let error): self.init(.badValue, "\(error)", hint: error.hint)
        case .questionClosed(_, let end): self.init(.questionClosed, "the question was \(end.sentence)")
        case .noAnswer(let text, let choices): self.init(noAnswer: text, choices)
        case .notAllowed(let entry, let state, let channel): self.init(entry: entry, is: state, channel)
        case .channelMissing(let entry, let channel): self.init(entry: entry, withoutChannel: channel)
        case .severalMissing(let channels, let new): self.init(severalMissing: channels, new: new)
        case .badSchedule(let text):
            // A drawing: its carets must stand under a text that begins its line.
            self.init(.badSchedule, "the schedule is refused")
            drawing = "the schedule is refused:\n\(text)"
        case .invalid(let text):
            // A sentence is one line, whatever it quotes.
            self.init(.badValue, text.split(whereSeparator: \.isNewline).joined(separator: " "))
        case .keyFile(let text): self.init(.internalFault, text)
        case .changedMeanwhile(let name):
            self.init(
                .changedMeanwhile, "somebody changed \(Quoted.of(name)) at the same time", hint: "Try again.")
        case .ledger(let error): self.init(error)
        // Spelt out: the short form is this initializer again.
        case .stopping: self.init(ErrorCode.stopping)
        case .starting: self.init(ErrorCode.starting, hint: "Try again in a moment.")
        }
    }

    /// The API's error when the ledger refused.
    package init(_ error: LedgerError) {
        switch error {
        case .fenced: self.init(.changedMeanwhile, hint: "Try again.")
        // It is closed last.
        case .closed: self.init(ErrorCode.stopping)
        default: self.init(.ledgerRefused, "\(error)")
        }
    }
}

// What is not there, or is there already.

extension APIError {
    private init(missing kind: String, _ name: String, _ code: ErrorCode) {
        self.init(code, "no \(kind) \(Quoted.of(name))")
    }

    private init(missingZone name: String) {
        let near = NearestName.ofZone(name, among: ZoneFiles().names)
        self.init(
            .badValue, "no zone \(Quoted.of(name))",
            hint: near.map { "Did you mean \"\($0)\"?" } ?? "See: timedatectl list-timezones")
    }

    private init(noSubject name: String) {
        self.init(
            .noSuchSubject, "\(Quoted.of(name)) is no message, run, item or outbox entry",
            hint: "Name one as JOB#N, job:NAME or by an id of: belfry messages, belfry outbox")
    }

    private init(ambiguous id: String, _ candidates: [String]) {
        let text = "the short id \(Quoted.of(id)) matches several"
        self.init(.ambiguousID, text + ": " + candidates.joined(separator: "; "))
        drawing = ([text + "; write more of it:"] + candidates.map { "  " + $0 }).joined(separator: "\n")
    }

    /// `place` is where a file names it; nil: it was made on the command line.
    private init(taken kind: String, _ name: String, at place: String?, _ code: ErrorCode) {
        self.init(
            code, "there is a \(kind) \(Quoted.of(name)) already" + (place.map { ", at \($0)" } ?? ""),
            hint: place == nil ? "Change it: belfry \(kind) edit \(name)" : Self.editHint)
    }

    private init(ofFile kind: String, _ name: String, at place: String, _ code: ErrorCode) {
        self.init(code, "\(kind) \"\(name)\" comes from \(place)", hint: Self.editHint)
    }

    private init(channelTaken name: String, isOfFile: Bool) {
        self.init(
            .channelExists,
            "there is a channel \(Quoted.of(name)) already" + (isOfFile ? ", in the configuration" : ""),
            hint: "Choose another name with --name"
                + (isOfFile ? "." : ", or remove it: belfry channel rm \(name)"))
    }

    /// `path` is the configuration's; nil: there is none, and the channel is there by default.
    private init(channelOfFile name: String, at path: String?) {
        self.init(
            .channelFromFile,
            "channel \(Quoted.of(name)) \(path.map { "comes from \($0)" } ?? "is there by default")",
            hint: path == nil ? "It ends with a configuration that describes channels." : Self.editHint)
    }

    private static let editHint = "Change it there, then: belfry reload"
}

// What does not fit the state of a run, a bot, a question or an outbox entry.

extension APIError {
    private init(busy job: String, _ runs: [String]) {
        self.init(
            .overlap, "\"\(job)\" has a run that has not ended (\(runs.joined(separator: ", ")))",
            hint: "Run it anyway with --force.")
    }

    private init(notRepeatable run: String) {
        self.init(
            .notRepeatable,
            "\(run) was a command of belfry exec, whose environment and terminal are never stored",
            hint: "Run the command again where they are.")
    }

    private init(answered run: String, by bot: String) {
        self.init(
            .notRepeatable, "\(run) answered what people said to \(bot)",
            hint: "Say it again: belfry send \(bot) TEXT")
    }

    private init(silentBot name: String) {
        self.init(
            .badValue, "bot \(Quoted.of(name)) answers nobody: it has no backend",
            hint: "Give it one: bots.\(name).backend in the configuration")
    }

    private init(botInUse name: String, by jobs: [String]) {
        self.init(
            .botInUse, "jobs belong to bot \"\(name)\": \(jobs.joined(separator: ", "))",
            hint:
                "Give them another with belfry job edit JOB --bot NAME, or remove it anyway with --force; "
                + "prompts of these jobs then fail.")
    }

    private init(noAnswer text: String, _ choices: [String]) {
        self.init(
            .badValue, "\(Quoted.of(text)) is not one of the choices",
            hint: choices.isEmpty
                ? "Write a text that is not blank."
                : "Answer one of: \(choices.map(Quoted.of).joined(separator: ", ")).")
    }

    /// The entry's `state` allows no such step; `channel` is what it waits for.
    private init(entry: String, is state: String, _ channel: String?) {
        self.init(
            .entrySettled, "the outbox entry \(entry) is \(state)",
            hint: channel.map { "It goes out when its channel works again: belfry channel test \($0)" })
    }

    private init(entry: String, withoutChannel channel: String) {
        self.init(
            .entrySettled,
            "the outbox entry \(entry) waits for channel \"\(channel)\", which is not in the configuration",
            hint: "Add the channel again, or: belfry outbox retry --channel NEW --from \(channel)")
    }

    private init(severalMissing channels: [String], new: String) {
        self.init(
            .badValue,
            "entries wait for several channels that are not in the configuration: "
                + channels.joined(separator: " "),
            hint: "Name one: belfry outbox retry --channel \(new) --from \(channels.first ?? "OLD")")
    }
}

extension QuestionEnd {
    /// How it was closed: `answered "yes" by desk at 2026-11-23T14:02:05Z`.
    fileprivate var sentence: String {
        let time = "at \(Moment(seconds: at.seconds).iso8601)"
        guard state == .answered, let answer else { return "\(state.rawValue) \(time)" }
        let by = by == Self.byDefault ? "default" : by ?? "somebody"
        return "answered \(Quoted.of(answer)) by \(by) \(time)"
    }
}

extension APIError {
    /// The API's error when the configuration is refused.
    package init(_ refusal: ReloadRefusal) {
        self.init(.badConfig, refusal.description)
        guard let first = refusal.faults.first else { return }
        faults = refusal.faults
        message =
            faults.count == 1
            ? "\(first.file):\(first.line):\(first.column): \(first.message)"
            : "the configuration has \(Plural.of(faults.count, "fault"))"
        hint = faults.count == 1 ? first.hint : nil
        drawing = refusal.description
    }
}
