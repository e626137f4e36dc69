import Cron
import Ledger
import Logging
import Timeline

extension SlotKeeper {
    /// Takes up the zone data that were announced; they stay announced when that fails.
    func readZones() async throws(LedgerError) {
        guard let release = comingTzdata else { return }
        try await takeUp(release, at: clock.now)
        if comingTzdata == release { comingTzdata = nil }
    }

    private func takeUp(_ release: String, at now: Moment) async throws(LedgerError) {
        let changed = book.changedZones(zones)
        guard release != tzdata || !changed.isEmpty || !faults.isEmpty else { return }
        let faulty = try await ledger.jobs(named: faults.keys.sorted())
        // The fact brings the watermark to now in any case: what passed under the old rules stays decided.
        try await settle(until: now, with: [.setFact(name: Self.tzdataFact, value: release)])
        var moved = faulty.count
        for (zone, rules) in changed {
            if let rules {
                moved += book.follow(rules, of: zone, after: watermark.decidedUntil)
            } else {
                for name in book.forget(zone: zone) {
                    note(.noSuchZone(zone), of: name)
                    moved += 1
                }
            }
        }
        for record in faulty { enter(SlotJob(record)) }
        // The first release that is taken up is news only when jobs were read by the data before it.
        if tzdata != nil || moved > 0 {
            logger.notice(
                "zone data changed",
                metadata: [
                    "tzdata": "\(release)", "tzdata.before": "\(tzdata ?? "")", "jobs.changed": "\(moved)",
                ])
        }
        tzdata = release
    }
}
