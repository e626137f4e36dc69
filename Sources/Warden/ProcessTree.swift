import Glibc
import Host
import Performing
import Timeline
import WardenProtocol

/// The processes of one run, wherever they moved.
struct ProcessTree {
    /// A process for ever: its id may be given away, its id and start time are not.
    struct Identity: Hashable {
        var pid: Int32
        var startTime: UInt64

        init(_ entry: ProcessEntry) {
            pid = entry.pid
            startTime = entry.startTime
        }
    }

    /// The first process, whose id is also its session and its process group.
    let leader: Int32
    let leaderStartTime: UInt64
    /// The entry of the environment that every process of the run was born with.
    let mark: String
    /// Where a process that lost its parent may end up; nil for anywhere, when this warden is not the
    /// one that started the run.
    let reaper: Int32?
    /// The control group it began in, which no process leaves by itself; nil where there are none.
    var group: ControlGroup?
    /// Members seen so far: found again when they left everything else behind.
    private(set) var seen: Set<Identity> = []
    private var asked: Set<Identity> = []

    init(leader: Int32, startTime: UInt64, mark: String, reaper: Int32?, group: ControlGroup? = nil) {
        self.leader = leader
        leaderStartTime = startTime
        self.mark = mark
        self.reaper = reaper
        self.group = group
    }

    /// The mark of the processes of a run, by its id.
    static func mark(of run: String) -> String { NotifySender.mark(of: run) }

    /// The members among `processes` that still run, and remembers them.
    ///
    /// `isMarked` returns whether a process bears ``mark``; it is asked only about those that could. `grouped`
    /// are the processes in its control group.
    mutating func members(
        among processes: [ProcessEntry], grouped: Set<Int32> = [], isMarked: (Int32) -> Bool
    ) -> [ProcessEntry] {
        let me = getpid()
        // An older process cannot be a member: its ids only look alike because they were used again.
        let candidates = processes.filter { $0.startTime >= leaderStartTime && $0.pid != me }
        // Another process bears the number now: no session and no group of that name is the run's any more.
        let isReused = processes.contains { $0.pid == leader && $0.startTime != leaderStartTime }
        var found: Set<Int32> = []
        for entry in candidates {
            let isIn = grouped.contains(entry.pid) || !isReused && isBeside(entry)
            if isIn || isRoot(entry, isMarked) { found.insert(entry.pid) }
        }
        var grew = !found.isEmpty
        while grew {
            grew = false
            for entry in candidates where found.contains(entry.parent) && !found.contains(entry.pid) {
                found.insert(entry.pid)
                grew = true
            }
        }
        let members = candidates.filter { found.contains($0.pid) && !$0.isZombie }
        for member in members { seen.insert(Identity(member)) }
        return members
    }

    private func isBeside(_ entry: ProcessEntry) -> Bool {
        entry.session == leader || entry.group == leader
    }

    private func isRoot(_ entry: ProcessEntry, _ isMarked: (Int32) -> Bool) -> Bool {
        if entry.pid == leader { return entry.startTime == leaderStartTime }
        return seen.contains(Identity(entry))
            || (!entry.isZombie && (reaper == nil || entry.parent == reaper) && isMarked(entry.pid))
    }
}

extension ProcessTree {
    /// The members that run now.
    mutating func liveMembers() -> [ProcessEntry] {
        let mark = mark
        // The group first: who is in it then is in the table, or has ended.
        let grouped = Set(group?.processes ?? [])
        return members(among: (try? ProcessTable.all()) ?? [], grouped: grouped) {
            ProcessTable.process($0, wasStartedWith: mark)
        }
    }

    /// Performs an action of its run's ladder; nil: nothing.
    mutating func obey(_ action: StopLadder.Action?) {
        switch action {
        case .terminate: terminate()
        case .kill: kill()
        case .giveUp, nil: break
        }
    }

    /// Asks every member to end that was not asked yet; stopped ones are continued, so that they can.
    ///
    /// - Returns: the members.
    @discardableResult mutating func terminate() -> [ProcessEntry] {
        let members = liveMembers()
        for member in members where asked.insert(Identity(member)).inserted {
            Self.send(SIGTERM, to: member)
            Self.send(SIGCONT, to: member)
        }
        return members
    }

    /// Kills every member: by its control group at once, and those outside it one by one.
    ///
    /// They are stopped first, until no look finds a new one: otherwise a process
    /// that forks quickly is always one child ahead.
    mutating func kill() {
        if let group {
            let members = Set(liveMembers().map(\.pid))
            if members.isSubset(of: group.processes), group.kill() { return }
            group.kill()
        }
        var stopped: Set<Identity> = []
        var members: [ProcessEntry] = []
        for _ in 0..<64 {
            members = liveMembers()
            let new = members.filter { !stopped.contains(Identity($0)) }
            if new.isEmpty { break }
            for member in new {
                Self.send(SIGSTOP, to: member)
                stopped.insert(Identity(member))
            }
        }
        for member in members { Self.send(SIGKILL, to: member) }
    }

    /// Stops every member, until no look finds one that still runs.
    ///
    /// The first ones first: a parent that still ran would learn that its child was stopped.
    mutating func pause() {
        var stopped: Set<Identity> = []
        for _ in 0..<64 {
            let new = liveMembers().filter { !stopped.contains(Identity($0)) }
            if new.isEmpty { break }
            for member in new {
                Self.send(SIGSTOP, to: member)
                stopped.insert(Identity(member))
            }
        }
    }

    /// Continues every member, the last ones first.
    mutating func resume() {
        for member in liveMembers().reversed() { Self.send(SIGCONT, to: member) }
    }

    /// Signals that very process, never another one that was given its id.
    private static func send(_ signal: Int32, to entry: ProcessEntry) {
        guard let handle = try? ProcessHandle(pid: entry.pid, startTime: entry.startTime) else { return }
        handle.send(signal)
    }
}

/// In which tick of the kernel's a process started, mostly known without asking for it.
///
/// A process that was started between two looks at the clock within one tick started in that tick. Whether the
/// kernel of this machine counts by that very clock is seen at the first such start; where it does not, it is
/// asked every time.
/// - Source: proc(5), field 22 of `/proc/pid/stat`; the clock is `CLOCK_BOOTTIME`.
struct StartTicks {
    private enum Trust {
        /// Becomes the one or the other at the first start within one tick.
        case open
        case proven, refuted
    }

    private let perSecond: Int
    private var trust = Trust.open

    init(perSecond: Int) {
        self.perSecond = perSecond
    }

    /// The tick of a start between the times `before` and `after`, since boot; `ask` asks the kernel.
    mutating func tick(from before: Duration, to after: Duration, ask: () -> UInt64?) -> UInt64 {
        let known = tick(before)
        guard known == tick(after), trust != .refuted else { return ask() ?? 0 }
        if trust == .proven { return known }
        guard let asked = ask() else { return 0 }
        trust = asked == known ? .proven : .refuted
        return asked
    }

    private func tick(_ time: Duration) -> UInt64 {
        let (seconds, rest) = Int(time.microseconds).quotientAndRemainder(dividingBy: 1_000_000)
        return UInt64(seconds * perSecond + rest * perSecond / 1_000_000)
    }
}
