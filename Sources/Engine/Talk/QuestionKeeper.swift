import Delivery
import Grouping
package import Ledger
package import Logging
import Synchronization
package import Timeline
import Tracking

/// Closes questions: by the buttons that people press on channels, and at their deadlines.
///
/// The rows say what is open and until when, and a question is closed by the first who does: after a crash nothing is
/// answered twice. Of runs that ask it lets the keeper of runs know which.
package actor QuestionKeeper: Keeper {
    /// The cursor's name.
    package static let consumer = "questions"
    /// The cursor is moved at least this often while there are events, as what it has not passed is never removed.
    private static let cursorPause = Duration.seconds(3600)
    private static let batch = 500

    let ledger: any Ledger
    var loop: KeeperLoop
    private let runs: RunKeeper
    private let askers: QuestionAskers
    /// Whether a question is open: only then events matter.
    private let isWaiting = Atomic(false)
    private var deadlines = QuestionDeadlines()
    /// Those of an earlier daemon since the machine started, outside of any run, until it was looked at who still waits for
    /// them; nil: not known yet.
    private var inherited: Set<String>?
    /// When this keeper began.
    private let began: ClockReading
    /// The open questions whose runs were looked at.
    private var seen: Set<String> = []
    /// How far events were read, and how far that is in the ledger; nil: not known yet.
    private var cursor: (read: Int64, stored: Int64)?
    /// When that was stored last, since boot.
    private var cursorMoved: Duration

    /// So long the askers of an earlier daemon have to ask again; they try every two seconds.
    private static let patience = Duration.seconds(60)

    /// A keeper of questions; `runs` shows which of them wait for an answer, and `askers` who else does.
    package init(
        ledger: any Ledger, clock: any WallClock, runs: RunKeeper, askers: QuestionAskers, logger: Logger
    ) {
        self.ledger = ledger
        (self.runs, self.askers) = (runs, askers)
        began = ClockReading(of: clock)
        cursorMoved = began.sinceBoot
        loop = KeeperLoop(clock: clock, logger: logger, complaint: "questions can't be closed")
    }

    /// Serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws { try await follow() }

    func wakers() -> [Waker] {
        let bell = loop.bell
        let acts = ledger.observeCommits { [weak self] stations in
            guard let self, stations.contains(.events), isWaiting.load(ordering: .acquiring) else { return }
            bell.ring()
        }
        return [commitsThatTouch(.questions), .observing(acts)]
    }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        // Before the look: whatever is pressed of a question that comes later has a higher number.
        let last = try await ledger.lastEvent()
        var open = try await ledger.openQuestions()
        isWaiting.store(!open.isEmpty, ordering: .releasing)
        let asked = try await readCursor()
        try await withdrawOrphans(&open)
        if open.isEmpty { cursor?.read = last } else { try await followEvents(&open) }
        try await expire(&open)
        try await withdrawInherited(&open)
        await runs.setAsking(Set(open.compactMap(\.run)), before: asked)
        let now = ClockReading(of: loop.clock)
        let isBehind = cursor.map { $0.read > $0.stored } ?? false
        if isBehind, now.sinceBoot >= cursorMoved + Self.cursorPause { try await moveCursor([]) }
        let next = [
            deadlines.next(of: open.map(\.question), at: now),
            isBehind ? cursorMoved + Self.cursorPause : nil,
            inherited?.isEmpty == false ? began.sinceBoot + Self.patience : nil,
        ]
        return .earliest(next.compactMap(\.self).min().map { now.now + max(.zero, $0 - now.sinceBoot) })
    }

    /// Takes up where an earlier daemon ended.
    ///
    /// Returns the runs that it may have left waiting for a question that was closed in its last moment.
    private func readCursor() async throws(LedgerError) -> Set<String> {
        guard cursor == nil else { return [] }
        let stored = try await ledger.cursor(of: Self.consumer)
        let recent = try await ledger.questions(limit: Self.batch)
        cursor = (stored, stored)
        return Set(recent.compactMap(\.run))
    }

    // MARK: Runs that have ended

    /// Withdraws what runs asked that had ended when their question was seen first; the ends of others are events.
    private func withdrawOrphans(_ open: inout [QuestionRecord]) async throws(LedgerError) {
        let new = open.filter { $0.run != nil && !seen.contains($0.id) }
        seen = Set(open.map(\.id))
        guard !new.isEmpty else { return }
        let rows = try await ledger.runs(ids: Set(new.compactMap(\.run)))
        for run in rows where run.state.isEnded { try await withdraw(of: run.id, &open) }
    }

    /// Nobody waits for the answers to what the run asked.
    private func withdraw(of run: String, _ open: inout [QuestionRecord]) async throws(LedgerError) {
        for record in open where record.run == run {
            try await close(record, QuestionEnd(.withdrawn, at: loop.clock.now), with: [])
        }
        open.removeAll { $0.run == run }
    }

    /// Withdraws what an earlier daemon was asked by programs that ended before they could ask this one.
    ///
    /// What was asked before the machine started stays open: not its asker gave it up, the power was cut.
    private func withdrawInherited(_ open: inout [QuestionRecord]) async throws(LedgerError) {
        if inherited == nil {
            let life = began.now - began.sinceBoot..<began.now
            inherited = Set(open.filter { $0.run == nil && life.contains($0.question.askedAt) }.map(\.id))
        }
        let left = inherited?.intersection(open.map(\.id)) ?? []
        inherited = left
        guard !left.isEmpty, loop.clock.sinceBoot >= began.sinceBoot + Self.patience else { return }
        for record in open where left.contains(record.id) && !askers.waits(for: record.id) {
            try await close(record, QuestionEnd(.withdrawn, at: loop.clock.now), with: [])
            open.removeAll { $0.id == record.id }
        }
        inherited = []
    }

    // MARK: Events: buttons and ends

    private func followEvents(_ open: inout [QuestionRecord]) async throws(LedgerError) {
        while let from = cursor?.read {
            let events = try await ledger.events(after: from, limit: Self.batch)
            for event in events {
                if let ended = event.event.fact.endedRun { try await withdraw(of: ended, &open) }
                guard case .itemActed(let action) = event.event.fact,
                    let (record, end) = action.answer(among: open, at: loop.clock.now)
                else { continue }
                cursor?.read = event.seq
                try await close(record, end, with: cursorChange)
                open.removeAll { $0.id == record.id }
            }
            guard let last = events.last else { return }
            cursor?.read = last.seq
        }
    }

    // MARK: Deadlines

    private func expire(_ open: inout [QuestionRecord]) async throws(LedgerError) {
        let now = ClockReading(of: loop.clock)
        for record in deadlines.due(of: open, at: now) {
            try await close(record, record.question.endAtDeadline(at: now.now), with: [])
            open.removeAll { $0.id == record.id }
        }
    }

    private func close(
        _ record: QuestionRecord, _ end: QuestionEnd, with changes: [Change]
    ) async throws(LedgerError) {
        guard try await ledger.commitUnlessFenced(record.closing(end) + changes) else { return }
        if !changes.isEmpty { noteCursor() }
        loop.logger.info(
            "question closed",
            metadata: ["question.id": "\(record.id)", "state": "\(end.state)", "by": "\(end.by ?? "-")"])
    }

    // MARK: The cursor

    private var cursorChange: [Change] {
        guard let cursor, cursor.read > cursor.stored else { return [] }
        return [.moveConsumer(name: Self.consumer, from: cursor.stored, to: cursor.read)]
    }

    private func moveCursor(_ changes: [Change]) async throws(LedgerError) {
        try await ledger.commit(changes + cursorChange)
        noteCursor()
    }

    private func noteCursor() {
        if let read = cursor?.read { cursor = (read, read) }
        cursorMoved = loop.clock.sinceBoot
    }
}

extension Fact {
    /// The run that has ended by it, by id; nil: none has.
    fileprivate var endedRun: String? {
        switch self {
        case .runCompleted(let end), .runFailed(let end), .runCanceled(let end), .runLost(let end),
            .runSkipped(let end):
            end.run.id
        default: nil
        }
    }
}

extension Fact.Action {
    /// The question among `open` that the button belongs to, with its answer; nil: it belongs to none of them.
    func answer(among open: [QuestionRecord], at now: Moment) -> (QuestionRecord, QuestionEnd)? {
        guard case .question(let id)? = ItemKey(item), let record = open.first(where: { $0.id == id }),
            let choice = text.flatMap(record.question.answer) ?? key.flatMap(record.question.choice)
        else { return nil }
        return (record, QuestionEnd(answer: choice, by: channel ?? "desktop", at: now))
    }
}

extension Question {
    /// What happens to it at its deadline.
    func endAtDeadline(at now: Moment) -> QuestionEnd {
        fallback.map { QuestionEnd(answer: $0, by: QuestionEnd.byDefault, at: now) }
            ?? QuestionEnd(.expired, at: now)
    }
}

/// When questions expire: once seen, each waits by the clock that nobody sets, and no longer than it was to.
///
/// The clock on the wall decides only how much of its time a question has left when it is seen first: at the daemon's
/// start, that was spent while no daemon ran.
struct QuestionDeadlines {
    /// The end of each question's time, since boot.
    private var ends: [String: Duration] = [:]

    /// The questions whose time has passed.
    mutating func due(of open: [QuestionRecord], at now: ClockReading) -> [QuestionRecord] {
        note(open.map(\.question), at: now)
        return open.filter { record in ends[record.id].map { $0 <= now.sinceBoot } ?? false }
    }

    /// When, since boot, the next one's is; nil: none has a deadline.
    mutating func next(of open: [Question], at now: ClockReading) -> Duration? {
        note(open, at: now)
        return ends.values.min()
    }

    private mutating func note(_ open: [Question], at now: ClockReading) {
        var noted: [String: Duration] = [:]
        for question in open {
            guard let deadline = question.deadline else { continue }
            let left = min(deadline - now.now, deadline - question.askedAt)
            noted[question.id] = ends[question.id] ?? now.sinceBoot + left
        }
        ends = noted
    }
}
