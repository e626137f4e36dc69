import Glibc

/// One process as `/proc` shows it.
package struct ProcessEntry: Hashable, Sendable {
    /// Its id; the kernel gives it to another process once this one is gone.
    package var pid: Int32
    /// The id of its parent, or of the process that took it in when the parent ended.
    package var parent: Int32
    /// The id of its process group.
    package var group: Int32
    /// The id of its session.
    package var session: Int32
    /// When it started, in clock ticks since the machine did.
    ///
    /// With ``pid`` and the boot id it names one
    /// process for ever.
    package var startTime: UInt64
    /// One letter: `R` running, `S` sleeping, `D` waiting for a disk, `T` stopped, `Z` ended, not collected.
    package var state: UInt8

    /// Names a process by its parts, for tests and for callers that read them elsewhere.
    package init(pid: Int32, parent: Int32, group: Int32, session: Int32, startTime: UInt64, state: UInt8) {
        self.pid = pid
        self.parent = parent
        self.group = group
        self.session = session
        self.startTime = startTime
        self.state = state
    }

    /// Reads a line of `/proc/PID/stat`; nil when it is not one.
    ///
    /// The name in it may contain anything, also blanks and brackets, so the fields are counted from
    /// its last bracket.
    /// - Source: proc(5), `/proc/pid/stat`.
    package init?(stat line: [UInt8]) {
        guard let open = line.firstIndex(of: 0x28), let close = line.lastIndex(of: 0x29), open < close,
            let pid = Int32(String(decoding: line[..<open].filter { $0 != 0x20 }, as: UTF8.self))
        else { return nil }
        let fields = line[(close + 1)...].split(separator: 0x20)
        guard fields.count > 19, let state = fields[0].first,
            let parent = Int32(String(decoding: fields[1], as: UTF8.self)),
            let group = Int32(String(decoding: fields[2], as: UTF8.self)),
            let session = Int32(String(decoding: fields[3], as: UTF8.self)),
            let startTime = UInt64(String(decoding: fields[19], as: UTF8.self))
        else { return nil }
        self.init(
            pid: pid, parent: parent, group: group, session: session, startTime: startTime, state: state)
    }

    /// What the kernel calls it now, at most 15 bytes of its program's name; `?` when it is gone.
    ///
    /// - Source: proc(5), `/proc/pid/comm`.
    package var name: String { (try? SmallFile.text("/proc/\(pid)/comm")) ?? "?" }

    /// Whether it ended and only waits to be collected.
    package var isZombie: Bool { state == 0x5A }
}
