import Glibc
import Host
import Performing
import TestSupport
import Testing
import WardenProtocol

@testable import Warden

@Suite(.timeLimit(.minutes(5))) struct `the warden` {
    @Test func `keeps a job running without a daemon, and hands it to the next one`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(.shell("mkfifo go; read line < go; exit 5"))
        warden.client.send(.start(order))
        let pid = try await warden.start(of: order.key)
        await warden.hangUp()
        try await warden.comeBack()
        #expect(warden.hello.runs == 1)
        #expect(try await warden.start(of: order.key) == pid)
        try await warden.until { $0 == .caughtUp }
        #expect(
            try await Shell.run("until [ -p go ]; do sleep 0.01; done; echo > go", in: warden.folder.path)
                == 0)
        #expect(try await warden.end(of: order.key).exitCode == 5)
    }

    @Test func `reports an outcome on every connection until it is acknowledged`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(.shell("exit 4"))
        let record = try await warden.run(order)
        for _ in 0..<2 {
            await warden.hangUp()
            try await warden.comeBack()
            #expect(try await warden.until { $0 == .caughtUp } == [.ended(record), .caughtUp])
        }
        warden.client.send(.acknowledge(order.key))
        warden.client.send(.query(order.key))
        try await warden.until { $0 == .unknown(order.key) }
        #expect(try Folder.names(in: warden.folder.file("w/runs")).isEmpty)
        await warden.hangUp()
        try await warden.comeBack()
        #expect(try await warden.until { $0 == .caughtUp } == [.caughtUp])
    }

    @Test func `leaves nothing behind when it ends without an outcome`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(.shell("exit 4"))
        try await warden.run(order)
        warden.client.send(.acknowledge(order.key))
        warden.client.send(.query(order.key))
        try await warden.until { $0 == .unknown(order.key) }
        kill(warden.hello.pid, SIGTERM)
        let folder = warden.folder.file("w")
        #expect(try await Shell.run("while [ -e \(folder) ]; do sleep 0.05; done") == 0)
        await warden.hangUp()
        try await warden.comeBack(launching: true)
        try await warden.until { $0 == .caughtUp }
    }

    @Test func `saves an outcome that nobody fetches, and forgets it when acknowledged`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(.shell("exit 4"))
        let record = try await warden.run(order)
        await warden.hangUp()
        let saved = warden.folder.file("state/warden/\(order.key)")
        #expect(try await Shell.run("until [ -e \(saved) ]; do sleep 0.05; done") == 0)
        #expect(try ExitRecord(fileBytes: SmallFile.read(saved)) == record)

        // The machine restarts: the runtime folder is empty, the state is not.
        kill(warden.hello.pid, SIGKILL)
        #expect(try await Shell.run("rm -r \(warden.folder.file("w"))") == 0)
        try await warden.comeBack(launching: true)
        #expect(try await warden.until { $0 == .caughtUp } == [.ended(record), .caughtUp])
        warden.client.send(.acknowledge(order.key))
        warden.client.send(.query(order.key))
        try await warden.until { $0 == .unknown(order.key) }
        #expect(try Folder.names(in: warden.folder.file("state/warden")).isEmpty)
    }

    @Test func `reports a job of a killed warden as lost, once it has ended`() async throws {
        let warden = try await WardenAtWork()
        let long = warden.order(.shell("exec sleep 1000"), run: "long-" + UniqueID.v4())
        let short = warden.order(.shell("exec sleep 1000"), run: "short-" + UniqueID.v4())
        warden.client.send(.start(long))
        warden.client.send(.start(short))
        let alive = try await warden.start(of: long.key)
        let dead = try await warden.start(of: short.key)
        let killed = try ProcessHandle(pid: warden.hello.pid, startTime: warden.hello.startTime)
        killed.send(SIGKILL)
        try await warden.until { $0 == .disconnected }
        kill(-dead, SIGKILL)
        try await warden.comeBack(launching: true)
        #expect(try await warden.start(of: long.key) == alive)
        let lost = try await warden.end(of: short.key)
        #expect(lost.cause == .lost)
        #expect(lost.exitCode == nil && lost.signal == nil)
        // It is ours to end, though somebody else's child.
        warden.client.send(.cancel(long.key, reason: "requested"))
        #expect(try await warden.end(of: long.key).cause == .canceled)
        #expect(ProcessTable.entry(alive)?.isZombie ?? true)
        warden.client.send(.start(long))
        #expect(try await warden.end(of: long.key).pid == alive)
    }

    @Test(arguments: [[], ["--no-control-groups"]])
    func `ends what a lost job left behind, and only then tries it again`(options: [String]) async throws {
        let warden = try await WardenAtWork(options: options)
        // One that bears the run's id, one of its session that does not, and one that will not go when asked.
        let order = warden.order(
            .shell(
                """
                (setsid sh -c 'echo $$ > marked; exec sleep 1000' &)
                (env -i sleep 1000 & echo $! > bare)
                trap '' TERM
                (sleep 1000 & echo $! > deaf)
                trap - TERM
                echo up
                exec sleep 1000
                """), run: UniqueID.v4(), grace: .milliseconds(50))
        warden.client.send(.start(order))
        let dead = try await warden.start(of: order.key)
        try await warden.output(of: order.key, contains: "up")
        let left = try await warden.processes(named: ["marked", "bare", "deaf"])
        try ProcessHandle(pid: warden.hello.pid, startTime: warden.hello.startTime).send(SIGKILL)
        try await warden.until { $0 == .disconnected }
        let leader = try ProcessHandle(
            pid: dead, startTime: try #require(ProcessTable.entry(dead)).startTime)
        leader.send(SIGKILL)
        // A signal takes its time, and the next warden must not see the end.
        #expect(await Shell.waitForEnd(of: leader))
        try await warden.comeBack(launching: true)
        let lost = try await warden.end(of: order.key)
        #expect(lost.cause == .lost && lost.pid == dead && lost.elapsed == nil)
        #expect(lost.survivors.isEmpty)
        #expect(left.allSatisfy { !ProcessTable.isAlive(pid: $0.pid, startTime: $0.startTime) })
        var again = order
        again.key.attempt = 2
        again.work = .shell("exit 6")
        warden.client.send(.acknowledge(order.key))
        #expect(try await warden.run(again).exitCode == 6)
    }

    @Test(arguments: [[], ["--no-control-groups"]])
    func `ends what a lost job left behind that ended before its eyes`(options: [String]) async throws {
        let warden = try await WardenAtWork(options: options)
        let order = warden.order(
            .shell(
                """
                trap '' TERM
                (setsid sh -c 'echo $$ > left; echo up; exec sleep 1000' &)
                mkfifo go; read line < go
                """), run: UniqueID.v4(), grace: .milliseconds(50))
        warden.client.send(.start(order))
        try await warden.start(of: order.key)
        try await warden.output(of: order.key, contains: "up")
        let left = try await warden.processes(named: ["left"])
        try ProcessHandle(pid: warden.hello.pid, startTime: warden.hello.startTime).send(SIGKILL)
        try await warden.until { $0 == .disconnected }
        try await warden.comeBack(launching: true)
        try await warden.start(of: order.key)
        #expect(
            try await Shell.run("until [ -p go ]; do sleep 0.01; done; echo > go", in: warden.folder.path)
                == 0)
        let lost = try await warden.end(of: order.key)
        #expect(lost.cause == .lost && lost.survivors.isEmpty)
        #expect(left.allSatisfy { !ProcessTable.isAlive(pid: $0.pid, startTime: $0.startTime) })
    }

    @Test func `keeps the timeout of a job whose warden was killed`() async throws {
        let folder = try TemporaryFolder()
        try PrivateFolder.make(folder.file("w/runs"))
        let job = try ChildProcess("sleep", ["1000"])
        let record = AttemptFile(
            key: RunKey(run: UniqueID.v4(), attempt: 1), bootID: try Machine.bootID(), madeAt: .now,
            timeout: .milliseconds(1), grace: .seconds(10))
        let begun = AttemptFile.Started(
            pid: job.pid, startTime: try #require(ProcessTable.entry(job.pid)).startTime, at: .now,
            instant: .sinceBoot)
        try SmallFile.replace(
            folder.file("w/runs/\(record.key)"), with: record.makingFrame + begun.frame)
        let client = try WardenClient(directory: folder.file("w"))
        let hello = try await client.connect(
            launching: WardenLaunch(executable: try BuiltProgram.path("belfry-warden"), tiedTo: getpid()))
        defer { kill(hello.pid, SIGKILL) }
        for await event in client.events {
            guard case .ended(let ended) = event else { continue }
            #expect(ended.cause == .timeout && ended.pid == job.pid)
            break
        }
        #expect(!ProcessTable.isAlive(pid: begun.pid, startTime: begun.startTime))
    }

    @Test func `reports a job as lost whose record does not even name its process`() async throws {
        let folder = try TemporaryFolder()
        try PrivateFolder.make(folder.file("w/runs"))
        let boot = try Machine.bootID()
        for (run, bootID) in [("now", boot), ("before", "another-boot")] {
            let record = AttemptFile(
                key: RunKey(run: run, attempt: 1), bootID: bootID, madeAt: .now, timeout: nil, grace: .zero)
            try SmallFile.replace(folder.file("w/runs/\(run).1"), with: record.makingFrame + [1, 2])
        }
        try SmallFile.replace(folder.file("w/runs/broken.1"), with: [7])
        let client = try WardenClient(directory: folder.file("w"))
        let hello = try await client.connect(
            launching: WardenLaunch(executable: try BuiltProgram.path("belfry-warden"), tiedTo: getpid()))
        defer { kill(hello.pid, SIGKILL) }
        var lost: Set<String> = []
        for await event in client.events {
            if case .ended(let record) = event, record.cause == .lost { lost.insert(record.key.run) }
            if event == .caughtUp { break }
        }
        #expect(lost == ["now", "before"])
    }

    @Test func `names who holds its directory`() async throws {
        let warden = try await WardenAtWork()
        let folder = warden.folder.file("w")
        let executable = warden.launch.executable
        #expect(
            try await Shell.run("\(executable) --directory \(folder) 2> refused", in: warden.folder.path) == 1
        )
        #expect(
            try SmallFile.text(warden.folder.file("refused"))
                == "belfry-warden: \(folder) is in use by process \(warden.hello.pid)")
    }

    @Test func `ends on TERM when its last run has ended, and not before`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(.shell("mkfifo go; read line < go"))
        warden.client.send(.start(order))
        let job = try await warden.start(of: order.key)
        let process = try ProcessHandle(pid: warden.hello.pid, startTime: warden.hello.startTime)
        process.send(SIGTERM)
        // It leaves its folder, and a daemon that comes finds another one in charge, and the run.
        try await warden.until { $0 == .disconnected }
        let first = warden.hello.pid
        try await warden.comeBack(launching: true)
        #expect(warden.hello.pid != first)
        #expect(warden.hello.runs == 1)
        #expect(try await warden.start(of: order.key) == job)
        try await warden.until { $0 == .caughtUp }
        #expect(
            try await Shell.run("until [ -p go ]; do sleep 0.01; done; echo > go", in: warden.folder.path)
                == 0)
        #expect(try await warden.end(of: order.key).exitCode == 0)
        #expect(await Shell.waitForEnd(of: process))
        #expect(try Folder.names(in: warden.folder.file("w")).contains("warden.sock"))
    }

    @Test func `that nobody launched is missed with a sentence`() async throws {
        let folder = try TemporaryFolder()
        let client = try WardenClient(directory: folder.file("w"))
        await #expect(throws: WardenError.self) { try await client.connect() }
        let launch = WardenLaunch(executable: folder.file("no-such-warden"))
        await #expect(throws: WardenError.self) { try await client.connect(launching: launch) }
    }

    @Test func `cannot be reached through a client that was closed`() async throws {
        let warden = try await WardenAtWork()
        await warden.hangUp()
        await #expect(throws: WardenError.hungUp) { try await warden.client.connect() }
    }

    @Test func `that was launched ends by itself without run and daemon`() async throws {
        let warden = try await WardenAtWork()
        let record = try await warden.run(warden.order(.command(["true"])))
        let process = try ProcessHandle(pid: warden.hello.pid, startTime: warden.hello.startTime)
        await warden.hangUp()
        #expect(await Shell.waitForEnd(of: process))
        #expect(
            try ExitRecord(fileBytes: SmallFile.read(warden.folder.file("state/warden/\(record.key)")))
                == record)
    }

    @Test func `refuses a directory that is not its own, and reports it to who launched it`() async throws {
        let folder = try TemporaryFolder()
        try PrivateFolder.make(folder.file("w"))
        #expect(unsafe chmod(folder.file("w"), 0o777) == 0)
        let client = try WardenClient(directory: folder.file("w"))
        let launch = WardenLaunch(executable: try BuiltProgram.path("belfry-warden"), tiedTo: getpid())
        do {
            _ = try await client.connect(launching: launch)
            Issue.record("it was launched")
        } catch {
            #expect("\(error)".contains("others may write to it"))
        }
    }
}
