import Host
import Testing

@testable import Warden
@testable import WardenProtocol

@Suite struct `a run's process tree` {
    /// Nothing but a table: pid, parent, group, session, start time.
    private func process(
        _ pid: Int32, parent: Int32, group: Int32, session: Int32, at startTime: UInt64, state: String = "S"
    ) -> ProcessEntry {
        ProcessEntry(
            pid: pid, parent: parent, group: group, session: session, startTime: startTime,
            state: Array(state.utf8)[0])
    }

    private func members(_ tree: inout ProcessTree, _ table: [ProcessEntry], marked: Set<Int32> = [])
        -> [Int32]
    {
        tree.members(among: table) { marked.contains($0) }.map(\.pid)
    }

    @Test func `has everything below the leader, also in other sessions`() {
        var tree = ProcessTree(leader: 100, startTime: 50, mark: "", reaper: 7)
        let table = [
            process(7, parent: 1, group: 7, session: 7, at: 1),
            process(100, parent: 7, group: 100, session: 100, at: 50),
            process(101, parent: 100, group: 100, session: 100, at: 51),
            process(102, parent: 101, group: 102, session: 102, at: 52),
            process(103, parent: 102, group: 102, session: 102, at: 53, state: "Z"),
            process(200, parent: 7, group: 200, session: 200, at: 60),
        ]
        #expect(members(&tree, table) == [100, 101, 102])
    }

    @Test func `keeps the processes seen in it when the leader has ended`() {
        var tree = ProcessTree(leader: 100, startTime: 50, mark: "", reaper: 7)
        _ = members(
            &tree,
            [
                process(100, parent: 7, group: 100, session: 100, at: 50),
                process(102, parent: 100, group: 102, session: 102, at: 52),
            ])
        let later = [
            process(102, parent: 7, group: 102, session: 102, at: 52),
            process(104, parent: 102, group: 104, session: 104, at: 70),
        ]
        #expect(members(&tree, later) == [102, 104])
    }

    @Test func `takes in a marked process only from where orphans go`() {
        var tree = ProcessTree(leader: 100, startTime: 50, mark: "", reaper: 7)
        let table = [
            process(300, parent: 7, group: 300, session: 300, at: 80),
            process(301, parent: 9, group: 301, session: 301, at: 81),
        ]
        #expect(members(&tree, table, marked: [300, 301]) == [300])
        var inherited = ProcessTree(leader: 100, startTime: 50, mark: "", reaper: nil)
        #expect(members(&inherited, table, marked: [300, 301]) == [300, 301])
    }

    @Test func `never has a stranger that was given a used id`() {
        var tree = ProcessTree(leader: 100, startTime: 50, mark: "", reaper: 7)
        // An older session that happens to have the number, and a newer process with the leader's id.
        let table = [
            process(90, parent: 1, group: 100, session: 100, at: 40),
            process(100, parent: 1, group: 5, session: 5, at: 99),
        ]
        #expect(members(&tree, table) == [])
    }

    @Test func `never has the session of a stranger that was given the leader's id`() {
        var tree = ProcessTree(leader: 100, startTime: 50, mark: "", reaper: 7)
        let child = process(102, parent: 1, group: 100, session: 100, at: 99)
        #expect(members(&tree, [child]) == [102])
        var other = ProcessTree(leader: 100, startTime: 50, mark: "", reaper: 7)
        #expect(members(&other, [process(100, parent: 1, group: 100, session: 100, at: 98), child]) == [])
    }
}

@Suite struct `the tick of a start` {
    private var ticks = StartTicks(perSecond: 100)
    private let noon = Duration.seconds(43_200)

    /// What is said of a start between two times, milliseconds after noon, and whether the kernel was asked.
    private mutating func start(_ from: Int, _ to: Int, kernel: UInt64?) -> (tick: UInt64, isAsked: Bool) {
        var isAsked = false
        let tick = ticks.tick(from: noon + .milliseconds(from), to: noon + .milliseconds(to)) {
            isAsked = true
            return kernel
        }
        return (tick, isAsked)
    }

    @Test mutating func `is asked for once, and known after that when it was right`() {
        #expect(start(11, 12, kernel: 4_320_001) == (4_320_001, true))
        #expect(start(25, 29, kernel: nil) == (4_320_002, false))
        #expect(start(30, 30, kernel: nil) == (4_320_003, false))
    }

    @Test mutating func `is asked for when the clock left it during the start`() {
        #expect(start(11, 12, kernel: 4_320_001) == (4_320_001, true))
        #expect(start(19, 20, kernel: 4_320_002) == (4_320_002, true))
        #expect(start(19, 20, kernel: 4_320_001) == (4_320_001, true))
        #expect(start(21, 22, kernel: nil) == (4_320_002, false))
    }

    @Test mutating func `is asked for every time where the kernel counts by another clock`() {
        #expect(start(11, 12, kernel: 77) == (77, true))
        #expect(start(13, 14, kernel: 4_320_001) == (4_320_001, true))
        #expect(start(15, 16, kernel: 78) == (78, true))
    }

    @Test mutating func `proves nothing when the kernel does not answer`() {
        #expect(start(11, 12, kernel: nil) == (0, true))
        #expect(start(13, 14, kernel: 77) == (77, true))
        #expect(start(15, 16, kernel: 78) == (78, true))
    }
}

@Suite struct `the kernel's figure of a child's largest size` {
    @Test(
        arguments: [
            (50_000, 10_000, 50_000), (11_025, 10_000, 11_025), (11_024, 10_000, nil), (10_000, 10_000, nil),
            (3000, 10_000, nil), (50_000, nil, nil),
        ] as [(Int, Int?, Int?)])
    func `is the child's only above what its parent had been`(said: Int, own: Int?, known: Int?) {
        var size = OwnSize { own }
        let result = size.known(said)
        #expect(result == known)
    }

    @Test func `is compared with a parent that has grown since the last child`() {
        var sizes = [10_000, 40_000]
        var size = OwnSize { sizes.removeFirst() }
        // The third is below what is known already: no need to look again.
        let known = [20_000, 30_000, 30_000].map { size.known($0) }
        #expect(known == [20_000, nil, nil] && sizes.isEmpty)
    }
}

@Suite struct `who reports on a run's socket` {
    /// Below the warden, 7: the run's shell, 100, with a child, 101; another run, 200; one with a title of its own, 300.
    ///
    /// Beside it a login, 50, with a shell, 51, and what that started, 52; below the run's shell a program of another user, 102, with
    /// a child, 103.
    private static let parents: [Int32: Int32] = [
        7: 1, 100: 7, 101: 100, 200: 7, 300: 7, 50: 1, 51: 50, 52: 51, 102: 100, 103: 102,
    ]
    private static let marks: [Int32: ProcessTable.Mark] = [
        7: .other, 100: .same, 101: .none, 200: .other, 300: .none, 51: .none, 52: .none, 103: .none,
    ]

    @Test(
        arguments: [
            (100, true), (101, true), (103, true), (300, true), (7, true), (102, true), (200, false),
            (51, false),
            (52, false), (999, true),
        ] as [(Int32, Bool)])
    func `is told by what it was started with, and by those above it`(sender: Int32, counts: Bool) {
        let isOurs = NotifySender.isOurs(
            sender, mark: { Self.marks[$0] },
            entry: { pid in
                Self.parents[pid].map {
                    ProcessEntry(
                        pid: pid, parent: $0, group: pid, session: pid, startTime: 1,
                        state: UInt8(ascii: "S"))
                }
            }, isWarden: { $0.pid == 7 })
        #expect(isOurs == counts)
    }
}
