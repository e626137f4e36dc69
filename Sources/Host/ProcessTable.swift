import CLinux
import Glibc

/// The processes of this machine, read from `/proc`.
package enum ProcessTable {
    /// The process with this id now, nil when there is none.
    package static func entry(_ pid: Int32) -> ProcessEntry? {
        guard let line = try? SmallFile.read("/proc/\(pid)/stat", limit: 4096) else { return nil }
        return ProcessEntry(stat: line)
    }

    /// Whether the very process that had this id and start time still runs.
    package static func isAlive(pid: Int32, startTime: UInt64) -> Bool {
        guard let entry = entry(pid) else { return false }
        return entry.startTime == startTime && !entry.isZombie
    }

    /// Every process.
    ///
    /// One that ends meanwhile may be missing or still listed. One that is forked meanwhile is listed: the
    /// ids are looked at again until there is no new one, or else a process that forks and ends faster than
    /// a look takes would always be missed.
    package static func all() throws(HostError) -> [ProcessEntry] {
        var entries: [ProcessEntry] = []
        var seen: Set<Int32> = []
        for _ in 0..<64 {
            let new = try Folder.names(in: "/proc").compactMap { Int32($0) }.filter {
                seen.insert($0).inserted
            }
            if new.isEmpty { break }
            entries += new.compactMap(entry)
        }
        return entries
    }

    /// Whether the environment the process was started with has the entry `NAME=value`.
    ///
    /// False also when it may not be looked at.
    package static func process(_ pid: Int32, wasStartedWith entry: String) -> Bool {
        var bytes: [UInt8] = []
        // While a process changes into another program the kernel shows nothing at all.
        for _ in 0..<50 where bytes.isEmpty {
            guard let read = try? SmallFile.read("/proc/\(pid)/environ", limit: 4 << 20) else { return false }
            bytes = read
            if bytes.isEmpty { sched_yield() }
        }
        let wanted = Array(entry.utf8)
        return bytes.split(separator: 0).contains { $0.elementsEqual(wanted) }
    }
}
