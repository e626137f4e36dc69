import Glibc
import Host
import Performing
import TestSupport
import Testing
import WardenProtocol

@testable import Warden

@Suite(.timeLimit(.minutes(5))) struct `a control group` {
    @Test func `is found where cgroup2 is mounted, also beside the older hierarchies`() {
        let mounts = """
            31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
            35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
            41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:7 master:2 - cgroup2 cgroup2 rw
            42 31 0:38 /user.slice /mnt/a\\040b rw,relatime - cgroup2 cgroup2 rw
            """
        let old = "4:memory:/elsewhere\n"
        #expect(
            ControlGroup.places(mounts: mounts, membership: old + "0::/\n").map(\.path)
                == ["/sys/fs/cgroup/unified"])
        #expect(
            ControlGroup.places(mounts: mounts, membership: old + "0::/user.slice/x.service\n").map(\.path)
                == ["/sys/fs/cgroup/unified/user.slice/x.service", "/mnt/a b/x.service"])
        #expect(ControlGroup.places(mounts: mounts, membership: "0::/user.slices").map(\.path).count == 1)
        #expect(ControlGroup.places(mounts: mounts, membership: old).isEmpty)
        #expect(ControlGroup.places(mounts: "", membership: "0::/\n").isEmpty)
    }

    @Test(.enabled(if: WardenAtWork.hasControlGroups))
    func `is the run's own from its first instruction on, and is the next run's after it`() async throws {
        let warden = try await WardenAtWork.inControlGroup()
        let look = ProcessOrder.Work.shell("grep ^0:: /proc/self/cgroup")
        let own = "belfry-warden-\(warden.hello.pid)"
        let waiting = warden.order(.shell("exec sleep 1000"), run: "waiting")
        warden.client.send(.start(waiting))
        try await warden.start(of: waiting.key)
        for run in ["first", "second"] {
            let order = warden.order(look, run: run)
            #expect(try await warden.run(order).exitCode == 0)
            #expect(try warden.log(of: order).hasSuffix("/\(own)/2\n"))
            #expect(try warden.group(of: order.key).processes.isEmpty)
        }
        #expect(try warden.group(of: waiting.key).processes.count == 1)
        warden.client.send(.cancel(waiting.key, reason: "requested"))
        try await warden.end(of: waiting.key)
    }

    @Test(.enabled(if: WardenAtWork.hasControlGroups))
    func `is another run's only in the state in which it was made`() async throws {
        let warden = try await WardenAtWork.inControlGroup()
        let own = try #require(warden.group).child("belfry-warden-\(warden.hello.pid)")
        // Two are changed by their own runs; the third is taken away when nobody is in it.
        for (run, change) in [
            ("first", "mkdir \(own.path)/1/inner"), ("second", "chmod o+w \(own.path)/2"),
            ("third", "exit 0"),
        ] {
            #expect(try await warden.run(warden.order(.shell(change), run: run)).exitCode == 0)
        }
        #expect(try await Shell.run("rmdir \(own.path)/3") == 0)
        let last = warden.order(.shell("grep ^0:: /proc/self/cgroup"), run: "last")
        #expect(try await warden.run(last).exitCode == 0)
        #expect(try warden.log(of: last).hasSuffix("/\(own.path.split(separator: "/").last ?? "")/4\n"))
        #expect(try Set(Folder.names(in: own.path)).isDisjoint(with: ["1", "2", "3"]))
    }

    @Test func `is of one run at a time, and of the next when it was given back`() throws {
        let folder = try TemporaryFolder()
        // Any folder looks like a group in which the kernel tells nothing.
        let groups = ControlGroups(below: ControlGroup(path: folder.path))
        let (one, two) = (try #require(groups.takeNew()), try #require(groups.takeNew()))
        #expect(one.group != two.group)
        #expect(groups.takeUsed() == nil)
        #expect(!groups.isVacant(one.group))
        groups.giveBack(one.group)
        #expect(groups.takeUsed()?.group == one.group)
        #expect(groups.takeUsed() == nil)
        #expect(groups.remove(two.group, of: "run"))
        groups.giveBack(one.group)
        groups.giveBack(one.group)
        #expect(groups.takeUsed()?.group == one.group)
        #expect(groups.takeUsed() == nil)
    }

    @Test(.enabled(if: WardenAtWork.hasControlGroups))
    func `holds what left its session, its parent and its environment behind`() async throws {
        let warden = try await WardenAtWork.inControlGroup()
        let order = warden.order(
            .shell(
                """
                trap '' TERM
                cat > inner <<'END'
                trap '' TERM
                echo ready
                sleep 1000
                sleep 1000
                END
                (setsid env -i sh -c '(setsid sh inner &); sleep 1000' &)
                sleep 1000
                """), grace: .milliseconds(50))
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "ready")
        let group = try warden.group(of: order.key)
        let inside = group.processes
        #expect(inside.count >= 3)
        warden.client.send(.cancel(order.key, reason: "requested"))
        #expect(try await warden.end(of: order.key).survivors.isEmpty)
        for pid in inside { #expect(ProcessTable.entry(pid)?.isZombie ?? true) }
        #expect(unsafe access(group.path, F_OK) != 0)
    }

    @Test(.enabled(if: WardenAtWork.hasControlGroups))
    func `counts who was left behind, and goes when the last of them does`() async throws {
        let warden = try await WardenAtWork.inControlGroup()
        let order = warden.order(
            .shell(
                """
                (setsid env -i sh -c 'echo $$ > left; exec sleep 1000' &)
                until [ -s left ]; do :; done
                """))
        let record = try await warden.run(order)
        #expect(record.exitCode == 0)
        let group = try warden.group(of: order.key)
        let left = try #require(Int32(SmallFile.text(warden.folder.file("left"))))
        #expect(group.processes == [left])
        #expect(record.survivors.map(\.pid) == [left])
        let next = warden.order(.shell("exit 0"), run: "next")
        #expect(try await warden.run(next).exitCode == 0)
        #expect(try warden.group(of: next.key) != group)
        kill(left, SIGKILL)
        #expect(try await Shell.run("while [ -e \(group.path) ]; do sleep 0.01; done") == 0)
    }

    @Test(.enabled(if: WardenAtWork.hasControlGroups))
    func `ends the whole run also when its warden was killed`() async throws {
        let warden = try await WardenAtWork.inControlGroup()
        let order = warden.order(
            .shell("(setsid env -i sh -c 'echo ready; exec sleep 1000' &); exec sleep 1000"))
        warden.client.send(.start(order))
        try await warden.output(of: order.key, contains: "ready")
        let group = try warden.group(of: order.key)
        #expect(group.processes.count == 2)
        try ProcessHandle(pid: warden.hello.pid, startTime: warden.hello.startTime).send(SIGKILL)
        try await warden.until { $0 == .disconnected }
        try await warden.comeBack(launching: true)
        warden.client.send(.cancel(order.key, reason: "requested"))
        #expect(try await warden.end(of: order.key).cause == .canceled)
        #expect(group.processes.isEmpty)
    }

    @Test(.enabled(if: WardenAtWork.hasControlGroups))
    func `is emptied of what a lost run left, whatever that did to hide`() async throws {
        let warden = try await WardenAtWork.inControlGroup()
        let order = warden.order(
            .shell("(setsid env -i sh -c 'echo $$ > left; exec sleep 1000' &); exec sleep 1000"))
        warden.client.send(.start(order))
        let leader = try await warden.start(of: order.key)
        let left = try await warden.processes(named: ["left"])
        let group = try warden.group(of: order.key)
        try ProcessHandle(pid: warden.hello.pid, startTime: warden.hello.startTime).send(SIGKILL)
        try await warden.until { $0 == .disconnected }
        kill(leader, SIGKILL)
        try await warden.comeBack(launching: true)
        let lost = try await warden.end(of: order.key)
        #expect(lost.cause == .lost && lost.survivors.isEmpty)
        #expect(left.allSatisfy { !ProcessTable.isAlive(pid: $0.pid, startTime: $0.startTime) })
        #expect(unsafe access(group.path, F_OK) != 0)
    }

    @Test(.enabled(if: WardenAtWork.hasControlGroups))
    func `keeps the next attempt from starting while somebody is in it`() async throws {
        let warden = try await WardenAtWork.inControlGroup()
        let order = warden.order(
            .shell(
                """
                (setsid env -i sh -c 'echo $$ > left; exec sleep 1000' &)
                until [ -s left ]; do :; done
                """))
        #expect(try await warden.run(order).survivors.count == 1)
        let left = try await warden.processes(named: ["left"])
        var again = order
        again.key.attempt = 2
        warden.client.send(.start(again))
        try await warden.until { event in
            guard case .refused(again.key, let refusal, _) = event else { return false }
            return refusal == .stillAlive
        }
        for process in left { kill(process.pid, SIGKILL) }
        let group = try warden.group(of: order.key)
        #expect(try await Shell.run("while [ -e \(group.path) ]; do sleep 0.01; done") == 0)
        again.work = .shell("exit 6")
        #expect(try await warden.run(again).exitCode == 6)
    }
}
