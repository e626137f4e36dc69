import Glibc
import Host

/// Every process that belongs to a home: its name stands in the process's environment or command line.
enum Household {
    /// Kills them all, until none is left.
    static func end(of home: String) {
        while true {
            let found = members(of: home)
            if found.isEmpty { return }
            for pid in found { kill(pid, SIGKILL) }
            sched_yield()
        }
    }

    /// Those that run a program of this name.
    static func members(of home: String, named program: String) -> [Int32] {
        members(of: home).filter { (try? SmallFile.text("/proc/\($0)/comm")) == program }
    }

    /// Their process ids; the dead that nobody has collected yet are none of them.
    private static func members(of home: String) -> [Int32] {
        let pids = ((try? Folder.names(in: "/proc")) ?? []).compactMap { Int32($0) }
        return pids.filter { pid in
            pid != getpid()
                && ["environ", "cmdline"].contains { name in
                    let bytes = (try? SmallFile.read("/proc/\(pid)/\(name)", limit: 1 << 20)) ?? []
                    return String(decoding: bytes, as: UTF8.self).contains(home)
                }
        }
    }
}
