import API
import TerminalView
import Timeline

/// The note beside an outbox entry: why it waits and until when, or what went wrong.
enum OutboxNote {
    /// `again in 4m, its channel fails (http://10.0.0.7 answered 500)`; empty when there is nothing to say.
    static func text(_ entry: WireOutboxEntry, _ now: Moment) -> String {
        // What went wrong on the way there is no news of what arrived.
        if entry.state == "delivered" { return "" }
        let again = entry.nextAt.flatMap {
            $0.moment > now ? "again in \(DisplayDuration.text($0.moment - now))" : nil
        }
        switch entry.waitsFor {
        case "channelFailing":
            return [again ?? "again soon", because("its channel fails", entry.channelError)]
                .joined(separator: ", ")
        case "channelDisabled":
            return because(
                "its channel was given up; try it: belfry channel test \(entry.channel)", entry.channelError)
        case "channelMissing": return "its channel is not in the configuration"
        case "channelLeftOut": return because("its channel was left out at the start", entry.channelError)
        case "rule":
            guard let until = entry.nextAt?.moment, until > now else { return "held by a rule" }
            return "held by a rule for \(DisplayDuration.text(until - now))"
        case "earlier": return "waits for an earlier one of the same item or run"
        default: return [again, entry.lastError].compactMap { $0 }.joined(separator: ", ")
        }
    }

    private static func because(_ what: String, _ error: String?) -> String {
        error.map { "\(what) (\($0))" } ?? what
    }
}
