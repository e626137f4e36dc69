import Cron
import Delivery
package import Ledger
package import Logging
package import Timeline

/// What somebody reports by the address of an expectation.
package enum ExpectationPing: Hashable, Sendable {
    /// It ended well.
    case success
    /// It starts now; its end is reported later.
    case start
    /// It failed; with its exit code, where one was named.
    case failure(code: Int?)
    /// A line for whoever reads of it; says nothing of how it is.
    case log
}

/// Decides what reports, and missing ones, come to.
///
/// Reads no clock: moments come from outside.
struct ExpectationJudge {
    /// Its schedule, read.
    let schedule: Schedule
    /// The rules of the schedule's zones.
    let zones: ScheduleZones

    /// When the report after the last one is due; nil: never again.
    func dueAt(_ expectation: ExpectationRecord, at now: Moment) -> Moment? {
        // A clock that was set back must not put it off.
        let base = min(expectation.reports.lastPing ?? expectation.madeAt, now)
        if case .every(let interval, _) = schedule { return base + interval }
        return schedule.nextSlot(after: base, in: zones)
    }

    /// Takes in a report.
    ///
    /// - Returns: the news of it, if it is any.
    func receive(
        _ ping: ExpectationPing, _ line: String?, for expectation: inout ExpectationRecord, at now: Moment
    ) -> Fact? {
        if let line { expectation.reports.message = line }
        defer { expectation.reports.alertAt = alertAt(expectation, at: now) }
        switch ping {
        case .log: return nil
        case .start:
            expectation.reports.startedAt = now
            return nil
        case .success:
            let since = expectation.reports.lateSince
            expectation.reports = ended(line, at: now)
            guard let since else { return nil }
            return .expectRecovered(
                Fact.Expectation(
                    expectation.name, reason: nil,
                    Fact.Expectation.Payload(
                        lastPing: now.iso8601,
                        outageSeconds: max(.zero, now - since).microseconds / 1_000_000,
                        message: line)))
        case .failure(let code):
            let since = expectation.reports.lateSince
            expectation.reports = ended(line, at: now)
            if line == nil { expectation.reports.message = code.map { "exit code \($0)" } }
            expectation.reports.reason = .failed
            expectation.reports.lateSince = since ?? now
            guard since == nil else { return nil }
            return .expectLate(
                Fact.Expectation(
                    expectation.name, reason: .failed,
                    Fact.Expectation.Payload(lastPing: now.iso8601, message: expectation.reports.message)))
        }
    }

    /// What is known when an end is reported.
    private func ended(_ line: String?, at now: Moment) -> ExpectationRecord.Reports {
        var reports = ExpectationRecord.Reports()
        reports.lastPing = now
        reports.message = line
        return reports
    }

    /// Judges it although nothing was reported.
    ///
    /// - Returns: that it is late, once; nil when it is not, or was before.
    func review(_ expectation: inout ExpectationRecord, at now: Moment) -> Fact? {
        // The clock was set back: what was reported counts as reported now, and is put off no further.
        expectation.reports.lastPing = expectation.reports.lastPing.map { min($0, now) }
        expectation.reports.startedAt = expectation.reports.startedAt.map { min($0, now) }
        let alertAt = alertAt(expectation, at: now)
        expectation.reports.alertAt = alertAt
        guard let alertAt, alertAt <= now else { return nil }
        let isUnfinished = unfinishedAt(expectation, at: now).map { $0 <= now } ?? false
        let reason: LateReason = isUnfinished ? .unfinished : .overdue
        expectation.reports.lateSince = now
        expectation.reports.reason = reason
        expectation.reports.alertAt = nil
        return .expectLate(
            Fact.Expectation(
                expectation.name, reason: reason,
                Fact.Expectation.Payload(
                    lastPing: expectation.reports.lastPing?.iso8601,
                    dueAt: isUnfinished ? nil : dueAt(expectation, at: now)?.iso8601,
                    message: isUnfinished ? expectation.reports.message : nil)))
    }

    /// Gives what was due while nobody could hear it one more grace, once.
    func forgive(_ expectation: inout ExpectationRecord, at now: Moment) {
        guard expectation.reports.notBefore == nil, let alertAt = alertAt(expectation, at: now),
            alertAt <= now
        else { return }
        expectation.reports.notBefore = now + expectation.grace
        expectation.reports.alertAt = self.alertAt(expectation, at: now)
    }

    /// When it is late if nothing is reported; nil: it is late already, or nothing more is due.
    private func alertAt(_ expectation: ExpectationRecord, at now: Moment) -> Moment? {
        guard expectation.reports.lateSince == nil else { return nil }
        let due = dueAt(expectation, at: now).map { $0 + expectation.grace }
        let earliest = [due, unfinishedAt(expectation, at: now)].compactMap(\.self).min()
        // Only for a while: a clock that was set back must not put it off for long.
        let notBefore = expectation.reports.notBefore.map { min($0, now + expectation.grace) }
        return earliest.map { max($0, notBefore ?? $0) }
    }

    private func unfinishedAt(_ expectation: ExpectationRecord, at now: Moment) -> Moment? {
        expectation.reports.startedAt.map { min($0, now) + expectation.grace }
    }
}

extension ExpectationRecord {
    /// Who judges it.
    ///
    /// - Throws: why its schedule can't be read.
    func judge(_ zones: @escaping ZoneLookup) throws(EngineError) -> ExpectationJudge {
        let (schedule, rules) = try schedule.read(seed: name, since: madeAt, zones: zones)
        return ExpectationJudge(schedule: schedule, zones: rules)
    }
}

/// Notices what did not report in time.
///
/// When each is judged next is in its row: what fell due while no daemon ran is judged one grace after the start, as
/// nobody could hear a report then.
package actor ExpectationKeeper: Keeper {
    let ledger: any Ledger
    var loop: KeeperLoop
    private let zones: ZoneLookup
    private var hasForgiven = false
    /// When all were looked at, since boot, and when the next of them was due by that.
    private var lastLook: (at: Duration, next: Moment?)?
    /// Each report rings: however many come, all are looked at once in this time, for a report makes nothing late.
    private static let pace = Duration.seconds(1)

    /// A keeper that reads schedules by these zones.
    package init(
        ledger: any Ledger, clock: any WallClock, zones: @escaping ZoneLookup, logger: Logger
    ) {
        (self.ledger, self.zones) = (ledger, zones)
        loop = KeeperLoop(clock: clock, logger: logger, complaint: "expected reports can't be judged")
    }

    /// Serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws { try await follow() }

    func wakers() -> [Waker] { [commitsThatTouch(.expectations)] }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        let begin = ClockReading(of: loop.clock)
        if let lastLook, begin.sinceBoot - lastLook.at < Self.pace,
            lastLook.next.map({ $0 > begin.now }) ?? true
        {
            return .earliest(begin.now + (lastLook.at + Self.pace - begin.sinceBoot), lastLook.next)
        }
        var next: Moment?
        for expectation in try await ledger.expectations() {
            let now = loop.clock.now
            guard let judge = try? expectation.judge(zones) else { continue }
            var judged = expectation
            if !hasForgiven { judge.forgive(&judged, at: now) }
            let fact = judge.review(&judged, at: now)
            // When it is judged next is derived again at each look; by itself it is no news.
            var unmoved = judged
            unmoved.reports.alertAt = expectation.reports.alertAt
            if unmoved != expectation {
                judged.revision += 1
                let changes =
                    [Change.putExpectation(judged, replacing: expectation.revision)]
                    + (fact.map { [.append(NewEvent($0, at: now))] } ?? [])
                // Somebody reported meanwhile: its commit rings.
                guard try await ledger.commitUnlessFenced(changes) else { continue }
                if let fact {
                    loop.logger.info(
                        "an expected report is missing",
                        metadata: [
                            "expectation": "\(judged.name)", "reason": "\(fact.columns.reason ?? "")",
                        ])
                }
            }
            next = [next, judged.reports.alertAt].compactMap(\.self).min()
        }
        hasForgiven = true
        lastLook = (begin.sinceBoot, next)
        return .earliest(next)
    }
}
