import API
import ArgumentParser
import Timeline

/// The flags of `job add` and `job edit` that say when it runs.
struct ScheduleFields: ParsableArguments {
    @Option(help: ArgumentHelp("Run at the times of this cron expression.", valueName: "expr"))
    var cron: String?

    @Option(
        help: ArgumentHelp(
            "The time zone of the expression, time or words, such as Europe/Berlin.", valueName: "zone"))
    var zone: String?

    @Option(
        help: ArgumentHelp("Run at a fixed interval, starting now (for example 15m).", valueName: "duration"),
        transform: DurationArgument.read)
    var every: DurationArgument?

    @Option(
        help: ArgumentHelp("When the first interval of --every starts, instead of now.", valueName: "iso"))
    var from: String?

    @Option(
        help: ArgumentHelp("Run this long after the previous run ended.", valueName: "duration"),
        transform: DurationArgument.read)
    var after: DurationArgument?

    @Option(help: ArgumentHelp("Run once, at this time.", valueName: "iso"))
    var at: String?

    @Option(
        help: ArgumentHelp(
            "Run at the times of a phrase such as \"every weekday at 9:30\".", valueName: "phrase"))
    var words: String?

    @Flag(help: "Run once after each boot of the machine.")
    var startup = false

    func validate() throws {
        let named = [
            ("--cron", cron != nil), ("--every", every != nil), ("--after", after != nil),
            ("--at", at != nil),
            ("--words", words != nil), ("--startup", startup),
        ].filter(\.1).map(\.0)
        if named.count > 1 {
            throw ValidationError("\(named.joined(separator: " and ")) exclude each other")
        }
        if from != nil, every == nil { throw ValidationError("--from needs --every") }
        if zone != nil, ["--every", "--after", "--startup"].contains(named.first) {
            throw ValidationError("--zone has no meaning beside \(named[0])")
        }
    }

    /// The schedule the flags say; nil: none does.
    func schedule() throws(APIError) -> WireSchedule? {
        if let cron { return WireSchedule(kind: "cron", text: cron, zone: zone) }
        if let every {
            var schedule = WireSchedule(kind: "every", text: every.duration.text)
            if let from { schedule.from = Timestamp(try Self.moment(from)) }
            return schedule
        }
        if let after { return WireSchedule(kind: "after", text: after.duration.text) }
        if let at { return WireSchedule(kind: "at", text: at, zone: zone) }
        if let words { return WireSchedule(kind: "words", text: words, zone: zone) }
        return startup ? WireSchedule(kind: "startup", text: "") : nil
    }

    private static func moment(_ text: String) throws(APIError) -> Moment {
        do {
            return try Moment(iso8601: text, in: Zones.local)
        } catch {
            throw APIError(
                .badValue, "--from: \(error.message)", hint: "Write a time such as 2026-03-29T03:00+02:00.")
        }
    }
}

/// The flags of `job add` and `job edit` about slots that are late, or are to be.
struct LatenessFields: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Which slots missed while the daemon was down run later: none, latest or all.", valueName: "mode"),
        completion: .list(["none", "latest", "all"]))
    var catchUp: String?

    @Option(
        help: ArgumentHelp("Catch up on slots no older than this, such as 12h.", valueName: "duration"),
        transform: DurationArgument.read)
    var within: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Catch up on at most this many slots with --catch-up all (default: 1000).", valueName: "n"))
    var burst: Int?

    @Option(
        help: ArgumentHelp(
            "Delay the start by up to this long, always the same for one job (0s: no delay).",
            valueName: "duration"),
        transform: DurationArgument.read)
    var spread: DurationArgument?

    /// Says it in a draft.
    func apply(to draft: inout JobDraft) {
        draft.catchUp = catchUp
        draft.withinMs = within?.milliseconds
        draft.burst = burst
        draft.spreadMs = spread?.milliseconds
    }
}
