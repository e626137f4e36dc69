import API
import TerminalView
import Timeline

/// Texts that `status`, `doctor` and `channel list` share.
enum StatusText {
    /// `hook, webhook: failing since 02:10:00 (status 500)`.
    static func channel(_ channel: WireChannel, _ screen: Screen) -> String {
        var text =
            "\(channel.name), \(channel.kind): \(screen.paint(channel.state, color(ofChannel: channel.state)))"
        if channel.state != "working", let since = channel.since { text += " since \(screen.time(since))" }
        if let error = channel.lastError { text += " (\(PlainText.preview(error)))" }
        return text
    }

    /// Prints each problem: what is wrong, after `!`, or `-` for a warning; and below it a hint.
    static func print(_ problems: [WireProblem], on screen: Screen) {
        for problem in problems {
            let mark = problem.isWarning ? screen.paint("- ", .dim) : screen.paint("! ", .yellow)
            screen.print(mark + PlainText.oneLine(problem.message), hang: 2)
            guard let hint = problem.hint else { continue }
            screen.print(screen.paint("  " + PlainText.oneLine(hint), .dim), hang: 2)
        }
    }

    static func color(ofChannel state: String) -> TerminalColor {
        switch state {
        case "working", "untried": .green
        case "away": .dim
        case "failing": .yellow
        default: .red
        }
    }

    static func color(ofEntry state: String) -> TerminalColor {
        switch state {
        case "delivered": .green
        case "pending", "waiting", "sending", "held": .yellow
        case "dead", "expired": .red
        default: .dim
        }
    }
}

/// The note beside an outbox entry: why it waits and until when, or what went wrong.
enum OutboxNote {
    /// `again in 4m, its channel fails (http://10.0.0.7 answered 500)`; empty when there is nothing to say.
    static func text(_ entry: WireOutboxEntry, _ now: Moment) -> String {
        // What went wrong on the way there is no news of what arrived.
        if entry.state == "delivered" { return entry.detail ?? "" }
        let wait = entry.waitsFor ?? ""
        return text(
            wait, of: entry.channel, nextAt: entry.nextAt,
            error: wait.hasPrefix("channel") ? entry.channelError : entry.lastError, now)
    }

    /// The same of what a verdict let through; empty while it is under way.
    static func text(_ delivery: WireDelivery, on channel: String, _ now: Moment) -> String {
        text(delivery.waitsFor ?? "", of: channel, nextAt: delivery.nextAt, error: delivery.error, now)
    }

    private static func text(
        _ waitsFor: String, of channel: String, nextAt: Timestamp?, error: String?, _ now: Moment
    ) -> String {
        let again = nextAt.flatMap {
            $0.moment > now ? "again in \(DisplayDuration.text($0.moment - now))" : nil
        }
        switch waitsFor {
        case "away": return error ?? "nobody is there to show it"
        case "channelFailing":
            return [again ?? "again soon", because("its channel fails", error)].joined(separator: ", ")
        case "channelDisabled":
            return because("its channel was given up; try it: belfry channel test \(channel)", error)
        case "channelMissing": return "its channel is not in the configuration"
        case "channelLeftOut": return because("its channel was left out at the start", error)
        case "rule":
            guard let until = nextAt?.moment, until > now else { return "held by a rule" }
            return "held by a rule for \(DisplayDuration.text(until - now))"
        case "earlier": return "waits for an earlier one of the same item or run"
        default: return [again, error].compactMap { $0 }.joined(separator: ", ")
        }
    }

    private static func because(_ what: String, _ error: String?) -> String {
        error.map { "\(what) (\($0))" } ?? what
    }
}
