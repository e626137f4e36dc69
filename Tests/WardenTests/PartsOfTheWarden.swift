import Glibc
import Host
import Performing
import TestSupport
import Testing
import Timeline

@testable import Warden
@testable import WardenProtocol

@Suite struct `the connections of a warden` {
    private let folder: TemporaryFolder
    private let watches: Watches
    private let connections: Connections

    init() throws {
        folder = try TemporaryFolder()
        watches = try Watches()
        connections = try Connections(
            listeningAt: folder.file("s"),
            identity: WardenHello(pid: 7, startTime: 1, bootID: "b", runs: 0), watches: watches,
            buffer: ReadBuffer())
    }

    @Test func `are at most sixteen of those that have not spoken`() throws {
        var clients: [Descriptor] = []
        var dropped: [UInt64] = []
        for _ in 1...17 {
            clients.append(try LocalSocket.connect(folder.file("s")))
            connections.accept { id in
                dropped.append(id)
                _ = connections.remove(id)
            }
        }
        #expect(dropped == [1])
        #expect(connections[1] == nil && connections[17] != nil)
    }

    @Test func `are without a daemon until one says hello, and again when it disconnects`() throws {
        let client = try LocalSocket.connect(folder.file("s"))
        connections.accept { _ in }
        #expect(connections.daemon == nil && connections.awaySince != nil && !connections.takesReports)
        connections.welcome(1)
        #expect(connections.daemon == 1 && connections.awaySince == nil && connections.takesReports)
        connections.sendHello(runs: 3)
        #expect(connections.flush() == [])
        var buffer = [UInt8](repeating: 0, count: 4096)
        var frames = FrameBuffer()
        if case .bytes(let count) = try client.read(into: &buffer) { frames.append(buffer[..<count]) }
        let frame = try #require(try frames.next())
        let hello = try WardenMessage(kind: frame.kind, frame.fields)
        #expect(hello == .hello(WardenHello(pid: 7, startTime: 1, bootID: "b", runs: 3)))
        #expect(connections.remove(1)?.wasDaemon == true)
        #expect(connections.daemon == nil && connections.awaySince != nil)
    }

    @Test func `keep the streams of a terminal until their order, or until it disconnects`() throws {
        let clients = [
            try LocalSocket.connect(folder.file("s")), try LocalSocket.connect(folder.file("s")),
        ]
        connections.accept { _ in }
        #expect(connections.attach(1, "a") && connections.attach(2, "b"))
        #expect(!connections.attach(2, "a"), "the token is in use")
        #expect(connections.heldDescriptors == 6)
        var order = ProcessOrder(
            key: RunKey(run: "r", attempt: 1), work: .shell("true"),
            output: ProcessOrder.Output(path: folder.file("o")))
        order.attachment = "a"
        #expect(try connections.takeAttachment(order)?.link == 1)
        #expect(throws: StartRefused.self) { try connections.takeAttachment(order) }
        _ = connections.remove(2)
        #expect(!connections.hasAttachments)
        withExtendedLifetime(clients) {}
    }
}

@Suite struct `the output of a run that ended` {
    private let watches: Watches
    private let late: LateOutputs
    private let pipe: (read: Descriptor, write: Descriptor)

    init() throws {
        let folder = try TemporaryFolder()
        watches = try Watches()
        let buffer = ReadBuffer()
        let connections = try Connections(
            listeningAt: folder.file("s"),
            identity: WardenHello(pid: 7, startTime: 1, bootID: "b", runs: 0), watches: watches,
            buffer: buffer)
        late = LateOutputs(watches: watches, connections: connections, buffer: buffer)
        pipe = try Descriptor.pipe(nonblockingRead: true)
        try pipe.write.setNonblocking()
    }

    /// A sink with more in it than its pipe takes.
    private func fullSink() -> OutputSink {
        let sink = OutputSink(pipe.write)
        sink.write([UInt8](repeating: 0x41, count: 1 << 20)[...])
        return sink
    }

    private func readAll() throws -> Int {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var count = 0
        while case .bytes(let more) = try pipe.read.read(into: &buffer) { count += more }
        return count
    }

    @Test func `is kept until its reader has all of it`() throws {
        late.finish(fullSink())
        #expect(late.isPassedOn && late.heldDescriptors == 1 && watches.contains(pipe.write.raw))
        var count = 0
        while late.isPassedOn {
            count += try readAll()
            late.flushLastWords(1)
        }
        count += try readAll()
        #expect(count == 1 << 20)
        #expect(late.heldDescriptors == 0 && !watches.contains(pipe.write.raw))
    }

    @Test func `is not kept where nothing waits`() {
        late.finish(OutputSink(pipe.write))
        #expect(!late.isPassedOn && !watches.contains(pipe.write.raw))
    }
}

@Suite struct `the folder of a warden` {
    private let parent: TemporaryFolder
    private let directory: String

    init() throws {
        parent = try TemporaryFolder()
        directory = parent.file("w")
    }

    @Test func `is held by one warden, and left empty`() throws {
        let folder = try WardenFolder(directory, state: nil)
        #expect(throws: HostError.self) { try WardenFolder(directory, state: nil) }
        _ = try folder.makeStore()
        folder.leave()
        #expect(unsafe access(directory, F_OK) != 0)
    }

    @Test func `is another's once this one retired, whose records went with it`() throws {
        let folder = try WardenFolder(directory, state: nil)
        let outcomes = Outcomes(store: try folder.makeStore(), hasState: false)
        let key = RunKey(run: "r", attempt: 1)
        _ = try outcomes.store.make(
            AttemptFile(key: key, bootID: "b", madeAt: Moment(seconds: 1), timeout: nil, grace: .zero))
        let listener = try LocalSocket.listen(folder.socket)
        #expect(folder.retire(outcomes) && folder.isRetired)
        #expect(outcomes.store.record(of: key)?.key == key)
        let next = try WardenFolder(directory, state: nil)
        let store = try next.makeStore()
        #expect(store.keys.isEmpty && next.retired.working == [String(getpid())])
        withExtendedLifetime(listener) {}
    }

    @Test func `stays in charge where its socket can't be moved`() throws {
        let folder = try WardenFolder(directory, state: nil)
        let outcomes = Outcomes(store: try folder.makeStore(), hasState: false)
        let key = RunKey(run: "r", attempt: 1)
        _ = try outcomes.store.make(
            AttemptFile(key: key, bootID: "b", madeAt: Moment(seconds: 1), timeout: nil, grace: .zero))
        #expect(!folder.retire(outcomes) && !folder.isRetired)
        #expect(outcomes.store.keys == [key])
    }
}

@Suite struct `earlier attempts of a run` {
    private func order(attempt: Int, grace: Duration? = nil) -> ProcessOrder {
        var order = ProcessOrder(
            key: RunKey(run: UniqueID.v7(at: .now), attempt: attempt), work: .shell("true"),
            output: ProcessOrder.Output(path: "/dev/null"))
        order.leftoverGrace = grace
        return order
    }

    @Test(arguments: [1, 2]) func `do not keep it from starting when nothing is left of them`(
        attempt: Int
    ) throws {
        let predecessors = Predecessors(groups: ControlGroups())
        try predecessors.check(order(attempt: attempt, grace: .seconds(1)))
        #expect(predecessors.deadline == nil)
    }

    @Test func `refuse it while one of their processes runs, and end that when asked`() throws {
        let predecessors = Predecessors(groups: ControlGroups())
        let order = order(attempt: 2, grace: .seconds(1000))
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        let pid = try ChildProgram(
            path: "/bin/sleep", arguments: ["sleep", "1000"],
            environment: ChildEnvironment(["BELFRY_RUN_ID": order.key.run]), folder: "/",
            descriptors: [nothing, nothing, nothing]
        ).start()
        defer {
            kill(pid, SIGKILL)
            while waitpid(pid, nil, 0) < 0, errno == EINTR {}
        }
        let refused = #expect(throws: StartRefused.self) { try predecessors.check(order) }
        #expect(refused?.refusal == .stillAlive)
        #expect(refused?.text == "process \(pid) (sleep) of an earlier attempt still runs")
        #expect(predecessors.deadline != nil)
    }
}

@Suite struct `the reports that a warden keeps` {
    private static let key = RunKey(run: "r", attempt: 1)

    private func reports(_ count: Int, bytes: Int = 1) -> KeptReports {
        var reports = KeptReports()
        for _ in 0..<count { add(to: &reports, bytes: bytes) }
        return reports
    }

    private func add(to reports: inout KeptReports, bytes: Int = 1) {
        reports.add { .report(Self.key, line: [UInt8](repeating: 0x61, count: bytes), number: $0) }
    }

    /// The numbers of the reports that are sent now.
    private func sent(_ reports: inout KeptReports) throws -> [Int] {
        try reports.takeUnsent().map { bytes in
            var buffer = FrameBuffer()
            buffer.append(bytes[...])
            let frame = try #require(try buffer.next())
            guard case .report(_, _, let number?) = try WardenMessage(kind: frame.kind, frame.fields) else {
                return 0
            }
            return number
        }
    }

    @Test func `are sent once on a connection, and all of them on the next one`() throws {
        var reports = reports(2)
        let first = try sent(&reports)
        #expect(first == [1, 2])
        #expect(!reports.hasUnsent)
        add(to: &reports)
        #expect(reports.hasUnsent)
        let second = try sent(&reports)
        #expect(second == [3])
        reports.forgetConnection()
        let again = try sent(&reports)
        #expect(again == [1, 2, 3])
    }

    @Test func `are gone once they are acknowledged, whatever was sent`() throws {
        var reports = reports(4)
        _ = reports.takeUnsent()
        reports.acknowledge(through: 3)
        // What was saved by an earlier daemon may be acknowledged once more.
        reports.acknowledge(through: 1)
        reports.forgetConnection()
        let rest = try sent(&reports)
        #expect(rest == [4])
        reports.acknowledge(through: .max)
        reports.forgetConnection()
        #expect(!reports.hasUnsent)
        let none = try sent(&reports)
        #expect(none.isEmpty)
    }

    @Test func `are the newest 64, and no more than 64 KiB`() throws {
        var many = reports(1000)
        let newest = try sent(&many)
        #expect(newest == Array(937...1000))
        var large = reports(20, bytes: 8000)
        let fitting = try sent(&large)
        #expect(fitting == Array(13...20))
    }

    @Test func `are forgotten as they are sent to a daemon that acknowledges none`() throws {
        var reports = reports(2)
        _ = reports.takeUnsent()
        reports.forgetSent()
        reports.forgetConnection()
        #expect(!reports.hasUnsent)
        add(to: &reports)
        let later = try sent(&reports)
        #expect(later == [3])
    }

    @Test func `of a run that sends more than 64 datagrams in a second are left to the daemon`() {
        var pace = DatagramPace()
        let seconds = [1000, 1001, 1002, 2000].map { Duration.seconds($0) }
        let isFast = (seconds + [.milliseconds(2_000_999)]).map { pace.note(64, at: $0) }
        #expect(isFast == [false, false, false, false, true])
    }
}
