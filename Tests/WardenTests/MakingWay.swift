import Glibc
import Host
import Performing
import TestSupport
import Testing
import WardenProtocol

@Suite(.timeLimit(.minutes(5))) struct `a newer warden` {
    /// Another build of the same program, as far as anybody can see.
    private func newer(_ warden: WardenAtWork) throws -> WardenLaunch {
        let copy = warden.folder.file("newer")
        #expect(try Shell.run("cp \(BuiltProgram.path("belfry-warden")) \(copy)") == 0)
        var launch = WardenLaunch(executable: copy, state: warden.folder.file("state"), tiedTo: getpid())
        launch.startTimeout = .seconds(60)
        return launch
    }

    private func running(_ warden: WardenAtWork, _ run: String) -> ProcessOrder {
        warden.order(
            .shell("mkfifo \(run); read line < \(run); systemd-notify --status=still-here; exit 5"),
            run: run)
    }

    private func release(_ warden: WardenAtWork, _ run: String) async throws {
        let gate = "until [ -p \(run) ]; do sleep 0.01; done; echo > \(run)"
        #expect(try await Shell.run(gate, in: warden.folder.path) == 0)
    }

    @Test func `takes new runs, while the older one finishes its own and ends`() async throws {
        let warden = try await WardenAtWork()
        let old = running(warden, "old-" + UniqueID.v4())
        warden.client.send(.start(old))
        let job = try await warden.start(of: old.key)
        let first = try ProcessHandle(pid: warden.hello.pid, startTime: warden.hello.startTime)
        let firstID = warden.hello.pid

        await warden.hangUp()
        try await warden.comeBack(with: newer(warden))
        #expect(warden.hello.pid != firstID)
        #expect(warden.hello.runs == 1)
        let messages = try await warden.until { $0 == .caughtUp }
        #expect(
            messages.contains {
                if case .started(old.key, let process, _) = $0 { process?.pid == job } else { false }
            })
        #expect(try await warden.run(warden.order(.command(["true"]), run: "new")).exitCode == 0)

        // What the older one's run says, how it is ended and that it has ended all go the old way.
        try await release(warden, old.key.run)
        var said = false
        try await warden.until { event in
            if case .notify(old.key, _, _) = event { said = true }
            if case .ended(let record) = event, record.key == old.key { return record.exitCode == 5 }
            return false
        }
        #expect(said)
        warden.client.send(.acknowledge(old.key))
        #expect(await Shell.waitForEnd(of: first))
        #expect(try Folder.names(in: warden.folder.file("w/old")).isEmpty)
        warden.client.send(.query(old.key))
        try await warden.until { $0 == .unknown(old.key) }
    }

    @Test func `can cancel a run of the older one`() async throws {
        let warden = try await WardenAtWork()
        let old = running(warden, "old-" + UniqueID.v4())
        warden.client.send(.start(old))
        try await warden.start(of: old.key)
        await warden.hangUp()
        try await warden.comeBack(with: newer(warden))
        try await warden.until { $0 == .caughtUp }
        warden.client.send(.cancel(old.key, reason: "requested"))
        #expect(try await warden.end(of: old.key).cause == .canceled)
    }

    @Test func `learns how the runs ended that the older one finished while no daemon was there`()
        async throws
    {
        let warden = try await WardenAtWork()
        let old = running(warden, "old-" + UniqueID.v4())
        warden.client.send(.start(old))
        try await warden.start(of: old.key)
        let first = try ProcessHandle(pid: warden.hello.pid, startTime: warden.hello.startTime)
        await warden.hangUp()
        try await warden.comeBack(with: newer(warden))
        try await warden.until { $0 == .caughtUp }
        await warden.hangUp()
        try await release(warden, old.key.run)
        #expect(await Shell.waitForEnd(of: first))
        try await warden.comeBack()
        #expect(try await warden.end(of: old.key).exitCode == 5)
        warden.client.send(.acknowledge(old.key))
        warden.client.send(.query(old.key))
        try await warden.until { $0 == .unknown(old.key) }
    }

    @Test func `watches the runs of an older one that was killed`() async throws {
        let warden = try await WardenAtWork()
        let old = running(warden, "old-" + UniqueID.v4())
        warden.client.send(.start(old))
        let job = try await warden.start(of: old.key)
        let first = try ProcessHandle(pid: warden.hello.pid, startTime: warden.hello.startTime)
        await warden.hangUp()
        try await warden.comeBack(with: newer(warden))
        try await warden.until { $0 == .caughtUp }
        first.send(SIGKILL)
        try await warden.until { $0 == .disconnected }
        try await warden.comeBack()
        #expect(try await warden.start(of: old.key) == job)
        try await release(warden, old.key.run)
        #expect(try await warden.end(of: old.key).cause == .lost)
    }
}
