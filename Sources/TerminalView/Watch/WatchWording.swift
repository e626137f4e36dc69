import Timeline
import Tracking

/// The words of the view of all runs.
enum WatchWording {
    /// `◆ ops asks: Ship it? (yes/no), until 14:35`.
    static func line(
        _ question: WatchQuestion, at now: Moment, _ traits: TerminalTraits, columns: Int
    ) -> FrameLine {
        var line = FrameLine(traits)
        let mark = StateMark(.blocked)
        if traits.usesColor { line.color(mark.color) }
        line.add(traits.hasGlyphs ? mark.glyph : mark.ascii)
        if traits.usesColor { line.color(.normal) }
        line.space(1)
        let left = question.deadline.map { $0 > now ? ", \(($0 - now).words) left" : "" } ?? ""
        let tail = " (\(choices(question)))\(left)"
        let room = max(1, columns - 4)
        let head =
            "\(CleanText.line(question.bot, limit: 40)) asks: \(CleanText.line(question.text, limit: 300))"
        let used = line.add(head, limit: max(room / 2, room - CellWidth.of(tail)))
        line.add(tail, limit: max(1, room - used))
        return line
    }

    /// `yes/no`, `yes/no/any text`.
    static func choices(_ question: WatchQuestion) -> String {
        let words = question.choices + (question.takesText ? ["any text"] : [])
        return CleanText.line(words.joined(separator: "/"), limit: 100)
    }
}

/// Which keys there are.
enum WatchHelp {
    /// Where a key is pressed.
    enum Place {
        case list, log, help
    }

    /// The keys on one line.
    static func keys(_ place: Place, _ filter: String) -> String {
        switch place {
        case .list:
            "arrows select, Enter log, c cancel, r retry, p pause, / filter, a answer, ? help, q quit"
                + (filter.isEmpty ? "" : "  [\(filter)]")
        case .log: "arrows, PgUp, PgDn scroll, / search, n next, q back"
        case .help: "any key goes back"
        }
    }

    static let lines = [
        "Up, Down, j, k   select a question, a run, an ended run or a job",
        "Enter            show the log of the run; answer the question",
        "c                cancel the run (asks first)",
        "r                repeat the run that has ended; run the job now",
        "p                pause the run or the job, or resume it",
        "/                show only what matches; Escape shows all again",
        "a                answer the first question, or the selected one",
        "Ctrl-L           draw again",
        "q                quit; runs go on",
        "",
        "In a log, arrows, PgUp, PgDn, Home and End scroll,",
        "/ searches, n finds the next one above, q goes back.",
    ]
}
