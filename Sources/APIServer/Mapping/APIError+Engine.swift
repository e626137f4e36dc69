package import API
import Cron
package import Engine
import Grouping
import Host
package import Ledger
import Timeline

extension APIError {
    /// The API's error when the engine refused.
    package init(_ error: EngineError) {
        switch error {
        case .noSuchJob(let name): self.init(.noSuchJob, "no job \(Quoted.of(name))")
        case .noSuchZone(let name):
            let near = NearestName.ofZone(name, among: ZoneFiles().names)
            self.init(
                .badValue, "no zone \(Quoted.of(name))",
                hint: near.map { "Did you mean \"\($0)\"?" } ?? "See: timedatectl list-timezones")
        case .noSuchRun(let name): self.init(.noSuchRun, "no run \(Quoted.of(name))")
        case .noSuchMessage(let id): self.init(.noSuchMessage, "no message \(Quoted.of(id))")
        case .noSuchEntry(let id): self.init(.noSuchOutboxEntry, "no outbox entry \(Quoted.of(id))")
        case .noSuchChannel(let name): self.init(.noSuchChannel, "no channel \(Quoted.of(name))")
        case .noSuchBot(let name): self.init(.noSuchBot, "no bot \(Quoted.of(name))")
        case .noSuchQuestion(let id): self.init(.noSuchQuestion, "no question \(Quoted.of(id))")
        case .questionClosed(_, let end): self.init(.questionClosed, "the question was \(end.sentence)")
        case .noAnswer(let text, let choices):
            self.init(
                .badValue, "\(Quoted.of(text)) is not one of the choices",
                hint: choices.isEmpty
                    ? "Write a text that is not blank."
                    : "Answer one of: \(choices.map(Quoted.of).joined(separator: ", ")).")
        case .silentBot(let name):
            self.init(
                .badValue, "bot \(Quoted.of(name)) answers nobody: it has no backend",
                hint: "Give it one: bots.\(name).backend in the configuration")
        case .ambiguousID(let id, let candidates):
            let text = "the short id \(Quoted.of(id)) matches several"
            self.init(.ambiguousID, text + ": " + candidates.joined(separator: "; "))
            drawing = ([text + "; write more of it:"] + candidates.map { "  " + $0 }).joined(separator: "\n")
        case .nothingToExplain(let name):
            self.init(
                .noSuchSubject, "\(Quoted.of(name)) is no message, run, item or outbox entry",
                hint: "Name one as JOB#N, job:NAME or by an id of: belfry messages, belfry outbox")
        case .ownedByFile(let job, let place):
            self.init(
                .jobFromFile, "job \"\(job)\" comes from \(place)",
                hint: "Change it there, then: belfry reload")
        case .busy(let job, let runs):
            self.init(
                .overlap, "\"\(job)\" has a run that has not ended (\(runs.joined(separator: ", ")))",
                hint: "Run it anyway with --force.")
        case .ended(let run, let state): self.init(.runEnded, "\(run) has ended (\(state))")
        case .notEnded(let run):
            self.init(.runNotEnded, "\(run) has not ended", hint: "End it first: belfry run cancel \(run)")
        case .notRepeatable(let run):
            self.init(
                .notRepeatable,
                "\(run) was a command of belfry exec, whose environment and terminal are never stored",
                hint: "Run the command again where they are.")
        case .answered(let run, let bot):
            self.init(
                .notRepeatable, "\(run) answered what people said to \(bot)",
                hint: "Say it again: belfry send \(bot) TEXT")
        case .notAllowed(let entry, let state, let channel):
            self.init(
                .entrySettled, "the outbox entry \(entry) is \(state)",
                hint: channel.map { "It goes out when its channel works again: belfry channel test \($0)" })
        case .channelMissing(let entry, let channel):
            self.init(
                .entrySettled,
                "the outbox entry \(entry) waits for channel \"\(channel)\", which is not in the configuration",
                hint: "Add the channel again, or: belfry outbox retry --channel NEW --from \(channel)")
        case .severalMissing(let channels, let newChannel):
            self.init(
                .badValue,
                "entries wait for several channels that are not in the configuration: "
                    + channels.joined(separator: " "),
                hint: "Name one: belfry outbox retry --channel \(newChannel) "
                    + "--from \(channels.first ?? "OLD")")
        // A drawing: its carets must stand under a text that begins its line.
        case .badSchedule(let text):
            self.init(.badSchedule, "the schedule is refused")
            drawing = "the schedule is refused:\n\(text)"
        case .invalid(let text):
            // A sentence is one line, whatever it quotes.
            self.init(.badValue, text.split(whereSeparator: \.isNewline).joined(separator: " "))
        case .nameTaken(let name, let place?):
            self.init(
                .jobExists, "there is a job \(Quoted.of(name)) already, at \(place)",
                hint: "Change it there, then: belfry reload")
        case .nameTaken(let name, nil):
            self.init(
                .jobExists, "there is a job \(Quoted.of(name)) already",
                hint: "Change it: belfry job edit \(name)")
        case .botExists(let name, let place?):
            self.init(
                .botExists, "there is a bot \(Quoted.of(name)) already, at \(place)",
                hint: "Change it there, then: belfry reload")
        case .botExists(let name, nil):
            self.init(
                .botExists, "there is a bot \(Quoted.of(name)) already",
                hint: "Change it: belfry bot edit \(name)")
        case .botOfFile(let name, let place):
            self.init(
                .botFromFile, "bot \"\(name)\" comes from \(place)",
                hint: "Change it there, then: belfry reload")
        case .botInUse(let name, let jobs):
            self.init(
                .botInUse, "jobs belong to bot \"\(name)\": \(jobs.joined(separator: ", "))",
                hint:
                    "Give them another with belfry job edit JOB --bot NAME, or remove it anyway with --force; "
                    + "prompts of these jobs then fail.")
        case .channelExists(let name, true):
            self.init(
                .channelExists, "there is a channel \(Quoted.of(name)) already, in the configuration",
                hint: "Choose another name with --name.")
        case .channelExists(let name, false):
            self.init(
                .channelExists, "there is a channel \(Quoted.of(name)) already",
                hint: "Choose another name with --name, or remove it: belfry channel rm \(name)")
        case .channelOfFile(let name, let path):
            self.init(
                .channelFromFile,
                "channel \(Quoted.of(name)) \(path.map { "comes from \($0)" } ?? "is there by default")",
                hint: path == nil
                    ? "It ends with a configuration that describes channels."
                    : "Change it there, then: belfry reload")
        case .keyFile(let text): self.init(.internalFault, text)
        case .jobsName(let name):
            self.init(
                .jobExists, "\(Quoted.of(name)) is the name of a job", hint: "Choose another with --name.")
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
        default: self.init(.ledgerRefused, "\(error)")
        }
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
