package import Timeline
package import Tracking

extension WatchModel {
    /// What a key asks for.
    package enum Wish: Hashable, Sendable {
        /// Leave the view; runs go on.
        case quit
        /// Draw everything again.
        case redraw
        /// Cancel this run.
        case cancel(run: String)
        /// Repeat this finished run.
        case retry(run: String)
        /// Run this job now.
        case start(job: String)
        /// Pause this job, or resume it.
        case pause(job: String), resume(job: String)
        /// Stop the processes of this run, or have them continue.
        case pauseRun(String), resumeRun(String)
        /// Show the output of this run, or of the newest one of this job; see ``WatchModel/show(_:)``.
        case showLog(run: String)
        /// Answer this question.
        case answer(id: String, text: String)
    }

    /// What can be selected.
    package enum Target: Hashable, Sendable {
        case question(String)
        case run(String)
        case end(String)
        case job(String)
    }
}

/// A question that waits for a person, as a view shows it.
package struct WatchQuestion: Hashable, Sendable {
    /// Its id.
    package var id: String
    /// Who asks.
    package var bot: String
    /// What is asked.
    package var text: String
    /// The answers that it takes.
    package var choices: [String]
    /// Whether it takes any text.
    package var takesText: Bool
    /// When nobody needs to answer any more; absent: never.
    package var deadline: Moment?

    /// A question.
    package init(
        id: String, bot: String, text: String, choices: [String], takesText: Bool, deadline: Moment?
    ) {
        (self.id, self.bot, self.text, self.choices) = (id, bot, text, choices)
        (self.takesText, self.deadline) = (takesText, deadline)
    }

    /// The choice that `answer` names, by its beginning where that is enough, or the text; nil: it takes no such answer.
    package func reading(_ answer: String) -> String? {
        let text = CleanText.line(answer, limit: 1000)
        guard !text.isEmpty else { return nil }
        if let choice = choices.first(where: { $0.lowercased() == text.lowercased() }) { return choice }
        let begun = choices.filter { $0.lowercased().hasPrefix(text.lowercased()) }
        if begun.count == 1, !takesText { return begun[0] }
        return takesText ? text : nil
    }
}

/// A job with an upcoming slot, or a paused one, as a view shows it.
package struct WatchJob: Hashable, Sendable {
    /// Its name.
    package var name: String
    /// Its next slot; absent where there is none.
    package var nextAt: Moment?
    /// Whether it is paused.
    package var isPaused: Bool

    /// A job.
    package init(name: String, nextAt: Moment?, isPaused: Bool) {
        (self.name, self.nextAt, self.isPaused) = (name, nextAt, isPaused)
    }
}

/// A run that ended while the view was open.
package struct WatchEnd: Hashable, Sendable {
    /// Its last state.
    package var live: LiveState
    /// How it ended, better than its reason says it.
    package var detail: String?
    /// Its last lines, where it failed.
    package var evidence: [String]

    /// The end of a run.
    package init(_ live: LiveState, detail: String?, evidence: [String]) {
        (self.live, self.detail, self.evidence) = (live, detail, evidence)
    }

    /// The lines that stay of it: how it ended, with the time of day, and its last lines.
    ///
    /// - Parameters:
    ///   - zone: where the reader is.
    ///   - traits: the terminal.
    ///   - columns: how wide that is.
    ///   - limit: how many of its last lines are shown.
    /// - Returns: lines that do not reach the last column.
    package func lines(
        in zone: ZoneRules, _ traits: TerminalTraits, columns: Int, evidence limit: Int = .max
    ) -> [FrameLine] {
        let clock = DisplayTime.clock(live.updatedAt, in: zone)
        let head = FinishedLine.line(live, detail: detail, clock: clock, traits: traits, columns: columns)
        return [head]
            + evidence.suffix(limit).map { FinishedLine.evidence($0, traits: traits, columns: columns) }
    }
}

/// The output of a run, as a person reads it: scrolled, and searched.
package struct WatchLog: Hashable, Sendable {
    /// `JOB#N`.
    package let run: String
    private var lines: [String]
    /// How many lines are below the last one that is seen.
    private var below = 0
    /// What is searched for; empty: nothing.
    package private(set) var term = ""

    /// The output of a run, in lines that are cleaned when they are shown.
    package init(run: String, lines: [String]) {
        (self.run, self.lines) = (run, lines)
    }

    /// Takes what was printed since; who has scrolled up keeps seeing the same lines.
    package mutating func append(_ more: [String]) {
        if below > 0 { below += more.count }
        lines += more
    }

    /// Scrolls by so many lines, up with a positive number.
    package mutating func scroll(by count: Int, height: Int) {
        below = min(max(0, below + count), max(0, lines.count - height))
    }

    /// Searches upwards from what is seen for the next line that holds `term`; whether there is one.
    package mutating func search(for term: String, height: Int) -> Bool {
        self.term = term
        guard !term.isEmpty else { return true }
        let wanted = term.lowercased()
        // The line in the middle was found last.
        let seen = max(0, lines.count - below - height / 2 - 1)
        let order = lines.indices.prefix(seen).reversed() + lines.indices.dropFirst(seen).reversed()
        guard let found = order.first(where: { lines[$0].lowercased().contains(wanted) }) else {
            return false
        }
        below = min(max(0, lines.count - found - height / 2 - 1), max(0, lines.count - height))
        return true
    }

    /// The lines that are seen; those with the term are marked.
    func frame(_ traits: TerminalTraits, columns: Int, height: Int) -> [FrameLine] {
        let end = lines.count - below
        return lines[max(0, end - height)..<end].map { text in
            var line = FrameLine(traits)
            let isFound = !term.isEmpty && text.lowercased().contains(term.lowercased())
            if isFound, traits.usesColor { line.color(.yellow) }
            line.add(isFound && !traits.usesColor ? "> " : "  ")
            line.add(CleanText.row(text), limit: max(1, columns - 3))
            if isFound, traits.usesColor { line.color(.normal) }
            return line
        }
    }
}

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

/// The next slots in words, for views that have nothing else to show.
package enum NextSlots {
    /// `next: backup 03:00, in 9 h`.
    ///
    /// - Parameters:
    ///   - job: the job's name.
    ///   - at: its next slot.
    ///   - zone: where the reader is.
    ///   - now: the moment it is shown.
    /// - Returns: one line.
    package static func line(_ job: String, _ at: Moment, in zone: ZoneRules, at now: Moment) -> String {
        "next: \(entry(job, at, in: zone, at: now))"
    }

    /// `backup 03:00, in 9 h`, with the day where it is not today or tomorrow within 12 hours.
    package static func entry(_ job: String, _ at: Moment, in zone: ZoneRules, at now: Moment) -> String {
        let left = at > now ? "in \((at - now).words)" : "due"
        return "\(CleanText.line(job, limit: 64)) \(time(at, in: zone, at: now)), \(left)"
    }

    private static func time(_ at: Moment, in zone: ZoneRules, at now: Moment) -> String {
        guard at - now > .seconds(43_200) else { return DisplayTime.clock(at, in: zone) }
        return DisplayTime.short(at, in: zone, at: now)
    }
}
