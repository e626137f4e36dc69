import API
import APIClient
import ArgumentParser
import Delivery
import Grouping
import TerminalView
import Tracking

struct WhyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Shows why a notification was sent or not.",
        discussion: """
            Lists each decision: when it was made, about what, for which channel, and by
            which rule. With --not only what was held back: held, not sent, or named by no
            route.

              belfry why backup
              belfry why backup#12
              belfry why job:backup --not
              belfry why 2f1b7a11
            """)

    @Argument(
        help: ArgumentHelp(
            "JOB#N, JOB for its newest run, the id of a run, message or outbox entry (four digits of it are enough), or an item's key (job:NAME, thread:BOT/NAME).",
            valueName: "id"))
    var id: String
    @Flag(help: "Only what was held back.")
    var not = false
    @Option(help: ArgumentHelp("At most this many events.", valueName: "n"))
    var limit = 100
    @OptionGroup var common: CommonOptions

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
                table, empty: not ? "Nothing was held back." : "No decision is recorded; old ones are pruned."
            )
        }
    }
}

/// A verdict in plain words.
enum VerdictWords {
    /// What it is about: `backup#12 failed`, `thread ops/main`.
    static func subject(of verdict: WireVerdict) -> String {
        let event = type(of: verdict)?.words ?? verdict.type ?? "event \(verdict.event)"
        if let run = verdict.run { return "\(run) \(event)" }
        if let item = verdict.item, item.hasPrefix("thread:") { return "thread \(item.dropFirst(7))" }
        if let item = verdict.item, item.hasPrefix("job:") { return "\(item.dropFirst(4)) \(event)" }
        return event
    }

    /// What was decided, and why: `sent: the job failed`.
    static func decision(of verdict: WireVerdict, _ screen: Screen) -> String {
        let why = reason(of: verdict)
        switch verdict.action {
        case "hold": return "held until \(screen.time(verdict.until)): \(why)"
        case "suppress": return "not sent: \(why)"
        default: break
        }
        let isSilent = RingReason(rawValue: verdict.reason)?.rings == false
        let form = verdict.stage == "grouping" ? "joined to what waits" : isSilent ? "sent silently" : "sent"
        return "\(form): \(why)"
    }

    private static func type(of verdict: WireVerdict) -> EventType? {
        verdict.type.flatMap(EventType.init)
    }

    /// Why: the reason of the stage, of the item or of the daemon, or else the event that was sent.
    ///
    /// An event of a run is its own reason on each channel, however the run ended.
    private static func reason(of verdict: WireVerdict) -> String {
        let type = type(of: verdict)
        let text = verdict.reason
        let delivery = DeliveryReason(rawValue: text)?.words
        if let type, [.channelFailing, .channelDisabled, .channelRestored].contains(type), let delivery {
            return delivery
        }
        let known =
            DispatchReason(rawValue: text)?.words ?? RingReason(rawValue: text)?.words
            ?? DaemonReason(rawValue: text)?.words
        if let known { return known }
        if let type, type.rawValue.hasPrefix("run.") { return type.sentence }
        return RunReason(rawValue: text)?.words ?? delivery ?? type?.sentence ?? text
    }
}
