import API
import APIClient
import ArgumentParser
import Delivery
import Grouping
import Tracking

struct WhyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Shows why a notification was sent or not.",
        discussion: """
            Lists each decision: when it was made, about what, for which channel, by which
            rule, and the result: sent, or what it is still waiting for. With --not only
            what was held back: held, not sent, or named by no route.

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
    @Option(
        name: [.long, .customShort("n")], help: ArgumentHelp("At most this many events.", valueName: "n"))
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

    /// What was decided, and why, and what came of it: `sent: the job failed`,
    /// `routed to desk; waits: no desktop here (the job failed)`.
    static func decision(of verdict: WireVerdict, _ screen: Screen) -> String {
        let why = reason(of: verdict)
        if verdict.action == "suppress" {
            let end = verdict.until.map { " until \(screen.time($0))" } ?? ""
            return "not sent: \(why)\(end)"
        }
        let isHeld = verdict.delivery.map { $0.state == "waits" && $0.waitsFor == "rule" } ?? true
        if verdict.action == "hold", isHeld { return "held until \(screen.time(verdict.until)): \(why)" }
        guard let delivery = verdict.delivery else { return "routed to \(verdict.channel ?? "-"): \(why)" }
        let error = delivery.error.map { ": \(PlainText.preview($0))" } ?? ""
        switch delivery.state {
        case "waits": return "\(waiting(delivery, verdict, screen)) (\(why))"
        case "replaced": return "replaced by a later version: \(why)"
        case "withdrawn": return "taken back before it was shown: \(why)"
        case "dead": return "not delivered\(error) (\(why))"
        case "expired": return "not delivered in time\(error) (\(why))"
        case "discarded": return "discarded by hand: \(why)"
        default: break
        }
        if verdict.action == "hold" { return "sent after \(screen.time(verdict.until)): \(why)" }
        let isSilent = (RingReason(rawValue: verdict.reason)?.rings ?? true) == false || keepsQuiet(verdict)
        let form =
            verdict.stage == "grouping" ? "sent with earlier ones" : isSilent ? "sent silently" : "sent"
        return "\(form): \(why)"
    }

    /// `routed to hook; waits: again in 4m, its channel fails (status 500)`; `routed to hook; under way`.
    private static func waiting(
        _ delivery: WireDelivery, _ verdict: WireVerdict, _ screen: Screen
    ) -> String {
        let note = OutboxNote.text(delivery, on: verdict.channel ?? "-", screen.now)
        return "routed to \(verdict.channel ?? "-"); " + (note.isEmpty ? "under way" : "waits: \(note)")
    }

    /// Whether a rule let it through without a ring.
    private static func keepsQuiet(_ verdict: WireVerdict) -> Bool {
        verdict.action == "send" && verdict.reason != DispatchReason.digest.rawValue
            && DispatchReason(rawValue: verdict.reason) != nil
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
            ?? DaemonReason(rawValue: text)?.words ?? LateReason(rawValue: text)?.words
        if let known { return known + (verdict.rule.map { " (\($0))" } ?? "") }
        if let type, type.rawValue.hasPrefix("run.") { return type.sentence }
        return RunReason(rawValue: text)?.words ?? delivery ?? type?.sentence ?? text
    }
}
