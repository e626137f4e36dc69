import API
import TerminalView

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

    /// Two lines for each problem: what is wrong, after `!`, or `-` for a warning; and a hint.
    static func problems(_ problems: [WireProblem], _ screen: Screen) -> [String] {
        problems.flatMap { problem in
            let mark = problem.isWarning ? screen.paint("- ", .dim) : screen.paint("! ", .yellow)
            let what = mark + PlainText.oneLine(problem.message)
            guard let hint = problem.hint else { return [what] }
            return [what, screen.paint("  " + PlainText.oneLine(hint), .dim)]
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
