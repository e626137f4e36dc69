import API
import ArgumentParser

/// The flags of `job add` and `job edit`.
struct JobFields: ParsableArguments {
    @Option(help: ArgumentHelp("Run by this cron expression.", valueName: "expr"))
    var cron: String?

    @Option(help: ArgumentHelp("Read the expression in this zone, such as Europe/Berlin.", valueName: "zone"))
    var zone: String?

    @Option(help: ArgumentHelp("The bot it belongs to.", valueName: "bot"), completion: Completions.bots)
    var bot: String?

    @Option(help: ArgumentHelp("Run this text by /bin/sh -c.", valueName: "text"))
    var shell: String?

    @Option(help: ArgumentHelp("What a slot does while the last run goes on: skip.", valueName: "policy"))
    var overlap: String?

    @Option(
        help: ArgumentHelp(
            "What becomes of slots nobody could decide in time: none or latest.", valueName: "mode"))
    var catchUp: String?

    @Option(help: ArgumentHelp("Catch up what is younger than this, such as 12h.", valueName: "duration"))
    var within: DurationArgument?

    @Option(help: ArgumentHelp("End a run that takes longer than this; 0s: never.", valueName: "duration"))
    var timeout: DurationArgument?

    @Option(help: ArgumentHelp("How often a run is tried: 1.", valueName: "n"))
    var attempts: Int?

    @Argument(parsing: .postTerminator, help: "The program and its arguments, after --.")
    var command: [String] = []

    func validate() throws {
        if shell != nil && !command.isEmpty {
            throw ValidationError("--shell and a command after -- exclude each other")
        }
    }

    /// What the flags say, as a draft; the rest is for the daemon to fill in.
    func draft() throws(APIError) -> JobDraft {
        if let overlap, ["queue-one", "queue-all", "replace", "allow"].contains(overlap) {
            throw LaterVersion.refusal(of: "--overlap", overlap)
        }
        if catchUp == "all" { throw LaterVersion.refusal(of: "--catch-up", "all") }
        if let attempts, attempts > 1 { throw LaterVersion.refusal(of: "--attempts", "\(attempts)") }
        var draft = JobDraft()
        draft.bot = bot
        draft.shell = shell
        draft.command = command.isEmpty ? nil : command
        draft.overlap = overlap
        draft.catchUp = catchUp
        draft.withinMs = within?.milliseconds
        draft.timeoutMs = timeout?.milliseconds
        draft.attempts = attempts
        if let cron { draft.schedule = WireSchedule(kind: "cron", text: cron, zone: zone) }
        return draft
    }
}
