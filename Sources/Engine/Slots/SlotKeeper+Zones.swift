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
        let moved = book.all.filter { entry in
            entry.fault != nil || entry.schedule.zoneName.map { zones($0) != entry.rules } ?? false
        }
        guard release != tzdata || !moved.isEmpty else { return }
        // The fact brings the watermark to now in any case: what passed under the old rules stays decided.
        try await settle(until: now, with: [.setFact(name: Self.tzdataFact, value: release)])
        if tzdata != nil {
            logger.notice(
                "zone data changed",
                metadata: [
                    "tzdata": "\(release)", "tzdata.before": "\(tzdata ?? "")",
                    "jobs.changed": "\(moved.count)",
                ])
        }
        tzdata = release
        for entry in moved {
            if let record = book[entry.record.name]?.record { enter(record) }
        }
    }
}
