package import Ledger
package import Logging
package import Performing
import Synchronization
package import Timeline
package import Tracking

/// Where every run is right now: one state a run, versioned, in memory, shown everywhere.
///
/// The one thing that may be ahead of the ledger: it saves a state at every change of state and at most once
/// a second else, and its ticks are never events.
package actor LiveBoard: Keeper {
    /// An object: what is large and changes often is never copied.
    final class Line {
        var tracker: LiveTracker
        /// From when on, since boot, it is worth reading how past runs of its job got on; nil: not under way yet, or
        /// read already.
        var learnsAt: Duration?
        var hasLearned = false
        /// Reads what the job prints, and what it writes to its progress descriptor.
        var scanner = OutputScanner()
        /// Reads it in the scanner's place; nil: the job names no tool.
        var named: NamedReader?
        var reader = ProgressLine()
        /// Reads what it sends to a terminal about its progress.
        private var sequences = StatusSequences()
        var version: UInt64
        var isDirty = false
        /// What must not be shown of its reports; nil: no text of them may be.
        var hidden: HiddenTexts? = HiddenTexts() {
            didSet { printed = HidingStream(hidden ?? HiddenTexts()) }
        }
        /// What it prints, without that.
        var printed = HidingStream()
        /// Its last state, while the commit of its end is under way.
        var last: LiveState?
        /// The number of the newest report of an attempt that was received.
        private var received: (attempt: Int, number: Int)

        init(tracker: LiveTracker, version: UInt64) {
            self.tracker = tracker
            self.version = version
            received = (tracker.live.attempt, tracker.live.reported ?? 0)
        }

        /// Notes the number of a report; false where it was received before: a performer repeats what is not saved.
        func isNew(_ number: Int?, of attempt: Int) -> Bool {
            guard let number else { return true }
            if received.attempt != attempt { received = (attempt, 0) }
            guard number > received.number else { return false }
            received.number = number
            return true
        }

        /// Everything that was received is in its state, unless the reader still holds some of it back.
        func noteApplied() {
            guard received.number > 0, received.attempt == tracker.live.attempt, reader.heldUntil == nil
            else { return }
            tracker.note(reported: received.number)
        }

        /// Applies a report, without what must not be shown.
        func receive(_ report: ProgressReport, from source: ReportSource, at now: Moment) -> LiveChange {
            var report = report
            if hidden?.isEmpty != true {
                report.phase = report.phase.flatMap { hidden?.clean($0) }
                report.message = report.message.flatMap { hidden?.clean($0) }
                // Part of a name is no name: such a report is dropped.
                let path = (report.part?.path).flatMap { hidden?.clean($0) }
                report.part = path == report.part?.path ? report.part : nil
            }
            return tracker.receive(report, from: source, at: now)
        }

        /// Applies what is found in these bytes of its output, and in what was held back of those before.
        func scan(_ bytes: [UInt8], at now: Moment) -> [LiveChange] {
            let sent = sequences.receive(bytes[...]).map {
                receive($0, from: $0.isRemark ? .text : .osc, at: now)
            }
            if let reports = named?.receive(bytes[...], at: now) {
                return sent + reports.map { receive($0, from: .parser, at: now) }
            }
            let reports = scanner.receive(bytes[...], at: now)
            if !reports.isEmpty { tracker.keep(scanner.belief) }
            return sent + reports.map { receive($0, from: .text, at: now) }
        }

        /// When there is something to do for it, though nothing happens.
        var nextRefresh: Moment? {
            if last != nil { return nil }
            var next = tracker.nextRefresh
            for held in [scanner.heldUntil, named?.heldUntil, reader.heldUntil] {
                if let held { next = next.map { min($0, held) } ?? held }
            }
            return next
        }
    }

    let ledger: any Ledger
    var loop: KeeperLoop
    private let incarnation: Int64
    var lines: [String: Line] = [:]
    let lessons = Lessons()
    nonisolated let savedReports = SavedReports()
    /// Rung when a run is silent for too long, or works again: somebody may have to know.
    let alarms = Broadcast<Void>()
    private var version: UInt64 = 0
    private var ended: [(version: UInt64, state: LiveState)] = []
    /// The version of the newest ended state that is no longer kept.
    private var forgotten: UInt64 = 0
    private let watchers = Broadcast<Void>()
    /// What a watcher was shown last.
    private var lastAnswer: (seen: UInt64, version: UInt64, states: [LiveState], isWhole: Bool)?
    /// Whether a state has changed since the last save.
    private var hasNews = false
    /// Until when, since boot, nothing is saved, after a save; nil: the next change is saved at once.
    private var restsUntil: Duration?

    /// How many ended states are kept for watchers that look late.
    private static let endedKept = 256

    /// A board whose sequence numbers are above those of every earlier `incarnation` of the daemon.
    package init(ledger: any Ledger, clock: any WallClock, incarnation: Int64, logger: Logger) {
        self.ledger = ledger
        self.incarnation = incarnation
        loop = KeeperLoop(clock: clock, logger: logger, complaint: "live states can't be saved")
    }

    // MARK: Runs

    /// Puts a run on the board, or goes on with one that was there before a restart.
    ///
    /// `startedAt` is when the attempt began, where its row shows it.
    package func enter(
        _ task: LiveTask, attempt: Int, state: RunState, saved: LiveState?, startedAt: Moment? = nil,
        at now: Moment
    ) {
        guard lines[task.id] == nil else { return }
        version += 1
        var tracker =
            if let saved {
                LiveTracker(resuming: saved, incarnation: incarnation, at: now)
            } else {
                LiveTracker(
                    task: task, attempt: attempt, incarnation: incarnation,
                    state: state == .running ? .starting : state, at: now)
            }
        _ = tracker.startAttempt(attempt, at: now)
        _ = tracker.became(state, startedAt: startedAt, at: now)
        let line = Line(tracker: tracker, version: version)
        line.scanner = OutputScanner(resuming: tracker.live.belief)
        lines[task.id] = line
        noteStart(of: line)
        watchers.publish(())
        if state == .stalled { alarms.publish(()) }
    }

    /// Nothing of this is shown of what the run reports from now on; nil: no text of it is, but that this is so.
    package func hide(_ texts: HiddenTexts?, of run: String) {
        lines[run]?.hidden = texts
        guard texts == nil else { return }
        _ = update(run) { [$0.tracker.replaceTexts(by: HiddenTexts.reason)] }
    }

    /// How what the run prints is read from now on.
    func read(_ reading: ProgressReading?, in run: String) { lines[run]?.named = NamedReader(reading) }

    /// What a job said of itself.
    ///
    /// Returns its state when that changed, so that the change becomes an event.
    package func receive(
        _ report: ProgressReport, of run: String, at now: Moment
    ) -> LiveState? {
        update(run) { line in [line.receive(report, from: .native, at: now)] }
    }

    /// What a job said of itself in an attempt, by a report that is repeated until it is saved; nil: by one that is not.
    ///
    /// Returns its state when that changed.
    package func receive(
        _ report: ProgressReport, numbered number: Int?, of key: RunKey, at now: Moment
    ) -> LiveState? {
        update(key.run) { line in
            guard line.isNew(number, of: key.attempt) else { return [] }
            return [line.receive(report, from: .native, at: now)]
        }
    }

    /// What a job wrote to its progress descriptor, one line; `number` as for any report.
    ///
    /// Returns its state when that changed.
    package func receive(
        line bytes: [UInt8], numbered number: Int? = nil, of key: RunKey, at now: Moment
    ) -> LiveState? {
        update(key.run) { line in
            guard line.isNew(number, of: key.attempt) else { return [] }
            return line.reader.receive((bytes + [0x0A])[...], at: now)
                .map { line.receive($0, from: .native, at: now) }
        }
    }

    /// What a job printed.
    ///
    /// Returns its state when that changed: it spoke after a silence.
    package func scan(_ bytes: [UInt8], of run: String, at now: Moment) -> LiveState? {
        update(run) { line in
            // The scanner cuts lines in two at carriage returns.
            line.scan(line.printed.hide(bytes), at: now)
        }
    }

    /// When ``refresh(at:)`` has something to do; nil: not before the next report.
    package func nextRefresh() -> Moment? {
        lines.values.lazy.compactMap(\.nextRefresh).min()
    }

    /// Takes in what was held back, and notes who has been silent for too long.
    ///
    /// Returns the states that changed.
    package func refresh(at now: Moment) -> [LiveState] {
        lines.keys.compactMap { run in
            update(run) { line in
                line.reader.receive([], at: now).map { line.receive($0, from: .native, at: now) }
                    + line.scan([], at: now)
                    + [line.tracker.refresh(at: now)]
            }
        }
    }

    func update(_ run: String, _ body: (Line) -> [LiveChange]) -> LiveState? {
        guard let line = lines[run], line.last == nil else { return nil }
        let changes = body(line)
        line.noteApplied()
        if changes.contains(where: { $0 != .none }) { touch(line) }
        guard changes.contains(.stateChange) else { return nil }
        let state = line.tracker.live.state
        if state == .stalled || state == .running && line.hasLearned { alarms.publish(()) }
        return line.tracker.live
    }

    /// Moves a run to another state that is not an end.
    package func become(_ state: RunState, reason: RunReason?, of run: String, at now: Moment) {
        _ = update(run) {
            let change = $0.tracker.became(state, reason: reason, at: now)
            noteStart(of: $0)
            return [change]
        }
    }

    /// Shows that a run is paused, or goes on.
    ///
    /// Returns its state, for the step that records it; nil: it is not on the board.
    func setPaused(_ isPaused: Bool, _ run: String, at now: Moment) -> LiveState? {
        _ = update(run) {
            [isPaused ? $0.tracker.became(.paused, at: now) : $0.tracker.resumed(at: now)]
        }
        return lines[run]?.tracker.live
    }

    /// Shows that the work of a run has ended well and is being checked.
    ///
    /// Returns its state, which the ledger has to know before the check begins.
    func finishWork(_ work: LiveState.WorkEnd, of run: String, at now: Moment) -> LiveState? {
        _ = update(run) { [$0.tracker.note(workEnd: work, at: now)] }
        return lines[run]?.tracker.live
    }

    /// Keeps that a script decided that the run's bot is asked.
    ///
    /// Returns its state, which the ledger has to know before the bot is asked.
    func noteWake(_ wake: LiveState.Wake, of run: String, at now: Moment) -> LiveState? {
        _ = update(run) { [$0.tracker.note(wake: wake, at: now)] }
        return lines[run]?.tracker.live
    }

    /// Shows that a run waits for a person without a process, or is resumed.
    ///
    /// Returns its state, for the step that records it; nil: it is not on the board.
    func note(_ parked: LiveState.Parked, of run: String, at now: Moment) -> LiveState? {
        _ = update(run) { [$0.tracker.note(parked: parked, at: now)] }
        return lines[run]?.tracker.live
    }

    /// The last state of a run whose end is about to be committed.
    ///
    /// From here on reports do not change it. Watchers see it once ``end(_:)`` confirms the commit.
    /// - Parameters:
    ///   - run: its id.
    ///   - state: where it is after the commit.
    ///   - reason: why.
    ///   - elapsed: how long after its start that was, by a clock nobody sets; nil: not known.
    ///   - text: what Belfry has to say of it; nil: the job's own last words stand.
    ///   - now: the moment, where `elapsed` gives no better one.
    /// - Returns: nil: it is not on the board.
    package func conclude(
        _ run: String, _ state: RunState, reason: RunReason?, after elapsed: Duration? = nil,
        saying text: String? = nil, at now: Moment
    ) -> Conclusion? {
        guard let line = lines[run] else { return nil }
        // The last words of a job that spoke too fast are still held back.
        for report in line.reader.finish() { _ = line.receive(report, from: .native, at: now) }
        _ = line.scan(line.printed.finish(), at: now)
        for report in line.named?.finish() ?? [] { _ = line.receive(report, from: .parser, at: now) }
        for report in line.scanner.finish() { _ = line.receive(report, from: .text, at: now) }
        var tracker = line.tracker
        let start = tracker.live.startedAt
        let end = elapsed.flatMap { elapsed in start.map { $0 + elapsed } } ?? max(now, start ?? now)
        _ = tracker.became(state, reason: reason, at: end)
        var last = tracker.live
        last.workEnd = nil
        if let text { last.message = CleanText.line(text, limit: 300) }
        line.last = last
        return Conclusion(live: last, profile: tracker.profile)
    }

    /// What is written of a run with its end.
    package struct Conclusion: Sendable {
        /// Its last state.
        package var live: LiveState
        /// How it got on; nil unless it completed.
        package var profile: RunProfile?
    }

    /// The ends of these runs are committed: takes them off the board, and shows their last states to watchers.
    package func end(_ runs: [String]) {
        for run in runs {
            guard let last = lines[run]?.last else { continue }
            lines[run] = nil
            version += 1
            ended.append((version, last))
            if ended.count > Self.endedKept { forgotten = ended.removeFirst().version }
        }
        watchers.publish(())
    }

    /// Takes a run that has ended off the board at once, whatever ``conclude(_:_:reason:after:saying:at:)`` said.
    package func end(_ run: String, _ state: RunState, reason: RunReason?, at now: Moment) {
        guard conclude(run, state, reason: reason, at: now) != nil else { return }
        end([run])
    }

    // MARK: Watching

    /// All runs that have not ended, in the order of their start.
    package func states() -> [LiveState] {
        lines.values.map(\.tracker.live).sorted { ($0.updatedAt, $0.task.id) < ($1.updatedAt, $1.task.id) }
    }

    /// Where one run is; nil: it is not on the board.
    package func state(of run: String) -> LiveState? { lines[run]?.tracker.live }

    /// What changed after `version`: each run once with its newest state, the ended ones among them.
    ///
    /// Not whole when a run ended whose state is no longer kept: a watcher finds it by what it has shown.
    package func changes(
        after seen: UInt64
    ) -> (version: UInt64, states: [LiveState], isWhole: Bool) {
        // Watchers that are woken together have mostly seen the same.
        if let answer = lastAnswer, answer.seen == seen, answer.version == version {
            return (version, answer.states, answer.isWhole)
        }
        let states = states(after: seen)
        lastAnswer = (seen, version, states, seen >= forgotten)
        return (version, states, seen >= forgotten)
    }

    /// Every run with its newest state, the ones among them that ended a moment ago, for a reader that keeps no version.
    package func whole() -> (version: UInt64, states: [LiveState]) { (version, states(after: 0)) }

    private func states(after seen: UInt64) -> [LiveState] {
        let gone = ended.filter { $0.version > seen }
        let alive = lines.values.filter { $0.version > seen }.map { ($0.version, $0.tracker.live) }
        return (gone.map { ($0.version, $0.state) } + alive).sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// An element at once and after each change, conflated; ``changes(after:)`` shows what changed.
    package nonisolated func taps() -> AsyncStream<Void> { watchers.values(first: ()) }

    private func touch(_ line: Line) {
        version += 1
        line.version = version
        line.isDirty = true
        hasNews = true
        if restsUntil == nil { loop.bell.ring() }
        watchers.publish(())
    }

    // MARK: Saving

    /// Saves what changed, at most once a second, until cancelled, and then once more.
    ///
    /// Asleep while nothing changes.
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws {
        do {
            try await follow()
        } catch is CancellationError {
            do throws(LedgerError) { try await save() } catch  where error.mayPass {}
            throw CancellationError()
        }
    }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        let clock = loop.clock
        if let restsUntil, clock.sinceBoot < restsUntil {
            return .at(clock.now + (restsUntil - clock.sinceBoot))
        }
        restsUntil = nil
        guard hasNews else { return .whenRung }
        restsUntil = clock.sinceBoot + .seconds(1)
        try await save()
        return .at(clock.now + .seconds(1))
    }

    private func save() async throws(LedgerError) {
        hasNews = false
        let dirty = lines.filter { $0.value.isDirty && $0.value.last == nil }
        guard !dirty.isEmpty else { return }
        for run in dirty.keys { lines[run]?.isDirty = false }
        do throws(LedgerError) {
            let states = dirty.map { ($0.key, $0.value.tracker.live) }
            try await ledger.commit(states.map { .saveLive(run: $0.0, $0.1) })
            savedReports.note(states.map(\.1))
        } catch {
            for run in dirty.keys { lines[run]?.isDirty = true }
            hasNews = true
            throw error
        }
    }
}

/// Up to which number the reports of attempts are saved, for their performers, which keep them until then.
final class SavedReports: Sendable {
    private let numbers = Mutex<[RunKey: Int]>([:])

    /// These states are in the ledger.
    func note(_ states: [LiveState]) {
        let saved = states.compactMap { live in
            live.reported.map { (RunKey(run: live.task.id, attempt: live.attempt), $0) }
        }
        if !saved.isEmpty { numbers.withLock { $0.merge(saved) { max($0, $1) } } }
    }

    /// What was noted since the last call.
    func takeAll() -> [RunKey: Int] {
        numbers.withLock { numbers in
            defer { numbers = [:] }
            return numbers
        }
    }
}
