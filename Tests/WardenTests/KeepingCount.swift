import Host
import Performing
import TestSupport
import Testing
import Timeline

@testable import Warden

@Suite struct `the outcomes a warden keeps` {
    private let folder: TemporaryFolder
    private let key = RunKey(run: "r", attempt: 1)

    init() throws { folder = try TemporaryFolder() }

    private func outcomes(hasState: Bool = true) throws -> Outcomes {
        try PrivateFolder.make(folder.file("state"))
        return Outcomes(
            store: try RecordStore(
                directory: folder.path, state: hasState ? folder.file("state") : nil), hasState: hasState)
    }

    private func record(_ attempt: Int, endedAt seconds: Int64 = 2) -> ExitRecord {
        ExitRecord(
            key: RunKey(run: "r", attempt: attempt), cause: .exited, exitCode: 0, pid: 7,
            startedAt: Moment(seconds: 1), endedAt: Moment(seconds: seconds))
    }

    @Test func `come in the order in which they ended, until they are acknowledged`() throws {
        let outcomes = try outcomes()
        outcomes.add(Outcomes.Ended(record: record(1, endedAt: 9)))
        outcomes.add(Outcomes.Ended(record: record(2, endedAt: 5)))
        #expect(outcomes.inOrder.map(\.record.key.attempt) == [2, 1])
        outcomes.acknowledge(RunKey(run: "r", attempt: 2))
        #expect(outcomes.inOrder.map(\.record.key.attempt) == [1] && !outcomes.isEmpty)
    }

    @Test func `are saved once no daemon was there for two seconds, and read by the next warden`() throws {
        let outcomes = try outcomes()
        #expect(outcomes.saveDeadline(awaySince: .seconds(10)) == nil)
        outcomes.add(Outcomes.Ended(record: record(1)))
        #expect(outcomes.saveDeadline(awaySince: nil) == nil)
        #expect(outcomes.saveDeadline(awaySince: .seconds(10)) == .seconds(12))
        outcomes.save()
        #expect(outcomes.saveDeadline(awaySince: .seconds(10)) == nil)
        let next = try self.outcomes()
        next.readSaved()
        #expect(next[key]?.record == record(1) && next[key]?.isSaved == true)
        next.acknowledge(key)
        let last = try self.outcomes()
        last.readSaved()
        #expect(last.isEmpty)
    }

    @Test func `are saved nowhere without a state`() throws {
        let outcomes = try outcomes(hasState: false)
        outcomes.add(Outcomes.Ended(record: record(1)))
        #expect(outcomes.saveDeadline(awaySince: .seconds(10)) == nil)
    }
}

@Suite struct `a warden's end` {
    @Test func `comes ten seconds after the last run or daemon`() {
        var phase = WardenPhase()
        #expect(phase.idleDeadline == nil)
        phase.note(isIdle: true, at: .seconds(5))
        phase.note(isIdle: true, at: .seconds(9))
        #expect(phase.idleDeadline == .seconds(15))
        phase.note(isIdle: false, at: .seconds(11))
        #expect(phase.idleDeadline == nil)
        phase.note(isIdle: true, at: .seconds(12))
        #expect(phase.idleDeadline == .seconds(22))
    }
}

@Suite struct `the runs a warden holds` {
    private func run(_ id: String, pid: Int32) -> Run {
        Run(
            key: RunKey(run: id, attempt: 1), pid: pid, startTime: 1, startedAt: Moment(seconds: 1),
            startedInstant: .seconds(1),
            ladder: StopLadder(startedAt: .seconds(1), timeout: nil, grace: .seconds(1)),
            tree: ProcessTree(leader: pid, startTime: 1, mark: "BELFRY_RUN_ID=\(id)", reaper: nil))
    }

    @Test func `are found by their first process until that has ended`() {
        let runs = RunTable()
        let run = run("a", pid: 11)
        runs.add(run)
        #expect(runs.isLeader(11))
        #expect(runs.removeLeader(11) === run && runs.removeLeader(11) == nil)
        #expect(runs[run.key] === run && runs.count == 1)
        runs.remove(run)
        #expect(runs.isEmpty)
    }

    @Test func `of an earlier warden have no child here`() {
        let runs = RunTable()
        runs.adopt(run("a", pid: 11))
        #expect(!runs.isLeader(11) && runs.count == 1)
    }

    @Test func `of this round are watched at its end if they still live`() {
        let runs = RunTable()
        let (short, long) = (run("a", pid: 11), run("b", pid: 12))
        for run in [short, long] {
            runs.add(run)
            runs.addFresh(run)
        }
        runs.remove(short)
        #expect(runs.hasFresh)
        let fresh = runs.removeFresh()
        #expect(fresh.count == 1 && fresh.first === long && !runs.hasFresh)
    }
}
