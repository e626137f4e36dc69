import Tracking

/// How a bar wants its line; each is one line, whatever others wrote into names and messages.
package enum BarFormat: String, Hashable, Sendable, CaseIterable {
    /// Waybar's `return-type: json`.
    case waybar
    /// A block of i3blocks (`interval=persist`, `format=json`), or of a script around i3status.
    case i3
    /// The whole protocol of i3bar and swaybar, for `status_command`.
    case i3bar
    /// Polybar's `custom/script` with `tail = true`.
    case polybar
    /// tmux's `#(...)`.
    case tmux
    /// Xfce's generic monitor.
    case genmon
    /// One JSON object for widgets of one's own.
    case json

    /// What stands before the first line of a stream; nil: nothing.
    package var header: String? { self == .i3bar ? #"{"version":1,"click_events":true}"# + "\n[" : nil }

    /// The line for `content`, without a line end.
    ///
    /// - Source: waybar-custom(5); i3bar's protocol; polybar's formatting tags; tmux(1), styles; the manual of
    ///   xfce4-genmon-plugin.
    package func line(_ content: BarContent) -> String {
        switch self {
        case .waybar: Self.text(Waybar(content))
        case .i3: Self.text(Block(content))
        case .i3bar: Self.text(Block.all(content)) + ","
        case .polybar: Self.polybar(content)
        case .tmux: Self.tmux(content)
        case .genmon: Self.genmon(content)
        case .json: Self.text(Widget(content))
        }
    }

    private static func text(_ value: some Encodable) -> String {
        // Strings and whole numbers are always JSON.
        (try? JSON.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private static func polybar(_ content: BarContent) -> String {
        guard content.bots.isEmpty else {
            return content.bots.map { part in
                // A colon would end the command.
                let command = opening([part.bot]).replacing(":", with: "\\:")
                return "%{A1:\(command):}\(polybar(part.text, part.look))%{A}"
            }.joined(separator: "  ")
        }
        return polybar(content.text, content.look)
    }

    private static func polybar(_ text: String, _ look: BarContent.Look) -> String {
        // `%{` begins a tag, which may run a command at a click, and nothing escapes it, not even a second percent sign;
        // other percent signs are shown as they are.
        let text = text.replacing("%{", with: "% {")
        guard !text.isEmpty, let color = color(look) else { return text }
        return "%{F\(color)}\(text)%{F-}"
    }

    /// The command that a click runs: a chat with the first of the bots that has something to say, or the view of runs.
    private static func opening(_ bots: [String]) -> String {
        // Bot names hold letters, digits, dots, dashes and underscores; anything else is not a bot's name.
        let names = bots.filter {
            $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"'\"\\$`&|;<>(){}*?#~%".utf8.contains($0) }
        }
        return "belfry widget --open" + (names.isEmpty ? "" : " --bots \(names.joined(separator: ","))")
    }

    private static func tmux(_ content: BarContent) -> String {
        let text = content.text.replacing("#", with: "##")
        guard !text.isEmpty, let color = color(content.look) else { return text }
        return "#[fg=\(color)]\(text)#[default]"
    }

    private static func genmon(_ content: BarContent) -> String {
        let bar = content.percent.map { "<bar>\($0)</bar>" } ?? ""
        let tool = content.tooltip.map(markup).joined(separator: "&#10;")
        let click = markup(opening(content.bots.map(\.bot)))
        return "<txt>\(markup(content.text))</txt><txtclick>\(click)</txtclick>\(bar)<tool>\(tool)</tool>"
    }

    /// What wants a look has a colour; the rest the bar's own.
    fileprivate static func color(_ look: BarContent.Look) -> String? {
        switch look {
        case .blocked, .stalled: "#e5c07b"
        case .failed: "#e06c75"
        case .done: "#98c379"
        case .unread: "#61afef"
        case .stale, .offline: "#7f848e"
        case .idle, .queued, .running: nil
        }
    }

    /// Text without markup of Pango.
    fileprivate static func markup(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

private struct Waybar: Encodable {
    var text: String
    var alt: String
    var tooltip: String
    var `class`: [String]
    var percentage: Int?

    init(_ content: BarContent) {
        text = BarFormat.markup(content.text)
        alt = content.look.rawValue
        tooltip = content.tooltip.map(BarFormat.markup).joined(separator: "\r")
        `class` = [content.look.rawValue]
        percentage = content.percent
    }
}

private struct Block: Encodable {
    var full_text: String
    var short_text: String
    var color: String?
    var urgent: Bool
    var name = "belfry"
    /// The bot that a click is about.
    var instance: String?

    init(_ content: BarContent) {
        (full_text, short_text, urgent) = (content.text, content.shortText, content.isUrgent)
        color = BarFormat.color(content.look)
        if content.bots.count == 1 { instance = content.bots[0].bot }
    }

    private init(_ part: BarPart) {
        (full_text, short_text, urgent) = (part.text, part.text, part.look == .blocked)
        color = BarFormat.color(part.look)
        instance = part.bot
    }

    /// A block for each bot, or one for all runs.
    static func all(_ content: BarContent) -> [Block] {
        content.bots.isEmpty ? [Block(content)] : content.bots.map(Block.init)
    }
}

private struct Widget: Encodable {
    var text: String
    var shortText: String
    var state: String
    var percent: Int?
    var urgent: Bool
    var tooltip: [String]

    init(_ content: BarContent) {
        (text, shortText, percent) = (content.text, content.shortText, content.percent)
        (state, urgent, tooltip) = (content.look.rawValue, content.isUrgent, content.tooltip)
    }
}
