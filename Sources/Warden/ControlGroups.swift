import Glibc
import Host
import Performing

/// The control groups of the runs, each of one run at a time, below a group of the warden's own.
///
/// A group that a run left empty and unchanged is reused for the next run: creating and removing one costs the kernel about
/// a fifth of what a short program costs it. Where no cgroup2 may be written to there are none, and ``ProcessTree`` looks for the
/// processes itself.
final class ControlGroups {
    /// A group that a run is to begin in.
    struct Place {
        let group: ControlGroup
        /// What ``ChildProgram/controlGroup`` takes.
        let folder: Descriptor
    }

    /// How many empty groups are kept for the next runs: as many as a daemon has runs under way at a time by default.
    static let mostFree = 64

    /// How many descriptors those take up.
    var heldDescriptors: Int { free.count }

    /// Nil: there are none here, or they turned out to be of no use.
    private var parent: ControlGroup?
    /// The name of the newest.
    private var lastName = 0
    private var free: [Place] = []
    /// The folders of those that were given to runs.
    private var taken: [ControlGroup: Descriptor] = [:]
    /// Those of runs that ended and left a process behind, with the ids of the runs.
    private var left: [ControlGroup: String] = [:]

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

    // MARK: Runs that start

    /// Takes a group that an earlier run left empty; nil where there is none.
    func takeUsed() -> Place? {
        guard let place = free.popLast() else { return nil }
        taken[place.group] = place.folder
        return place
    }

    /// Makes a group; nil where there are none.
    func takeNew() -> Place? {
        guard let parent else { return nil }
        // Before the first run, or after the folder was removed, there is no parent.
        guard let place = makeChild(of: parent) ?? ((try? parent.make()) != nil ? makeChild(of: parent) : nil)
        else {
            self.parent = nil
            return nil
        }
        taken[place.group] = place.folder
        return place
    }

    private func makeChild(of parent: ControlGroup) -> Place? {
        // One of that name can only be of an earlier warden that had our process id.
        for _ in 0..<1000 {
            lastName += 1
            let group = parent.child(String(lastName))
            do throws(HostError) {
                try group.makeNew()
                return Place(group: group, folder: try group.open())
            } catch {
                guard error.code == EEXIST else {
                    lastName -= 1
                    return nil
                }
            }
        }
        return nil
    }

    /// The kernel refuses to start anything in a new one.
    func giveUp() {
        for place in free { place.group.remove() }
        free = []
        parent?.remove()
        parent = nil
    }

    // MARK: Runs that end

    /// Whether nothing runs in the group of a run, as far as the kernel shows without its being removed.
    func isVacant(_ group: ControlGroup) -> Bool {
        taken[group].map(group.isVacant) ?? false
    }

    /// The run of a group that is vacant has ended, and no record says that it is still the run's.
    func giveBack(_ group: ControlGroup) {
        guard let folder = taken.removeValue(forKey: group) else { return }
        guard parent != nil, free.count < Self.mostFree else {
            group.remove()
            return
        }
        free.append(Place(group: group, folder: folder))
    }

    /// Removes the group of a run that ended; false when something still runs in it.
    @discardableResult func remove(_ group: ControlGroup, of run: String) -> Bool {
        taken[group] = nil
        guard group.remove() else {
            left[group] = run
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
        left.lazy.filter { $0.value == run }.map(\.key)
    }

    /// Removes what could not be removed before; a process that was left behind has ended.
    func tidy() {
        for group in left.keys where group.remove() { left[group] = nil }
    }

    /// The warden ends.
    func close() {
        tidy()
        for place in free { place.group.remove() }
        free = []
        if let parent { unsafe rmdir(parent.path) }
    }
}
