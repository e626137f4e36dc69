import Glibc
import Host
import TestSupport
import Testing
import Timeline

@Suite(.timeLimit(.minutes(5))) struct `a process that is not our child` {
    /// Starts `cat` below a shell that collects it, or never does; the handle of `cat`.
    private func grandchild(_ script: String) async throws -> (ChildProcess, ProcessHandle) {
        let parent = try ChildProcess("sh", ["-c", script])
        let pid = try #require(await parent.line { Int32($0) != nil }.flatMap { Int32($0) })
        let entry = try #require(ProcessTable.entry(pid))
        return (parent, try ProcessHandle(pid: pid, startTime: entry.startTime))
    }

    /// Whether the kernel reports to others than the parent how a process ended: since 6.15.
    private static let isReported: Bool = {
        let release = (try? SmallFile.text("/proc/sys/kernel/osrelease")) ?? ""
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return numbers.count == 2 && (numbers[0], numbers[1]) >= (6, 15)
    }()

    @Test(arguments: [("exit 7", ProcessEnd.code(7)), ("kill -TERM $$", .signal(SIGTERM))])
    func `has ended as its parent saw, where the kernel reports it to others`(last: String, end: ProcessEnd)
        async throws
    {
        let (parent, handle) = try await grandchild(
            "exec 3<&0; sh -c 'read go <&3; \(last)' & echo $!; wait $!; read end")
        try parent.write("go")
        let known = try await blocking { try handle.waitForEnd(patience: .seconds(60)) }
        #expect(known == (Self.isReported ? end : nil))
        await parent.end()
    }

    @Test func `has ended unknown while nobody collects it`() async throws {
        let (parent, handle) = try await grandchild(
            "exec 3<&0; sh -c 'read go <&3' & echo $!; exec sleep 1000")
        // A shell would still collect it.
        #expect(
            try await Shell.run("until grep -qx sleep /proc/\(parent.pid)/comm; do sleep 0.01; done") == 0)
        try parent.write("go")
        let known = try await blocking { try handle.waitForEnd(patience: .milliseconds(10)) }
        #expect(known == nil)
        await parent.end()
    }
}

@Suite struct `the process table` {
    @Test func `reads a name with blanks and brackets`() throws {
        let line = "42 (a) S 1 (b)) T 7 40 39 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 98765 0 0"
        let entry = try #require(ProcessEntry(stat: Array(line.utf8)))
        #expect(
            entry
                == ProcessEntry(
                    pid: 42, parent: 7, group: 40, session: 39, startTime: 98765, state: UInt8(ascii: "T")))
    }

    @Test(arguments: ["", "42", "42 (x", "42 (x) S 1", ") 42 ("])
    func `takes nothing from a broken line`(line: String) {
        #expect(ProcessEntry(stat: Array(line.utf8)) == nil)
    }

    @Test func `knows this process, by id and start time`() throws {
        let me = try #require(ProcessTable.entry(getpid()))
        #expect(me.parent == getppid())
        #expect(try ProcessTable.all().contains { $0.pid == me.pid && $0.startTime == me.startTime })
        #expect(ProcessTable.isAlive(pid: me.pid, startTime: me.startTime))
        #expect(!ProcessTable.isAlive(pid: me.pid, startTime: me.startTime + 1))
    }
}

@Suite struct `unique ids` {
    @Test func `of version 7 sort by their moment`() {
        let start = Moment(seconds: 1_790_000_000)
        let ids = (0..<1000).map { UniqueID.v7(at: start + .microseconds($0)) }
        #expect(ids == ids.sorted())
        #expect(Set(ids).count == 1000)
        #expect(ids[0].hasPrefix("01a0c450-6c00-7000-"))
    }

    @Test func `hold their version and variant`() {
        for _ in 0..<100 {
            let random = Array(UniqueID.v4())
            let timed = Array(UniqueID.v7(at: Moment(seconds: 1)))
            #expect(random.count == 36 && timed.count == 36)
            #expect(random[14] == "4" && timed[14] == "7")
            #expect("89ab".contains(random[19]) && "89ab".contains(timed[19]))
        }
    }

    @Test func `of a boot are the kernel's`() throws {
        let id = try Machine.bootID()
        #expect(id.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
        #expect(try Machine.bootID() == id)
    }
}

@Suite struct `the service of a process` {
    @Test(arguments: [
        ("0::/system.slice/belfryd.service\n", "belfryd.service", "systemctl"),
        (
            "0::/user.slice/user-1000.slice/user@1000.service/app.slice/belfryd.service\n", "belfryd.service",
            "systemctl --user"
        ),
        (
            "12:pids:/x\n1:name=systemd:/system.slice/belfryd.service\n0::/\n", "belfryd.service",
            "systemctl"
        ),
    ])
    func `is named by its group, and so is its manager`(membership: String, name: String, control: String) {
        let unit = ServiceUnit(membership: membership)
        #expect(unit?.name == name && unit?.control == control)
    }

    @Test(arguments: [
        "", "0::/\n", "0::/user.slice/user-1000.slice/session-2.scope\n", "nonsense",
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-term.scope\n",
        "0::/user.slice/user-1000.slice/user@1000.service\n", "5:cpu:/system.slice/x.service\n",
    ])
    func `is none in a terminal or a container`(membership: String) {
        #expect(ServiceUnit(membership: membership) == nil)
    }
}

@Suite struct `the service manager` {
    private func received(_ socket: Descriptor) -> String {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(socket.raw, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    @Test func `is notified that the process is ready`() throws {
        let folder = try TemporaryFolder()
        let socket = try LocalSocket.bindDatagram(folder.file("notify"))
        try ServiceManager.sayReady(environment: ["NOTIFY_SOCKET": folder.file("notify")])
        #expect(received(socket) == "READY=1")
    }

    @Test func `may listen at an abstract name`() throws {
        let name = "@belfry-test-" + UniqueID.v4()
        let socket = try LocalSocket.bindDatagram(name)
        try ServiceManager.sayReady(environment: ["NOTIFY_SOCKET": name])
        #expect(received(socket) == "READY=1")
    }

    @Test func `is not there without a socket's name`() throws {
        try ServiceManager.sayReady(environment: [:])
        try ServiceManager.sayReady(environment: ["NOTIFY_SOCKET": ""])
    }
}

@Suite(.serialized) struct `signals` {
    @Test func `arrive in order and do not end the process`() async throws {
        let stream = try Signals.stream()
        for signal in [SIGHUP, SIGTERM, SIGINT] { kill(getpid(), signal) }
        // The kernel may hand over pending signals lowest first; which arrive is what counts.
        var received: Set<Signals.Signal> = []
        for await signal in stream {
            received.insert(signal)
            if received.count == 3 { break }
        }
        #expect(received == [.hangup, .terminate, .interrupt])
    }
}
