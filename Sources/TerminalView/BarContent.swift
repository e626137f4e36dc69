package import Timeline
package import Tracking

/// What a status bar shows, before it is written as one bar reads it.
///
/// Made of the runs that are active or ended a moment ago: the most urgent one stands for all, with the number of the
/// others behind it. A bar has little room: the text takes at most ``textCells`` cells.
package struct BarContent: Hashable, Sendable {
    /// What the bar's style sheet may distinguish; the raw values are stable.
    package enum Look: String, Hashable, Sendable, CaseIterable {
        /// No run is active.
        case idle
        /// Runs wait for their turn.
        case queued
        /// A run is at work.
        case running
        /// A run, or a question, waits for a person.
        case blocked
        /// A run has been silent for longer than usual.
        case stalled
        /// What a run reported is out of date.
        case stale
        /// A run ended well a moment ago.
        case done
        /// A run failed a moment ago.
        case failed
        /// A bot has unread messages.
        case unread
        /// No daemon, or no bot, can be reached.
        case offline
    }

    /// The text; empty: the bar need not show anything.
    package var text: String
    /// The shortest form of it: the percentage where one is known.
    package var shortText: String
    /// How it should look.
    package var look: Look
    /// The part done of the run that is shown, 0...100; absent until known.
    package var percent: Int?
    /// What a pointer over it shows, a line each; cleaned of control characters.
    package var tooltip: [String]
    /// The bots that the text shows, each with its part of it; empty: it shows runs.
    package var bots: [BarPart] = []
    /// Whether somebody should look at it now.
    package var isUrgent: Bool { look == .blocked || look == .failed }

    /// The most cells the text takes.
    package static let textCells = 16
    /// How long the end of a run is shown.
    package static let endShown = Duration.seconds(30)
    /// The most lines of a tooltip.
    private static let tooltipLines = 12

    /// Content with nothing to show but its look.
    package init(_ look: Look, text: String = "", tooltip: [String] = []) {
        (self.text, self.look, self.tooltip, shortText) = (text, look, tooltip, text)
    }

    /// The content of the runs.
    ///
    /// - Parameters:
    ///   - runs: those that are active, and those that ended; of the latter only what ended within ``endShown`` counts.
    ///   - next: what to show in the tooltip while none is active, such as the next slot.
    ///   - now: the moment it is shown.
    ///   - zone: where the reader is.
    ///   - hasGlyphs: whether the bar's font has symbols; ASCII marks else.
    package init(
        _ runs: [LiveState], next: String? = nil, at now: Moment, zone: ZoneRules, hasGlyphs: Bool = true
    ) {
        let shown = runs.filter { !$0.state.isEnded || now - $0.updatedAt < Self.endShown }
            .sorted { Self.urgency($0) < Self.urgency($1) }
        guard let first = shown.first else {
            self.init(.idle, tooltip: next.map { [CleanText.line($0, limit: 200)] } ?? [])
            return
        }
        self.init(Self.look(of: first, at: now))
        percent = first.progress.map { Int((min(max($0, 0), 1) * 100 + 1e-9).rounded(.down)) }
        if first.state.isEnded { percent = nil }
        let mark = StateMark(first.state)
        let lead = hasGlyphs ? mark.glyph : mark.ascii
        // Beside one at work, those that ended a moment ago are no others.
        let count = first.state.isEnded ? shown.count : shown.count { !$0.state.isEnded }
        let others = count > 1 ? " +\(count - 1)" : ""
        let figures = Self.figures(first, percent: percent, at: now)
        shortText =
            figures.first.map { "\(lead) \($0)" } ?? "\(lead) \(Self.name(first, cells: 8, hasGlyphs))"
        text = Self.fitted(lead, first, figures, others, hasGlyphs)
        tooltip = shown.prefix(Self.tooltipLines).map { Self.line($0, at: now, zone: zone) }
        if shown.count > tooltip.count { tooltip.append("+\(shown.count - tooltip.count) more") }
    }

    /// What is counted: the percentage, and how long it still needs; nothing of what ended.
    private static func figures(_ live: LiveState, percent: Int?, at now: Moment) -> [String] {
        guard !live.state.isEnded else { return [] }
        let left = live.secondsRemaining(at: now).map { Duration.seconds(rounded($0)).words }
        return [percent.map { "\($0)%" }, live.state == .running ? left : nil].compactMap(\.self)
    }

    /// The name, percentage and time left, as much as fits: the name goes first, then the time.
    private static func fitted(
        _ lead: String, _ live: LiveState, _ figures: [String], _ others: String, _ hasGlyphs: Bool
    ) -> String {
        for kept in stride(from: figures.count, through: 0, by: -1) {
            let parts = figures.prefix(kept).map { " \($0)" }.joined()
            let room = textCells - CellWidth.of(lead) - CellWidth.of(parts) - CellWidth.of(others)
            guard room >= 0 else { continue }
            // A name that is cut to a few letters names nothing; figures alone say more.
            let isWhole = CellWidth.of(CleanText.line(live.task.name, limit: 64)) < room
            let name = isWhole || room > 8 || figures.isEmpty ? name(live, cells: room - 1, hasGlyphs) : ""
            return lead + (name.isEmpty ? "" : " \(name)") + parts + others
        }
        return lead
    }

    private static func name(_ live: LiveState, cells: Int, _ hasGlyphs: Bool) -> String {
        let name = CleanText.line(live.task.name, limit: 64)
        return cells > 0 ? ColumnFit.cut(name, to: cells, mark: hasGlyphs ? "…" : "") : ""
    }

    /// `backup#12: 42%, copy: a.txt, about 3 min left`.
    private static func line(_ live: LiveState, at now: Moment, zone: ZoneRules) -> String {
        let percent = live.state.isEnded ? nil : live.progress.map(RunWording.percent)
        let time = FinishWording.text(for: live, at: now, zone: zone)
        let detail = RunWording.detail(of: live, at: now)
        let words = [percent, detail.isEmpty ? nil : detail, time].compactMap(\.self)
        let said = words.isEmpty ? live.state.words : words.joined(separator: ", ")
        return "\(CleanText.line(live.task.run, limit: 80)): \(said)"
    }

    private static func look(of live: LiveState, at now: Moment) -> Look {
        switch live.state {
        case .scheduled, .queued, .starting: .queued
        case .running: live.isStale(at: now) ? .stale : .running
        case .blocked: .blocked
        case .paused, .stalled: .stalled
        case .completed, .canceled, .skipped, .missed: .done
        case .failed, .timedOut, .lost: .failed
        }
    }

    /// What waits for a person first, then what failed, is silent, or will end soonest.
    private static func urgency(_ live: LiveState) -> (Int, Int64, String) {
        (live.state.viewRank, live.finish?.at.microseconds ?? .max, live.task.id)
    }

    /// Two significant steps, so that the text does not change every second: 5 s, then 15 s, minutes, 5 min.
    private static func rounded(_ seconds: Int64) -> Int64 {
        let step: Int64 =
            switch seconds {
            case ..<60: 5
            case ..<300: 15
            case ..<3600: 60
            default: 300
            }
        return max(step, (seconds + step / 2) / step * step)
    }
}

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

    /// How it should look; what is unread comes before what it does.
    fileprivate var look: BarContent.Look {
        if status == "blocked" { return .blocked }
        if unread > 0 { return .unread }
        return status == "offline" ? .offline : status == "working" ? .running : .idle
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

/// A bot's part of a bar; a click on it opens a chat.
package struct BarPart: Hashable, Sendable {
    /// The bot's name.
    package var bot: String
    /// Its mark, name and number of unread messages.
    package var text: String
    /// How it should look.
    package var look: BarContent.Look
}

/// A click on a block of i3bar, swaybar or i3blocks, as they write it.
///
/// - Source: i3bar's protocol, "Click events".
package struct BarClick: Hashable, Sendable {
    /// The bot that was clicked on; nil: the runs.
    package var bot: String?

    /// Reads a line; nil: it is no click with the first button.
    package init?(_ line: some StringProtocol) {
        let bytes = Array(line.utf8)
        // Elements of an endless array: each object has a comma before or after it.
        guard let start = bytes.firstIndex(of: UInt8(ascii: "{")),
            let end = bytes.lastIndex(of: UInt8(ascii: "}")), start < end,
            let json = JSON(parsing: bytes[start...end]), json["button"]?.double == 1
        else { return nil }
        bot = json["instance"]?.text.flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension BarContent {
    /// The content of the bots, in the order they are given.
    package init(bots: [BarBot], hasGlyphs: Bool = true) {
        let looks = bots.map(\.look)
        let look: Look =
            if looks.contains(.blocked) {
                .blocked
            } else if looks.contains(.unread) {
                .unread
            } else if !looks.isEmpty, looks.allSatisfy({ $0 == .offline }) {
                .offline
            } else {
                looks.contains(.running) ? .running : .idle
            }
        let parts = bots.map { bot in
            let name = ColumnFit.cut(CleanText.line(bot.name, limit: 64), to: 12, mark: hasGlyphs ? "…" : "")
            return "\(bot.mark(hasGlyphs: hasGlyphs)) \(name)\(bot.unread > 0 ? " \(bot.unread)" : "")"
        }
        self.init(look, text: parts.joined(separator: "  "), tooltip: bots.map(\.line))
        self.bots = zip(bots, parts).map { BarPart(bot: $0.name, text: $1, look: $0.look) }
        let unread = bots.reduce(0) { $0 + $1.unread }
        shortText = (bots.first?.mark(hasGlyphs: hasGlyphs) ?? "") + (unread > 0 ? " \(unread)" : "")
    }
}
