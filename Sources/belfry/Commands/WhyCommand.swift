import API
import APIClient
import ArgumentParser
import TerminalView
import Tracking

struct WhyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Shows why something rang, or why it did not.",
        discussion: """
            Lists each decision: when it was made, about what, for which channel, and by
            which rule. With --not only what was kept back: held, not sent, or named by no
            route.

              belfry why backup#12
              belfry why job:backup --not
              belfry why 019a2f6c-5f40-7c3e-9d2b-0c6f2f1b7a11
            """)

    @OptionGroup var common: CommonOptions
    @Argument(
        help: ArgumentHelp(
            "JOB#N, the id of a run, message or outbox entry, or an item's key (job:NAME, thread:BOT/NAME).",
            valueName: "id"))
    var id: String
    @Flag(help: "Only what was kept back.")
    var not = false
    @Option(help: ArgumentHelp("At most this many events.", valueName: "n"))
    var limit = 100

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit is a number from 1 up") }
    }

    func run() throws {
        var query = WhyQuery()
        query.id = id
        query.not = not
        query.limit = limit
        let verdicts = try common.client().ask(Endpoints.why(query: query))
        try common.screen.list(verdicts, asJSON: common.json) { screen in
            var table = TextTable(["WHEN", "WHAT", "CHANNEL", "DECISION"])
            for verdict in verdicts {
                table.add([
                    "\(screen.time(verdict.at))", "\(VerdictWords.subject(of: verdict))",
                    "\(verdict.channel ?? "-")", "\(VerdictWords.decision(of: verdict, screen))",
                ])
            }
            screen.print(
                table, empty: not ? "Nothing was kept back." : "No decision is recorded, or not any more.")
        }
    }
}

// A table: decisions and reasons as people say them.

/// A verdict in plain words.
enum VerdictWords {
    /// What it is about: `backup#12 failed`, `thread ops/main`.
    static func subject(of verdict: WireVerdict) -> String {
        let type = verdict.type ?? "event \(verdict.event)"
        if let run = verdict.run { return "\(run) \(event[type] ?? type)" }
        if let item = verdict.item, item.hasPrefix("thread:") { return "thread \(item.dropFirst(7))" }
        if let item = verdict.item, item.hasPrefix("job:") {
            return "\(item.dropFirst(4)) \(event[type] ?? type)"
        }
        return event[type] ?? type
    }

    /// What was decided, and why: `sent: the job failed`.
    static func decision(of verdict: WireVerdict, _ screen: Screen) -> String {
        let why = reason[verdict.reason] ?? RunReason(rawValue: verdict.reason)?.words ?? verdict.reason
        switch verdict.action {
        case "hold": return "held until \(screen.time(verdict.until)): \(why)"
        case "suppress": return "not sent: \(why)"
        default: break
        }
        let isSilent = silent.contains(verdict.reason)
        let form = verdict.stage == "grouping" ? "joined to what waits" : isSilent ? "sent silently" : "sent"
        return "\(form): \(why)"
    }

    private static let event = [
        "run.started": "started", "run.blocked": "waits for you", "run.completed": "completed",
        "run.failed": "failed", "run.recovered": "recovered", "run.canceled": "was cancelled",
        "run.missed": "missed slots", "run.skipped": "skipped", "run.lost": "was lost",
        "message.posted": "a message", "channel.failing": "a channel fails",
        "channel.disabled": "a channel was given up", "channel.restored": "a channel works again",
        "config.reloaded": "the configuration was reloaded", "config.partial": "a channel was left out",
        "job.leftOut": "was left out", "ledger.full": "the disk is full",
        "ledger.restored": "the disk has room again", "clock.back": "the clock went back",
        "test": "a test",
    ]

    /// Reasons for which nobody is called.
    private static let silent: Set = [
        "tooSoon", "lowUrgency", "sameFailure", "progressed", "dismissed", "resolved",
    ]

    private static let reason = [
        "first": "the first unread message", "newMessages": "new messages",
        "urgencyRose": "it is more urgent than before", "repeatElapsed": "the failure persists",
        "failed": "the job failed", "failedDifferently": "the job failed in another way",
        "recovered": "the job recovered", "finished": "the run ended", "blocked": "the run waits for you",
        "missed": "slots were missed", "tooSoon": "it rang a moment ago", "lowUrgency": "the urgency is low",
        "sameFailure": "the same failure as before", "progressed": "progress",
        "dismissed": "you dismissed it", "resolved": "nothing is left to show",
        "noRoute": "no route names it", "notWished": "belfry exec --notify excludes it",
        "read": "it was read before it was shown", "quietHours": "quiet hours", "asked": "on request",
        "started": "the run started", "completed": "the run completed",
    ]
}
