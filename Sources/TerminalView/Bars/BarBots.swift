import Tracking

/// A bot as a status bar shows it: whether it can be asked, how much was not read, and what it said last.
package struct BarBot: Hashable, Sendable {
    /// Its name.
    package var name: String
    /// `online`, `working`, `blocked` or `offline`; absent: nothing is known, as of a bot that is only a name.
    package var status: String?
    /// How many messages were not read.
    package var unread: Int
    /// What was said last.
    package var lastMessage: String?

    /// A bot.
    package init(name: String, status: String?, unread: Int, lastMessage: String?) {
        (self.name, self.status, self.unread, self.lastMessage) = (name, status, unread, lastMessage)
    }

    /// One cell: full where it can be asked, hollow where not.
    fileprivate func mark(hasGlyphs: Bool) -> String {
        switch status {
        case "working": hasGlyphs ? "◐" : ">"
        case "blocked": hasGlyphs ? "◆" : "?"
        case "offline": hasGlyphs ? "○" : "x"
        default: hasGlyphs ? "●" : "o"
        }
    }

    /// `ops (working), 2 unread: Disk is full`.
    fileprivate var line: String {
        let state = status.map { " (\($0))" } ?? ""
        let count = unread > 0 ? ", \(unread) unread" : ""
        let said = lastMessage.map { ": \(CleanText.line($0, limit: 100))" } ?? ""
        return CleanText.line(name, limit: 64) + state + count + said
    }
}

extension BarContent {
    /// The content of the bots, in the order they are given.
    package init(bots: [BarBot], hasGlyphs: Bool = true) {
        let look: Look =
            if bots.contains(where: { $0.status == "blocked" }) {
                .blocked
            } else if bots.contains(where: { $0.unread > 0 }) {
                .unread
            } else if !bots.isEmpty, bots.allSatisfy({ $0.status == "offline" }) {
                .offline
            } else {
                bots.contains { $0.status == "working" } ? .running : .idle
            }
        let parts = bots.map { bot in
            let name = ColumnFit.cut(CleanText.line(bot.name, limit: 64), to: 12, mark: hasGlyphs ? "…" : "")
            return "\(bot.mark(hasGlyphs: hasGlyphs)) \(name)\(bot.unread > 0 ? " \(bot.unread)" : "")"
        }
        self.init(look, text: parts.joined(separator: "  "), tooltip: bots.map(\.line))
        let unread = bots.reduce(0) { $0 + $1.unread }
        shortText = (bots.first?.mark(hasGlyphs: hasGlyphs) ?? "") + (unread > 0 ? " \(unread)" : "")
    }
}
