import Glibc
import Host
import Performing
import TestSupport
import Testing
import WardenProtocol

@testable import Warden

@Suite(.timeLimit(.minutes(5))) struct `a job that must end` {
    @Test func `is asked at its timeout`() async throws {
        let warden = try await WardenAtWork()
        let record = try await warden.run(
            warden.order(.command(["sleep", "1000"]), timeout: .milliseconds(100)))
        #expect(record.cause == .timeout)
        #expect(record.signal == Int(SIGTERM))
        #expect(record.elapsed ?? .zero >= .milliseconds(100))
    }

    @Test func `may clean up and choose its exit code within its grace`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(
            .shell("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 1000 & wait; done"))
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "ready")
        warden.client.send(.cancel(order.key, reason: "replaced"))
        let record = try await warden.end(of: order.key)
        #expect(record.cause == .canceled)
        #expect(record.cancelReason == "replaced")
        #expect(record.exitCode == 3)
        #expect(record.survivors.isEmpty)
        #expect(try warden.log(of: order) == "ready\nbye\n")
    }

    @Test
    func `is killed after its grace, with children that ignore TERM and grandchildren in other sessions`()
        async throws
    {
        let warden = try await WardenAtWork()
        let order = warden.order(
            .shell(
                """
                trap '' TERM
                setsid sh -c 'trap "" TERM; echo $$ >> pids; echo ready; while :; do sleep 1000; done' &
                (setsid sh -c 'echo $$ >> pids; echo ready; while :; do sleep 1000; done' &)
                sh -c 'echo $$ >> pids; echo ready; while :; do sleep 1000; done' &
                echo $$ >> pids
                while :; do sleep 1000; done
                """), grace: .milliseconds(50))
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "ready\nready\nready\n")
        warden.client.send(.cancel(order.key, reason: "requested"))
        let record = try await warden.end(of: order.key)
        #expect(record.cause == .canceled)
        #expect(record.signal == Int(SIGKILL))
        #expect(record.survivors.isEmpty)
        let pids = try SmallFile.text(warden.folder.file("pids")).split(separator: "\n").compactMap {
            Int32($0)
        }
        #expect(pids.count == 4)
        for pid in pids { #expect(ProcessTable.entry(pid)?.isZombie ?? true) }
    }

    @Test func `cannot outrun the kill by forking`() async throws {
        let warden = try await WardenAtWork()
        // Each generation starts the next one in a new session and ends, so that nothing stays in place.
        try SmallFile.replace(
            warden.folder.file("hare"),
            with: Array("#!/bin/sh\ntrap '' TERM\n[ -e stop ] && exit\necho hop\nsetsid ./hare &\n".utf8),
            mode: 0o700)
        let order = warden.order(.shell("./hare; while :; do sleep 1000; done"), grace: .zero)
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "hop\nhop\nhop\n")
        warden.client.send(.cancel(order.key, reason: "requested"))
        let record = try await warden.end(of: order.key)
        try SmallFile.replace(warden.folder.file("stop"), with: [])
        #expect(record.survivors.isEmpty)
        #expect(
            try !ProcessTable.all().contains {
                !$0.isZombie && ProcessTable.process($0.pid, wasStartedWith: "PWD=\(warden.folder.path)")
                    && $0.pid != getpid()
            })
    }

    @Test func `does not wait for a grandchild that holds its output, and names it a survivor`() async throws
    {
        let warden = try await WardenAtWork()
        // It is a sleep once it runs its program.
        let order = warden.order(
            .shell("sleep 1000 & until grep -q sleep /proc/$!/comm; do :; done; echo done"))
        let record = try await warden.run(order)
        #expect(record.cause == .exited)
        #expect(record.exitCode == 0)
        #expect(record.survivors.map(\.name) == ["sleep"])
        let left = try #require(record.survivors.first)
        #expect(ProcessTable.entry(left.pid)?.name == "sleep")
        #expect(try warden.log(of: order) == "done\n")
    }

    @Test func `leaves a grandchild that can still print`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(.shell("mkfifo gate; (read line < gate; echo \"$line\") & echo first"))
        try await warden.run(order)
        #expect(try await Shell.run("echo late > gate", in: warden.folder.path) == 0)
        let log = order.output.path
        #expect(try await Shell.run("until grep -q late \(log); do sleep 0.01; done") == 0)
        #expect(try warden.log(of: order) == "first\nlate\n")
    }

    @Test func `and is not known is reported to be unknown`() async throws {
        let warden = try await WardenAtWork()
        let key = RunKey(run: "never", attempt: 1)
        warden.client.send(.cancel(key, reason: "requested"))
        try await warden.until { $0 == .unknown(key) }
    }
}

@Suite struct `the stop ladder` {
    @Test func `asks at the timeout, kills after the grace, and gives up when nothing helps`() {
        var ladder = StopLadder(startedAt: .seconds(100), timeout: .seconds(60), grace: .seconds(10))
        #expect(ladder.deadline == .seconds(160))
        #expect(ladder.advance(to: .seconds(159)) == nil)
        #expect(!ladder.isStopping)
        #expect(ladder.advance(to: .seconds(160)) == .terminate)
        #expect(ladder.cause == .timeout)
        #expect(ladder.advance(to: .seconds(169)) == nil)
        var now = Duration.seconds(170)
        for _ in 0..<10 {
            #expect(ladder.advance(to: now) == .kill)
            now = ladder.deadline ?? .zero
        }
        #expect(ladder.advance(to: now) == .giveUp)
        #expect(ladder.rung == .given)
        #expect(ladder.deadline == nil)
        #expect(ladder.advance(to: .seconds(1000)) == nil)
    }

    @Test func `never ends a run without a timeout by itself`() {
        var ladder = StopLadder(startedAt: .zero, timeout: nil, grace: .seconds(10))
        #expect(ladder.deadline == nil)
        #expect(ladder.advance(to: .seconds(1_000_000)) == nil)
    }

    @Test func `keeps the first cause`() {
        var ladder = StopLadder(startedAt: .zero, timeout: .seconds(5), grace: .seconds(10))
        #expect(ladder.cancel("replaced", at: .seconds(4)) == .terminate)
        #expect(ladder.cancel("requested", at: .seconds(4)) == nil)
        #expect(ladder.advance(to: .seconds(5)) == nil)
        #expect(ladder.cause == .canceled("replaced"))
        #expect(ladder.deadline == .seconds(14))
    }

    @Test func `asks and kills what a lost run left, and is not needed by one that is ended already`() {
        var lost = StopLadder(startedAt: .zero, timeout: .seconds(5), grace: .seconds(10))
        #expect(lost.lose(at: .seconds(1)) == .terminate)
        #expect(lost.cause == .lost && lost.isStopping)
        #expect(lost.advance(to: .seconds(11)) == .kill)
        var late = StopLadder(startedAt: .zero, timeout: .seconds(5), grace: .seconds(10))
        #expect(late.advance(to: .seconds(5)) == .terminate)
        #expect(late.lose(at: .seconds(6)) == nil)
        #expect(late.cause == .timeout)
    }

    @Test func `kills at once without a grace`() {
        var ladder = StopLadder(startedAt: .zero, timeout: nil, grace: .zero)
        #expect(ladder.cancel("requested", at: .seconds(1)) == .kill)
    }
}
