package import Timeline
package import Tracking

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
