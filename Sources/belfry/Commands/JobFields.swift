import API
import ArgumentParser

/// The flags of `job add` and `job edit`.
struct JobFields: ParsableArguments {
    @OptionGroup var when: ScheduleFields
    @OptionGroup var lateness: LatenessFields

    @Option(
        help: ArgumentHelp("The bot that the job belongs to.", valueName: "bot"), completion: Completions.bots
    )
    var bot: String?

    @Option(help: ArgumentHelp("Run this text with /bin/sh -c.", valueName: "text"))
    var shell: String?

    @Option(
        help: ArgumentHelp(
            "What to do when the previous run is still active: skip, queue-one, queue-all, replace or allow.",
            valueName: "policy"),
        completion: .list(["skip", "queue-one", "queue-all", "replace", "allow"]))
    var overlap: String?

    @Option(
        help: ArgumentHelp("End a run that takes longer than this (0s: never).", valueName: "duration"),
        transform: DurationArgument.read)
    var timeout: DurationArgument?

    @Option(help: ArgumentHelp("How many times a run is tried, including the first.", valueName: "n"))
    var attempts: Int?

    @Option(
        help: ArgumentHelp(
            "The longest wait before the second attempt, such as 30s; it doubles for each later one.",
            valueName: "duration"),
        transform: DurationArgument.read)
    var backoff: DurationArgument?

    @Flag(
        inversion: .prefixedNo,
        help: "Also retry a run whose outcome is unknown, as after a crash of the machine.")
    var retryLost: Bool?

    @Option(
        help: ArgumentHelp(
            "What to do with processes that an earlier attempt left running: end or fail.",
            valueName: "policy"),
        completion: .list(["end", "fail"]))
    var leftovers: String?

    @Option(
        help: ArgumentHelp("Wait this long for such processes first (default: 30s).", valueName: "duration"),
        transform: DurationArgument.read)
    var leftoversWait: DurationArgument?

    @Option(
        help: ArgumentHelp("Priority among waiting runs, -100 to 100; higher first.", valueName: "n"))
    var priority: Int?

    @Option(
        help: ArgumentHelp(
            "Run at most max (default: 1) jobs with this key at a time; \"\" removes the key.",
            valueName: "key[=max]"))
    var concurrency: String?

    @Argument(parsing: .postTerminator, help: "The program and its arguments, after --.")
    var command: [String] = []

    func validate() throws {
        if shell != nil && !command.isEmpty {
            throw ValidationError("--shell and a command after -- exclude each other")
        }
    }

    /// What the flags say, as a draft; the rest is for the daemon to fill in.
    func draft() throws(APIError) -> JobDraft {
        var draft = JobDraft()
        draft.bot = bot
        draft.shell = shell
        draft.command = command.isEmpty ? nil : command
        draft.overlap = overlap
        lateness.apply(to: &draft)
        draft.timeoutMs = timeout?.milliseconds
        draft.attempts = attempts
        draft.backoffMs = backoff?.milliseconds
        draft.onLost = retryLost
        if leftovers != nil || leftoversWait != nil {
            draft.leftovers = WireLeftovers(waitMs: leftoversWait?.milliseconds, then: leftovers)
        }
        draft.priority = priority
        draft.concurrency = try concurrency.map(Self.concurrency)
        draft.schedule = try when.schedule()
        return draft
    }

    /// Reads `KEY` or `KEY=MAX`.
    private static func concurrency(_ text: String) throws(APIError) -> WireConcurrency {
        guard let sign = text.lastIndex(of: "=") else { return WireConcurrency(key: text, max: 1) }
        guard let max = Int(text[text.index(after: sign)...]), max > 0 else {
            throw APIError(.badValue, "--concurrency \(text): what follows the = is not a number from 1 up")
        }
        return WireConcurrency(key: String(text[..<sign]), max: max)
    }
}
