import CLinux
import Glibc
import Timeline

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
        mark(entry, of: pid) == .same
    }

    /// What the environment shows that a process was started with.
    package enum Mark: Hashable, Sendable {
        /// The entry that was looked for.
        case same
        /// Another value under its name.
        case other
        /// Nothing under its name: a program that shows a title of its own has written over it, or it never was there.
        case none
    }

    /// Whether the process was started with the entry `NAME=value`; nil where it has ended or may not be looked at.
    package static func mark(_ entry: String, of pid: Int32) -> Mark? {
        var bytes: [UInt8] = []
        // While a process changes into another program the kernel shows nothing at all.
        for _ in 0..<50 where bytes.isEmpty {
            guard let read = try? SmallFile.read("/proc/\(pid)/environ", limit: 4 << 20) else { return nil }
            bytes = read
            if bytes.isEmpty { sched_yield() }
        }
        guard !bytes.isEmpty else { return nil }
        let wanted = Array(entry.utf8)
        let name = wanted.prefix { $0 != UInt8(ascii: "=") } + [UInt8(ascii: "=")]
        let named = bytes.split(separator: 0).filter { $0.starts(with: name) }
        return named.contains { $0.elementsEqual(wanted) } ? .same : named.isEmpty ? Mark.none : .other
    }
}

/// One process as `/proc` shows it.
package struct ProcessEntry: Hashable, Sendable {
    /// Its id; the kernel may reuse it once this one has ended.
    package var pid: Int32
    /// The id of its parent, or of the process that adopted it when the parent ended.
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

    /// What the kernel calls it now, at most 15 bytes of its program's name; `?` when it has ended.
    ///
    /// - Source: proc(5), `/proc/pid/comm`.
    package var name: String { (try? SmallFile.text("/proc/\(pid)/comm")) ?? "?" }

    /// Whether it ended and only waits to be collected.
    package var isZombie: Bool { state == 0x5A }
}

/// One process, held so that its id cannot be taken for another's.
package final class ProcessHandle: Sendable {
    private let descriptor: Descriptor

    /// Holds the process with this id and start time.
    ///
    /// - Throws: when it has ended, also when its id belongs to another one by now.
    /// The corresponding C function is `pidfd_open`.
    package init(pid: Int32, startTime: UInt64) throws(HostError) {
        descriptor = try Descriptor(clinux_pidfd_open(pid, 0), call: "pidfd_open")
        // Looked at after the process is held: from here on the id can mean no other.
        guard ProcessTable.entry(pid)?.startTime == startTime else {
            throw .system(call: "pidfd_open", code: ESRCH, path: nil)
        }
    }

    /// Readable once the process has ended.
    package var raw: Int32 { descriptor.raw }

    /// Waits until the process has ended, and returns how, as its parent learned it, where the kernel
    /// shows that to others.
    ///
    /// The kernel knows once the parent has collected it, which is waited for no longer than `patience`.
    /// - Returns: nil where the kernel does not show it, or not in time.
    /// - Source: `PIDFD_GET_INFO` with `PIDFD_INFO_EXIT`, Linux 6.15, include/uapi/linux/pidfd.h.
    package func waitForEnd(patience: Duration = .seconds(2)) throws(HostError) -> ProcessEnd? {
        try wait(for: Int16(POLLIN), nil)
        // Without an event of its own only the hang-up ends the wait: it was collected.
        try wait(for: 0, patience)
        return endStatus.map(ProcessEnd.init(status:))
    }

    private func wait(for events: Int16, _ patience: Duration?) throws(HostError) {
        var waiting = pollfd(fd: descriptor.raw, events: events, revents: 0)
        let milliseconds = patience.map { Int32(clamping: $0.milliseconds) } ?? -1
        while unsafe poll(&waiting, 1, milliseconds) < 0 {
            guard errno == EINTR else { throw .last("poll") }
        }
    }

    /// The status that its parent collected; nil: it was not, or the kernel does not show it.
    private var endStatus: Int32? {
        // `struct pidfd_info`: a mask, a group's id, eleven ids, the status.
        var info = [UInt64](repeating: 0, count: 8)
        info[0] = Self.endIsKnown
        guard unsafe clinux_ioctl(descriptor.raw, clinux_pidfd_get_info(), &info) == 0,
            info[0] & Self.endIsKnown != 0
        else { return nil }
        return Int32(truncatingIfNeeded: info[7] >> 32)
    }

    /// `PIDFD_INFO_EXIT`.
    private static let endIsKnown: UInt64 = 8

    /// Sends `signal`; nothing happens when the process has ended or is not ours to signal.
    ///
    /// The corresponding C function is `pidfd_send_signal`.
    package func send(_ signal: Int32) {
        _ = clinux_pidfd_send_signal(descriptor.raw, signal)
    }
}

/// How a process ended.
package enum ProcessEnd: Hashable, Sendable {
    case code(Int32)
    case signal(Int32)

    /// The status that wait(2) gives.
    init(status: Int32) {
        self =
            clinux_wifsignaled(status) != 0
            ? .signal(clinux_wtermsig(status)) : .code(clinux_wexitstatus(status))
    }
}

/// The children of one thread, which are a process's own when it has no other: also adopted ones, zombies included.
///
/// The kernel's file is opened once, because it is read after every run.
package final class ChildList: Sendable {
    private let file: Descriptor

    /// The children of the calling thread; nil where the kernel does not report them.
    ///
    /// - Source: proc(5), `/proc/pid/task/tid/children`.
    package init?() {
        guard let file = try? Descriptor.open("/proc/thread-self/children", O_RDONLY) else { return nil }
        self.file = file
    }

    /// Their ids now; nil when they can't be read.
    package func read(bytesAtATime room: Int = 4096) -> [Int32]? {
        var pids: [Int32] = []
        var buffer = [UInt8](repeating: 0, count: room)
        var offset = 0
        var pid: Int32 = 0
        while true {
            let count = unsafe pread(file.raw, &buffer, buffer.count, offset)
            if count == 0 { return pids }
            guard count > 0 else {
                if errno == EINTR { continue }
                return nil
            }
            // An id may be cut between two reads; a blank follows each.
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: " ") {
                    pids.append(pid)
                    pid = 0
                } else {
                    pid = pid &* 10 &+ Int32(byte &- UInt8(ascii: "0"))
                }
            }
            offset += count
        }
    }
}

/// One group of a cgroup2: what begins in it stays in it, wherever else it moves.
///
/// A name, not a handle: where it no longer exists, nothing here does harm.
package struct ControlGroup: Hashable, Sendable {
    /// Its folder.
    package let path: String

    /// The group at `path`, made or not.
    package init(path: String) {
        self.path = path
    }

    /// The group of this process, when it lies in a cgroup2 that is mounted and may be written to.
    ///
    /// Hybrid machines mount it beside the older hierarchies, so the place is read and never guessed.
    /// - Source: proc(5), `/proc/self/mountinfo`; cgroups(7), `/proc/self/cgroup`.
    package static func own() -> ControlGroup? {
        guard let mounts = try? SmallFile.text("/proc/self/mountinfo", limit: 4 << 20),
            let membership = try? SmallFile.text("/proc/self/cgroup")
        else { return nil }
        return places(mounts: mounts, membership: membership).first { unsafe access($0.path, W_OK) == 0 }
    }

    /// Where the group named in `membership` is seen, by the lines of `mounts`.
    package static func places(mounts: String, membership: String) -> [ControlGroup] {
        guard let line = membership.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else {
            return []
        }
        let group = line.dropFirst(3)
        return mounts.split(separator: "\n").compactMap { line in
            let halves = line.split(separator: " ")
            // Optional fields stand between, so the type is counted from the dash.
            guard halves.count > 6, let dash = halves[6...].firstIndex(of: "-"), dash + 1 < halves.count,
                halves[dash + 1] == "cgroup2"
            else { return nil }
            let root = plain(halves[3]), place = plain(halves[4])
            if root == "/" { return ControlGroup(path: group == "/" ? place : place + group) }
            guard group == root || group.hasPrefix(root + "/") else { return nil }
            return ControlGroup(path: place + group.dropFirst(root.count))
        }
    }

    /// The group of this name below it.
    package func child(_ name: String) -> ControlGroup { ControlGroup(path: path + "/" + name) }

    /// Makes the group; it may be there already.
    package func make() throws(HostError) {
        guard unsafe mkdir(path, 0o755) == 0 || errno == EEXIST else { throw .last("mkdir", path) }
    }

    /// Makes the group.
    ///
    /// - Throws: `EEXIST` when it is there already.
    package func makeNew() throws(HostError) {
        guard unsafe mkdir(path, 0o755) == 0 else { throw .last("mkdir", path) }
    }

    /// What ``ChildProgram/controlGroup`` takes.
    package func open() throws(HostError) -> Descriptor {
        try Descriptor.open(path, clinux_o_path() | O_DIRECTORY)
    }

    /// Whether nothing runs in it, no group was made in it, it is not frozen, and nobody else was given it; `folder` is
    /// of ``open()``.
    ///
    /// - Source: cgroups(7), `cgroup.events`; a folder has a link from each below it.
    package func isVacant(_ folder: Descriptor) -> Bool {
        var status = stat()
        guard unsafe fstat(folder.raw, &status) == 0, status.st_nlink == 2,
            // Whoever owns it may stop and end what runs in it.
            status.st_uid == geteuid(), status.st_mode & 0o022 == 0,
            let events = try? Descriptor.open(path + "/cgroup.events", O_RDONLY)
        else { return false }
        var bytes = [UInt8](repeating: 0, count: 128)
        guard case .bytes(let count) = try? events.read(into: &bytes) else { return false }
        let lines = bytes[..<count].split(separator: UInt8(ascii: "\n"))
        return lines.contains { $0.elementsEqual("populated 0".utf8) }
            && !lines.contains { $0.elementsEqual("frozen 1".utf8) }
    }

    /// The processes in it and in the groups below; none when it no longer exists.
    package var processes: [Int32] {
        let text = (try? SmallFile.text(path + "/cgroup.procs", limit: 1 << 24)) ?? ""
        return text.split(separator: "\n").compactMap { Int32($0) } + children.flatMap(\.processes)
    }

    /// Ends everything in it and in the groups below, also what is being forked meanwhile; false where the
    /// kernel cannot, before Linux 5.14.
    @discardableResult package func kill() -> Bool {
        guard let file = try? Descriptor.open(path + "/cgroup.kill", O_WRONLY) else { return false }
        return (try? file.writeAll([UInt8(ascii: "1")])) != nil
    }

    /// Removes it and the groups below; false when something still runs in one.
    @discardableResult package func remove() -> Bool {
        if unsafe rmdir(path) == 0 || errno == ENOENT { return true }
        for child in children { child.remove() }
        return unsafe rmdir(path) == 0 || errno == ENOENT
    }

    /// The groups that were made in it.
    private var children: [ControlGroup] {
        var status = stat()
        // A folder has a link from itself, one from above, and one from each below.
        guard unsafe stat(path, &status) == 0, status.st_nlink > 2 else { return [] }
        return ((try? Folder.names(in: path)) ?? []).map(child).filter {
            unsafe access($0.path + "/cgroup.procs", F_OK) == 0
        }
    }

    /// A field of mountinfo without its escapes: `\040` is a blank.
    private static func plain(_ field: Substring) -> String {
        guard field.contains("\\") else { return String(field) }
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
