import CLinux
import Glibc

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

    /// What ``ChildProgram/controlGroup`` takes.
    package func open() throws(HostError) -> Descriptor {
        try Descriptor.open(path, clinux_o_path() | O_DIRECTORY)
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
