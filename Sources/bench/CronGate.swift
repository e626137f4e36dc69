import CLinux
import Cron
import Glibc

/// What continuous integration holds `Cron` to: allocations, and the ratio to a peer in the same run; never
/// time by itself.
enum CronGate {
    /// `bench cron` prints the tables; with `--gate` the program ends with 1 when a limit is not kept.
    static func run(arguments: [String]) {
        guard arguments.contains("--gate") else { return CronBench.run(arguments: arguments) }
        let isKept = [keepsAllocations(), keepsRatio()]
        if isKept.contains(false) { exit(1) }
    }

    /// A good text is read without the heap.
    private static func keepsAllocations() -> Bool {
        // Else zero could mean that the meter is blind.
        let control = HeapMeter.growth { withExtendedLifetime([UInt8](repeating: 7, count: 100)) {} }
        guard control > 0 else {
            print("gate: the meter does not see an allocation")
            return false
        }
        let used = CronBench.expressions.filter { text in
            // Once before, for what is made at its first use.
            _ = try? CronExpression(text)
            return HeapMeter.growth { _ = try? CronExpression(text) } > 0
        }
        print("gate: parse without the heap: \(used.isEmpty ? "kept" : "NOT KEPT by \(used)")")
        return used.isEmpty
    }

    /// At least twenty times as fast as cronsim, search and parse.
    private static func keepsRatio() -> Bool {
        guard let peer = CronPeers.measure().first(where: { $0.name == "cronsim" }) else {
            print("gate: cronsim is not installed, so the ratio is not checked")
            return true
        }
        let ours = CronBench.gateFigures()
        let ratios = [
            ("next in UTC", peer.utc.reduce(0, +) / ours.next),
            ("parse", peer.parse.reduce(0, +) / ours.parse),
        ]
        for (name, ratio) in ratios {
            print(
                "gate: \(name): \(Int(ratio)) times as fast as cronsim, \(ratio >= 20 ? "kept" : "NOT KEPT") (20)"
            )
        }
        return ratios.allSatisfy { $0.1 >= 20 }
    }
}

/// Sees whether anything was taken from the heap, also when it was given back at once.
///
/// The thread's cache of the C library is emptied first. What is freed then fills the cache, and the library
/// counts a cached piece as in use; so one allocation of up to about a kilobyte shows as growth.
private enum HeapMeter {
    static func growth(_ body: () -> Void) -> Int {
        var held: [UnsafeMutableRawPointer] = unsafe []
        unsafe held.reserveCapacity(64 * 8)
        for size in stride(from: 16, through: 1024, by: 16) {
            for _ in 0..<8 {
                unsafe held.append(UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 1))
            }
        }
        let before = mallinfo2().uordblks
        body()
        let after = mallinfo2().uordblks
        unsafe held.forEach { unsafe $0.deallocate() }
        return Int(after) - Int(before)
    }
}
