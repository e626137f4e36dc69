import Delivery
package import Ledger
package import Logging
package import Timeline

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
            // When it is judged next is derived anew at each look; by itself it is no news.
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
