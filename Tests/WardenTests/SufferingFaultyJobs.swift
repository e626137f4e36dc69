import Glibc
import Host
import Performing
import TestSupport
import Testing
import WardenProtocol

@testable import Warden

@Suite(.timeLimit(.minutes(5))) struct `a faulty job` {
    /// How much is printed: a gibibyte here, `BELFRY_TEST_FLOOD` says otherwise.
    static let flood = Machine.environment["BELFRY_TEST_FLOOD"].flatMap { Int($0) } ?? 1 << 30

    @Test func `that prints without end costs no more than its limit, and keeps nobody waiting`() async throws
    {
        let warden = try await WardenAtWork()
        var order = warden.order(.shell("head -c \(Self.flood) /dev/zero; echo over"), run: "flood")
        order.isOutputWatched = false
        warden.client.send(.start(order))
        try await warden.start(of: order.key)
        // Meanwhile others start, print and end.
        var other = warden.order(.shell("echo other"), run: "other")
        other.isOutputWatched = false
        #expect(try await warden.run(other).exitCode == 0)
        let record = try await warden.end(of: order.key)
        #expect(record.outputBytes == Self.flood + 5)
        let log = OutputLog(path: order.output.path)
        var kept = 0
        for offset in try log.pieceOffsets() { kept += try fileSize(log.file(offset)) }
        #expect(kept <= 2 << 20)
        #expect(kept >= (2 << 20) - (1 << 18))
        let end = try log.read(from: Self.flood)
        #expect(end.bytes == Array("over\n".utf8))
    }

    @Test func `that closes its output continues, and its end is seen`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(.shell("echo before; exec >&- 2>&- <&-; mkfifo go; read line < go; exit 6"))
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "before")
        #expect(
            try await Shell.run("until [ -p go ]; do sleep 0.01; done; echo > go", in: warden.folder.path)
                == 0)
        #expect(try await warden.end(of: order.key).exitCode == 6)
        #expect(try warden.log(of: order) == "before\n")
    }

    @Test func `that ends at once is reported whole`() async throws {
        let warden = try await WardenAtWork()
        for number in 0..<20 {
            let order = warden.order(.command(["echo", "x"]), run: "quick-\(number)")
            let record = try await warden.run(order)
            #expect(record.exitCode == 0 && record.outputBytes == 2)
            #expect(try warden.log(of: order) == "x\n")
        }
    }

    @Test func `whose process number was given to a stranger leaves the stranger alone`() async throws {
        let folder = try TemporaryFolder()
        try PrivateFolder.make(folder.file("w/runs"))
        // The record of a killed warden names our own process, as it would be after process ids wrapped around.
        let stranger = getpid()
        let key = RunKey(run: "reused", attempt: 1)
        let record = AttemptFile(
            key: key, bootID: try Machine.bootID(), madeAt: .now, timeout: .milliseconds(1), grace: .zero)
        let begun = AttemptFile.Started(pid: stranger, startTime: 1, at: .now, instant: .zero)
        try SmallFile.replace(folder.file("w/runs/\(key)"), with: record.makingFrame + begun.frame)
        let client = try WardenClient(directory: folder.file("w"))
        let hello = try await client.connect(
            launching: WardenLaunch(executable: try BuiltProgram.path("belfry-warden"), tiedTo: getpid()))
        defer { kill(hello.pid, SIGKILL) }
        #expect(hello.runs == 0)
        client.send(.cancel(key, reason: "requested"))
        client.send(.signal(key, number: Int(SIGKILL)))
        for await event in client.events {
            if case .ended(let ended) = event {
                #expect(ended.cause == .lost)
                #expect(ended.pid == stranger)
                break
            }
        }
    }

    @Test func `is ended with the process that its warden is tied to`() async throws {
        let folder = try TemporaryFolder()
        let life = try ChildProcess("sleep", ["1000"])
        let client = try WardenClient(directory: folder.file("w"))
        let hello = try await client.connect(
            launching: WardenLaunch(executable: try BuiltProgram.path("belfry-warden"), tiedTo: life.pid))
        let warden = try ProcessHandle(pid: hello.pid, startTime: hello.startTime)
        let key = RunKey(run: UniqueID.v4(), attempt: 1)
        client.send(
            .start(
                ProcessOrder(
                    key: key, work: .shell("setsid sleep 1000 & exec sleep 1000"),
                    output: .init(path: folder.file("o")))))
        var job: Int32 = 0
        var startTime: UInt64 = 0
        for await event in client.events {
            guard case .started(key, let process?, _) = event else { continue }
            (job, startTime) = (process.pid, process.startTime)
            break
        }
        let handle = try ProcessHandle(pid: job, startTime: startTime)
        life.signal(SIGKILL)
        #expect(await Shell.waitForEnd(of: handle))
        #expect(await Shell.waitForEnd(of: warden))
    }

    private func fileSize(_ path: String) throws -> Int {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw HostError.last("stat", path) }
        return Int(status.st_size)
    }
}
