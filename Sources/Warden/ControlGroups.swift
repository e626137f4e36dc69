import Glibc
import Host
import Performing
import WardenProtocol

/// The control groups of the runs: one each, below a group of the warden's own.
///
/// Where no cgroup2 may be written to there are none, and ``ProcessTree`` looks for the processes itself.
final class ControlGroups {
    /// Nil: there are none here, or they turned out to be of no use.
    private var parent: ControlGroup?
    /// Those of runs that ended and left a process behind.
    private var left: Set<ControlGroup> = []

    /// None at all.
    init() {}

    /// Below the group of this process, if that is possible.
    ///
    /// Removes those of wardens that were killed, unless something still runs in them.
    init(below own: ControlGroup?) {
        guard let own else { return }
        for name in (try? Folder.names(in: own.path)) ?? [] where name.hasPrefix(Self.prefix) {
            guard let pid = Int32(name.dropFirst(Self.prefix.count)), ProcessTable.entry(pid) == nil else {
                continue
            }
            own.child(name).remove()
        }
        parent = own.child(Self.prefix + String(getpid()))
    }

    private static let prefix = "belfry-warden-"

    /// Makes the group of a run; nil where there are none.
    func make(for key: RunKey) -> ControlGroup? {
        guard let parent else { return nil }
        let group = parent.child("\(key)")
        if (try? group.make()) != nil { return group }
        // The first run, or the folder was removed.
        if (try? parent.make()) != nil, (try? group.make()) != nil { return group }
        self.parent = nil
        return nil
    }

    /// The kernel refuses to start anything in one.
    func giveUp() {
        parent?.remove()
        parent = nil
    }

    /// Removes the group of a run that ended; false when something still runs in it.
    func remove(_ group: ControlGroup) -> Bool {
        guard group.remove() else {
            left.insert(group)
            return false
        }
        // One that an earlier warden made has a parent of its own, which goes with the last of them.
        let above = SmallFile.parent(of: group.path)
        if above != parent?.path { unsafe rmdir(above) }
        return true
    }

    /// The processes that earlier attempts of the run left in their groups.
    func processes(leftBy run: String) -> Set<Int32> {
        Set(groups(leftBy: run).flatMap(\.processes))
    }

    /// A group of an earlier attempt of the run in which something still runs.
    func group(leftBy run: String) -> ControlGroup? {
        groups(leftBy: run).first { !$0.processes.isEmpty }
    }

    private func groups(leftBy run: String) -> some Sequence<ControlGroup> {
        left.filter { group in
            let name = group.path.split(separator: "/").last
            return name.flatMap { RunKey(description: String($0)) }?.run == run
        }
    }

    /// Removes what could not be removed before; a process that was left behind has ended.
    func tidy() {
        for group in left where group.remove() { left.remove(group) }
    }

    /// The warden ends.
    func close() {
        tidy()
        if let parent { unsafe rmdir(parent.path) }
    }
}
