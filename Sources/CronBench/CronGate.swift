import Cron
import Timeline

/// What continuous integration holds `Cron` to: allocations, and the ratio to a peer in the same run; never
/// time by itself.
package enum CronGate {
    /// Measures, prints every limit, and says whether all are kept.
    package static func isKept() -> Bool {
        let kept = [keepsAllocations(), keepsSize(), keepsRatio()]
        return !kept.contains(false)
    }

    /// A good text is read without the heap.
    private static func keepsAllocations() -> Bool {
        // Else zero could mean that the meter is blind.
        let control = HeapMeter.growth { withExtendedLifetime([UInt8](repeating: 7, count: 100)) {} }
        guard control > 0 else {
            print("gate: the meter does not see an allocation")
            return false
        }
        let moment = Moment(seconds: 1_780_000_000)
        let used = (CronTables.expressions + unusual).filter { text in
            // Once before, for what is made at its first use.
            _ = try? CronExpression(text)
            guard HeapMeter.growth({ _ = try? CronExpression(text) }) == 0 else { return true }
            guard let expression = try? CronExpression(text) else { return true }
            func search() {
                _ = expression.next(after: moment, in: .utc)
                _ = expression.previous(before: moment, in: .utc)
            }
            // The search is generic: the runtime keeps what it makes of that at the first use.
            search()
            return HeapMeter.growth(search) > 0
        }
        print("gate: parse and search without the heap: \(used.isEmpty ? "kept" : "NOT KEPT by \(used)")")
        return used.isEmpty
    }

    /// Beside the common ones: seconds, a year, day forms, names.
    private static let unusual = [
        "*/10 * * * * *", "0 0 0 1 1 * 2030-2040/2", "0 9 15W * *", "0 9 L-3W * *", "30 9 * JAN-JUN MON-FRI",
        "0 12 */100,1-7 * MON", "0 0 * * +5L",
    ]

    /// A schedule has at most 80 bytes in line.
    private static func keepsSize() -> Bool {
        let size = MemoryLayout<Schedule>.stride
        print("gate: bytes a schedule, in line: \(size), \(size <= 80 ? "kept" : "NOT KEPT") (80)")
        return size <= 80
    }

    /// At least twenty times as fast as cronsim, search and parse; and backwards about as fast as forwards.
    private static func keepsRatio() -> Bool {
        guard let peer = CronPeers.measure(isBrief: true).first else {
            print("gate: NOT KEPT, there is nothing to compare with: config/test installs cronsim")
            return false
        }
        let ours = CronTables.gateFigures()
        let ratios = [
            ("next in UTC", peer.utc.reduce(0, +) / ours.next),
            ("parse", peer.parse.reduce(0, +) / ours.parse),
        ]
        for (name, ratio) in ratios {
            print(
                "gate: \(name): \(Int(ratio)) times as fast as cronsim, \(ratio >= 20 ? "kept" : "NOT KEPT") (20)"
            )
        }
        let back = ours.previous / ours.next
        let backText = "\(Int((back * 100).rounded())) %"
        print("gate: previous in UTC: \(backText) of next, \(back <= 1.5 ? "kept" : "NOT KEPT") (150 %)")
        return back <= 1.5 && ratios.allSatisfy { $0.1 >= 20 }
    }
}
