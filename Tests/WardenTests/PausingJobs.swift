import Glibc
import Host
import Performing
import TestSupport
import Testing
import Timeline
import WardenProtocol

@testable import Warden

@Suite(.timeLimit(.minutes(5))) struct `a job that is paused` {
    /// A shell with a child of its own session and one in the background, which write their ids.
    private static let family = ProcessOrder.Work.shell(
        """
        (setsid sh -c 'echo $$ > other; exec sleep 1000' &)
        sh -c 'echo $$ > child; exec sleep 1000' &
        echo $$ > leader; echo up; wait
        """)

    /// Waits until each of these processes is in one of these states, as `/proc` shows them.
    private func processes(
        _ processes: [ProcessTree.Identity], are states: String, _ warden: WardenAtWork
    ) async throws {
        for process in processes {
            let stat = "/proc/\(process.pid)/stat"
            #expect(
                try await Shell.run(
                    "until grep -Eq '\\) [\(states)] ' \(stat); do sleep 0.01; done", in: warden.folder.path)
                    == 0)
        }
    }

    @Test(arguments: [[], ["--no-control-groups"]])
    func `stops with all its processes, goes on with all of them, and can be ended while it is stopped`(
        options: [String]
    ) async throws {
        let warden = try await WardenAtWork(options: options)
        let order = warden.order(Self.family, run: UniqueID.v4())
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "up")
        let family = try await warden.processes(named: ["leader", "child", "other"])
        for _ in 0..<2 {
            warden.client.send(.pause(order.key))
            try await processes(family, are: "Tt", warden)
            warden.client.send(.resume(order.key))
            try await processes(family, are: "SR", warden)
        }
        warden.client.send(.pause(order.key))
        try await processes(family, are: "Tt", warden)
        warden.client.send(.cancel(order.key, reason: "requested"))
        let record = try await warden.end(of: order.key)
        #expect(record.cause == .canceled && record.survivors.isEmpty)
        #expect(family.allSatisfy { !ProcessTable.isAlive(pid: $0.pid, startTime: $0.startTime) })
    }

    @Test func `stays paused over the death of its warden, and is resumed by the next one`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(Self.family, run: UniqueID.v4())
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "up")
        let family = try await warden.processes(named: ["leader", "child", "other"])
        warden.client.send(.pause(order.key))
        try await processes(family, are: "Tt", warden)
        try ProcessHandle(pid: warden.hello.pid, startTime: warden.hello.startTime).send(SIGKILL)
        try await warden.until { $0 == .disconnected }
        try await warden.comeBack(launching: true)
        try await warden.until { $0 == .caughtUp }
        try await processes(family, are: "Tt", warden)
        // It knows of the pause, or it would leave it alone.
        warden.client.send(.resume(order.key))
        try await processes(family, are: "SR", warden)
        warden.client.send(.cancel(order.key, reason: "requested"))
        #expect(try await warden.end(of: order.key).cause == .canceled)
    }

    @Test func `whose first process is killed leaves nobody stopped`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(Self.family, run: UniqueID.v4())
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "up")
        let family = try await warden.processes(named: ["leader", "child", "other"])
        warden.client.send(.pause(order.key))
        try await processes(family, are: "Tt", warden)
        kill(family[0].pid, SIGKILL)
        let record = try await warden.end(of: order.key)
        #expect(record.signal == Int(SIGKILL) && record.survivors.count == 2)
        try await processes(Array(family.dropFirst()), are: "SR", warden)
        for process in family.dropFirst() { kill(process.pid, SIGKILL) }
    }

    @Test func `keeps the time it has left`() {
        var ladder = StopLadder(startedAt: .seconds(100), timeout: .seconds(60), grace: .seconds(10))
        #expect(ladder.pause(at: .seconds(130)) == true)
        #expect(ladder.pause(at: .seconds(140)) == true)
        #expect(ladder.deadline == nil)
        #expect(ladder.advance(to: .seconds(1000)) == nil)
        #expect(ladder.resume(at: .seconds(1130)) == true)
        #expect(ladder.resume(at: .seconds(1131)) == false)
        #expect(ladder.deadline == .seconds(1160))
        #expect(ladder.advance(to: .seconds(1159)) == nil)
        #expect(ladder.advance(to: .seconds(1160)) == .terminate)
        #expect(ladder.pause(at: .seconds(1161)) == false, "It is being ended.")
    }

    @Test func `is ended in the middle of its pause, also without a timeout`() {
        var ladder = StopLadder(startedAt: .zero, timeout: nil, grace: .seconds(10))
        #expect(ladder.pause(at: .seconds(5)) == true)
        #expect(ladder.cancel("requested", at: .seconds(6)) == .terminate)
        #expect(ladder.deadline == .seconds(16) && ladder.pausedAt == nil)
        #expect(ladder.resume(at: .seconds(7)) == false)
        #expect(ladder.deadline == .seconds(16))
    }

    @Test func `has its pauses in its record`() throws {
        let made = AttemptFile(
            key: RunKey(run: "r", attempt: 1), bootID: "b", madeAt: Moment(seconds: 1), timeout: .seconds(60),
            grace: .zero)
        let first =
            made.makingFrame + AttemptFile.pausingFrame(at: .seconds(10))
            + AttemptFile.resumingFrame(at: .seconds(25)) + AttemptFile.pausingFrame(at: .seconds(30))
        let read = try #require(AttemptFile(fileBytes: first))
        #expect(read.paused == .seconds(15) && read.pausedAt == .seconds(30))
        // A resume without a pause, and one that was cut off, change nothing.
        let odd = made.makingFrame + AttemptFile.resumingFrame(at: .seconds(9))
        let cut = odd + AttemptFile.pausingFrame(at: .seconds(10)).dropLast(2)
        for bytes in [odd, cut] {
            let record = try #require(AttemptFile(fileBytes: bytes))
            #expect(record.paused == .zero && record.pausedAt == nil)
        }
    }
}
