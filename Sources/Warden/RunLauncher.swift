import Glibc
import Host
import Performing
import Timeline
import WardenProtocol

/// Makes a run of an order: checks that it may start, makes its record and its control group, and starts it.
final class RunLauncher {
    /// How many descriptors this process may have open.
    ///
    /// Not raised: jobs inherit it, and some programs break on a large one.
    private let descriptorLimit: Int
    private let bootID: String
    private let runs: RunTable
    private let outcomes: Outcomes
    let groups: ControlGroups
    let predecessors: Predecessors
    private var starter: RunStarter

    init(
        _ starter: RunStarter, bootID: String, runs: RunTable, outcomes: Outcomes, groups: ControlGroups
    ) throws(HostError) {
        descriptorLimit = try DescriptorLimit.current()
        self.bootID = bootID
        self.runs = runs
        self.outcomes = outcomes
        self.groups = groups
        predecessors = Predecessors(groups: groups)
        self.starter = starter
    }

    /// Refuses a run that would leave no descriptors for the daemon's connections and for records.
    ///
    /// A run holds seven at most and with a terminal attached ten; `others` are those held for anything but runs.
    func checkRoom(besides others: Int) throws(StartRefused) {
        let terminals = runs.values.count { $0.terminal != nil }
        guard 7 * (runs.count + 1) + 3 * terminals + others + 64 <= descriptorLimit else {
            throw StartRefused(
                .exhausted, "\(runs.count) runs use up the warden's \(descriptorLimit) descriptors")
        }
    }

    /// Starts the order's process on the streams that were offered for it.
    func start(_ order: ProcessOrder, _ attachment: Attachment?) throws(StartRefused) -> Run {
        let key = order.key
        try predecessors.check(order)
        var group = groups.make(for: key)
        let record: Descriptor
        let started: RunStarter.Started
        do throws(StartRefused) {
            record = try makeRecord(
                AttemptRecord(
                    key: key, bootID: bootID, madeAt: .now, timeout: order.timeout, grace: order.grace,
                    group: group))
            started = try start(order, attachment, in: &group)
        } catch {
            outcomes.store.remove(key, isSaved: false)
            if let group { _ = groups.remove(group) }
            throw error
        }
        return add(started, of: order, group, record)
    }

    /// Starts it in its control group; when the kernel does not want that, without one, and so from then on.
    private func start(
        _ order: ProcessOrder, _ attachment: Attachment?, in group: inout ControlGroup?
    ) throws(StartRefused) -> RunStarter.Started {
        guard let folder = (try? group?.open()) ?? nil else { return try starter.start(order, attachment) }
        do throws(StartRefused) {
            return try starter.start(order, attachment, in: folder)
        } catch {
            guard error.isOfControlGroup else { throw error }
            group?.remove()
            group = nil
            groups.giveUp()
            return try starter.start(order, attachment)
        }
    }

    private func add(
        _ started: RunStarter.Started, of order: ProcessOrder, _ group: ControlGroup?, _ record: Descriptor
    ) -> Run {
        let now = Duration.sinceBoot
        let run = Run(
            key: order.key, pid: started.pid, startTime: started.startTime, startedAt: .now,
            startedInstant: now,
            ladder: StopLadder(startedAt: now, timeout: order.timeout, grace: order.grace),
            tree: ProcessTree(
                leader: started.pid, startTime: started.startTime, mark: ProcessTree.mark(of: order.key.run),
                reaper: getpid(), group: group))
        run.pipes = started.pipes
        run.record = record
        runs.add(run)
        // The record may fail from here on; the process runs, and the memory knows it.
        let begun = AttemptRecord.Started(
            pid: run.pid, startTime: run.startTime, at: run.startedAt, instant: now)
        try? record.writeAll(begun.frame[...])
        return run
    }

    private func makeRecord(_ record: AttemptRecord) throws(StartRefused) -> Descriptor {
        do throws(HostError) {
            return try outcomes.store.make(record)
        } catch {
            throw StartRefused(error)
        }
    }
}

/// What earlier attempts left running, and what is being ended of it.
final class Predecessors {
    /// How many processes a refusal names.
    private static let most = 3

    private let groups: ControlGroups
    /// What is being ended, by the run's id.
    private var endings: [String: (tree: ProcessTree, ladder: StopLadder)] = [:]

    init(groups: ControlGroups) { self.groups = groups }

    /// Refuses an attempt while a process of an earlier one still runs: its work would be done twice at a time.
    ///
    /// An order with a `leftoverGrace` also ends those processes.
    func check(_ order: ProcessOrder) throws(StartRefused) {
        let key = order.key
        guard key.attempt > 1 else { return }
        let left = processes(of: key.run)
        guard !left.isEmpty else {
            endings[key.run] = nil
            return
        }
        if let grace = order.leftoverGrace { end(key.run, grace: grace, at: .sinceBoot) }
        throw StartRefused(.stillAlive, Self.sentence(about: left))
    }

    /// When ``advance(to:)`` has something to do, since boot; nil: never.
    var deadline: Duration? { endings.values.compactMap(\.ladder.deadline).min() }

    /// Kills what did not end on request.
    func advance(to now: Duration) {
        for (run, var ending) in endings where ending.ladder.deadline.map({ $0 <= now }) ?? false {
            ending.tree.obey(ending.ladder.advance(to: now))
            let isDone = ending.ladder.rung == .given || ending.tree.liveMembers().isEmpty
            endings[run] = isDone ? nil : ending
        }
    }

    /// Begins to end the run's processes, unless that is under way; after `grace` they are killed.
    private func end(_ run: String, grace: Duration, at now: Duration) {
        guard endings[run] == nil else { return }
        let tree = ProcessTree(
            leader: -1, startTime: 0, mark: ProcessTree.mark(of: run), reaper: nil,
            group: groups.group(leftBy: run))
        var ending = (tree: tree, ladder: StopLadder(startedAt: now, timeout: nil, grace: grace))
        ending.tree.obey(ending.ladder.lose(at: now))
        endings[run] = ending
    }

    /// The processes of earlier attempts of the run: those that bear its mark, and those in its control groups.
    private func processes(of run: String) -> [ProcessEntry] {
        let mark = ProcessTree.mark(of: run)
        let grouped = groups.processes(leftBy: run)
        return ((try? ProcessTable.all()) ?? []).filter {
            !$0.isZombie && (grouped.contains($0.pid) || ProcessTable.process($0.pid, wasStartedWith: mark))
        }
    }

    private static func sentence(about left: [ProcessEntry]) -> String {
        let named = left.prefix(most).map { "\($0.pid) (\($0.name))" }.joined(separator: ", ")
        let more = left.count > most ? " and \(left.count - most) more" : ""
        return left.count == 1
            ? "process \(named) of an earlier attempt still runs"
            : "processes \(named)\(more) of an earlier attempt still run"
    }
}
