import Glibc
import Host
import Performing
import TestSupport
import Testing
import WardenProtocol

@Suite(.timeLimit(.minutes(5))) struct `a job` {
    @Test func `runs and its exit code comes back`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(.shell("echo one; echo two >&2; exit 7"))
        let record = try await warden.run(order)
        #expect(record.cause == .exited)
        #expect(record.exitCode == 7)
        #expect(record.signal == nil)
        #expect(record.outputBytes == 8)
        #expect(record.endedAt >= record.startedAt)
        #expect(record.survivors.isEmpty)
        #expect(try warden.log(of: order) == "one\ntwo\n")
    }

    @Test func `reports the signal that ended it`() async throws {
        let warden = try await WardenAtWork()
        let record = try await warden.run(warden.order(.shell("kill -USR1 $$")))
        #expect(record.exitCode == nil)
        #expect(record.signal == Int(SIGUSR1))
    }

    @Test func `gets its arguments as they are`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(.command(["printf", "%s|", "a b", "", "$HOME", "ö'\""]))
        #expect(try await warden.run(order).exitCode == 0)
        #expect(try warden.log(of: order) == "a b||$HOME|ö'\"|")
    }

    @Test func `finds the environment the contract promises, and nothing of a service manager`() async throws
    {
        let own = "LISTEN_FDS=1 WATCHDOG_USEC=1000000 BELFRY_SOCKET=/run/of-the-daemon"
        let warden = try await WardenAtWork(scene: ["export \(own)"])
        var order = warden.order(.shell("env | sort; pwd; umask"), run: "r-1", attempt: 2)
        order.environment = ["BELFRY_JOB": "backup", "COLOR": "blue=green"]
        #expect(try await warden.run(order).exitCode == 0)
        let lines = try Set(warden.log(of: order).split(separator: "\n").map(String.init))
        #expect(
            lines.isSuperset(of: [
                "BELFRY_JOB=backup", "COLOR=blue=green", "BELFRY_RUN_ID=r-1", "BELFRY_ATTEMPT=2",
            ]))
        #expect(lines.isSuperset(of: ["PROGRESS_FD=3", warden.folder.path, "0022"]))
        #expect(lines.contains { $0.hasPrefix("NOTIFY_SOCKET=\(warden.folder.path)/w/n/") })
        for name in ["LISTEN_FDS=", "WATCHDOG_USEC=", "BELFRY_SOCKET="] {
            #expect(!lines.contains { $0.hasPrefix(name) })
        }
    }

    @Test func `gets of the warden's environment only what its order names, where that names any`()
        async throws
    {
        let warden = try await WardenAtWork(scene: ["export TEST_ONE=1 TEST_TWO=2 OTHER=3"])
        var order = warden.order(.command(["env"]))
        order.inherited = ["TEST_*", "OTH"]
        order.environment = ["OWN": "4"]
        #expect(try await warden.run(order).exitCode == 0)
        let names = try warden.log(of: order).split(separator: "\n").map { $0.prefix { $0 != "=" } }
        #expect(
            Set(names) == [
                "TEST_ONE", "TEST_TWO", "OWN", "PATH", "BELFRY_RUN_ID", "BELFRY_ATTEMPT", "NOTIFY_SOCKET",
                "PROGRESS_FD",
            ])
    }

    @Test func `inherits no descriptor, blocked signal or ignored signal`() async throws {
        let warden = try await WardenAtWork(scene: ["trap '' HUP USR2 ALRM"])
        let order = warden.order(
            .shell(
                """
                for fd in /proc/$$/fd/*; do [ -e $fd ] && echo ${fd##*/}; done
                grep -E 'Sig(Blk|Ign)' /proc/self/status
                """))
        #expect(try await warden.run(order).exitCode == 0)
        let lines = try warden.log(of: order).split(separator: "\n")
        #expect(lines.dropLast(2) == ["0", "1", "2", "3"])
        let masks = lines.suffix(2).compactMap { $0.split(separator: "\t").last }
        #expect(masks.first == "0000000000000000")
        // The C library keeps signals 32 and 33 for itself and has every spawned process ignore them.
        let ignored = try #require(UInt64(masks.last ?? "", radix: 16))
        #expect(ignored & ~0x1_8000_0000 == 0)
    }

    @Test func `leads its own session and reads nothing`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(.shell("cat; awk '{print ($5 == $1 && $6 == $1)}' /proc/$$/stat"))
        #expect(try await warden.run(order).exitCode == 0)
        #expect(try warden.log(of: order) == "1\n")
    }

    @Test func `is started once, however often it is asked for`() async throws {
        let warden = try await WardenAtWork()
        let order = warden.order(.shell("echo x >> count; echo counted; exec sleep 1000"))
        for _ in 0..<3 { warden.client.send(.start(order)) }
        var processes: [Int32?] = []
        var printed: [UInt8] = []
        try await warden.until { event in
            if case .started(order.key, let process, _) = event { processes.append(process?.pid) }
            if case .output(order.key, _, let bytes) = event { printed += bytes }
            return processes.count == 3 && printed == Array("counted\n".utf8)
        }
        let first = try #require(processes[0])
        #expect(processes == [first, first, first])
        warden.client.send(.cancel(order.key, reason: "done"))
        try await warden.end(of: order.key)
        warden.client.send(.start(order))
        #expect(try await warden.end(of: order.key).pid == first)
        #expect(try SmallFile.text(warden.folder.file("count")) == "x")
    }

    @Test func `that is one of 200 quick ones gets its own outcome`() async throws {
        let warden = try await WardenAtWork()
        for number in 0..<200 {
            warden.client.send(
                .start(warden.order(.shell("echo \(number); exit \(number % 100)"), run: "r\(number)")))
        }
        var codes: [String: Int] = [:]
        try await warden.until { event in
            if case .ended(let record) = event { codes[record.key.run] = record.exitCode }
            return codes.count == 200
        }
        for number in 0..<200 {
            #expect(codes["r\(number)"] == number % 100)
            #expect(try warden.log(of: warden.order(.shell(""), run: "r\(number)")) == "\(number)\n")
        }
        #expect(try Folder.names(in: warden.folder.file("w/n")).isEmpty)
    }

    @Test func `that would take the warden's last descriptors is refused, and may be tried again`()
        async throws
    {
        // Room for two runs beside what the warden needs for itself.
        let warden = try await WardenAtWork(scene: ["ulimit -n 80"])
        let keys = (0..<3).map { RunKey(run: "r\($0)", attempt: 1) }
        for key in keys { warden.client.send(.start(warden.order(.shell("exec sleep 1000"), run: key.run))) }
        try await warden.until { event in
            guard case .refused(let key, let reason, _) = event else { return false }
            #expect(key == keys[2])
            #expect(reason == .exhausted)
            return true
        }
        warden.client.send(.cancel(keys[0], reason: "requested"))
        try await warden.end(of: keys[0])
        #expect(try await warden.run(warden.order(.command(["true"]), run: "r2")).exitCode == 0)
    }

    static let refusals: [(ProcessOrder.Work, String?, Refusal)] = [
        (.command(["no-such-program-here"]), nil, .notFound),
        (.command(["./missing"]), nil, .notFound),
        (.command(["./plain"]), nil, .notExecutable),
        (.command(["./no-interpreter"]), nil, .notFound),
        (.command(["/tmp"]), nil, .notExecutable),
        (.command([]), nil, .badOrder),
        (.command(["printf", "a\u{0}b"]), nil, .badOrder),
        (.command(["true"]), "/no/such/folder", .badFolder),
        (.command(["true"]), "/etc/passwd", .badFolder),
        (.command(["true", String(repeating: "x", count: 200_000)]), nil, .tooLong),
    ]

    @Test func `that cannot start is refused with the reason, and leaves nothing behind`() async throws {
        let warden = try await WardenAtWork()
        try SmallFile.replace(warden.folder.file("plain"), with: Array("x".utf8))
        try SmallFile.replace(
            warden.folder.file("no-interpreter"), with: Array("#!/no/such/interpreter\n".utf8), mode: 0o700)
        for (number, (work, folder, refusal)) in Self.refusals.enumerated() {
            var order = warden.order(work, run: "r\(number)")
            if let folder { order.folder = folder }
            warden.client.send(.start(order))
            try await warden.until { event in
                guard case .refused(order.key, let reason, let text) = event else { return false }
                #expect(reason == refusal, "\(work): \(text)")
                #expect(!text.isEmpty)
                return true
            }
            warden.client.send(.query(order.key))
            try await warden.until { $0 == .unknown(order.key) }
        }
        #expect(try Folder.names(in: warden.folder.file("w/runs")).isEmpty)
        #expect(try Folder.names(in: warden.folder.file("w/n")).isEmpty)
    }

    @Test func `whose output cannot be written is refused`() async throws {
        let warden = try await WardenAtWork()
        var order = warden.order(.command(["true"]))
        order.output.path = "/proc/nowhere/out.log"
        warden.client.send(.start(order))
        try await warden.until { event in
            guard case .refused(order.key, let reason, _) = event else { return false }
            #expect(reason == .badOutput)
            return true
        }
    }
}

@Suite struct `the children of a thread` {
    @Test func `are listed from their start until they are collected`() throws {
        let children = try #require(ChildList())
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        var pids: [Int32] = []
        for _ in 0..<5 {
            let program = ChildProgram(
                path: "/bin/true", arguments: ["true"], environment: [:], descriptors: [nothing])
            pids.append(try program.start())
        }
        #expect(Set(try #require(children.read())).isSuperset(of: pids))
        // Also when no id comes whole.
        #expect(Set(try #require(children.read(bytesAtATime: 3))).isSuperset(of: pids))
        for pid in pids { #expect(waitpid(pid, nil, 0) == pid) }
        #expect(Set(try #require(children.read())).isDisjoint(with: pids))
    }
}

@Suite struct `the environment of a program` {
    @Test func `is its own variables, and of the shared ones those it does not name`() throws {
        let shared = ChildEnvironment.Shared(["SHARED": "a=b", "BOTH": "shared", "EMPTY": ""])
        let environment = ChildEnvironment(["BOTH": "own", "OWN": "c"], sharing: shared)
        #expect(environment["SHARED"] == "a=b" && environment["BOTH"] == "own" && environment["NONE"] == nil)
        let pipe = try Descriptor.pipe(nonblockingRead: false)
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        let program = ChildProgram(
            path: "/usr/bin/env", arguments: ["env"], environment: environment,
            descriptors: [nothing, pipe.write])
        let pid = try program.start()
        #expect(waitpid(pid, nil, 0) == pid)
        var buffer = [UInt8](repeating: 0, count: 4096)
        guard case .bytes(let count) = try pipe.read.read(into: &buffer) else {
            Issue.record("it printed nothing")
            return
        }
        let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
        #expect(lines.sorted() == ["BOTH=own", "EMPTY=", "OWN=c", "SHARED=a=b"])
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a warden that does not come up` {
    @Test func `is reported with its last line`() async throws {
        let folder = try TemporaryFolder()
        let client = try WardenClient(directory: folder.file("w"))
        defer { client.close() }
        // A program that understands none of a warden's arguments, and says so.
        let error = await #expect(throws: WardenError.self) {
            try await client.connect(launching: WardenLaunch(executable: "/bin/ls", state: "/s"))
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("until-idle"))
    }

    @Test func `is reported as silent when it printed nothing`() async throws {
        let folder = try TemporaryFolder()
        let client = try WardenClient(directory: folder.file("w"))
        defer { client.close() }
        let error = await #expect(throws: WardenError.self) {
            try await client.connect(launching: WardenLaunch(executable: "/bin/false"))
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("ended at once"))
    }

    @Test func `is killed, and nobody waits for it, when it does not listen in time`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("pid")
        let script = "#!/bin/sh\necho $$ > \(file).new && mv \(file).new \(file)\nexec sleep 1000\n"
        try SmallFile.replace(folder.file("slow"), with: Array(script.utf8), mode: 0o700)
        let client = try WardenClient(directory: folder.file("w"))
        defer { client.close() }
        var launch = WardenLaunch(executable: folder.file("slow"))
        // A busy machine's may not have written its id in time, and the next one has more.
        for timeout in [Duration.milliseconds(200), .seconds(3), .seconds(30)]
        where PathContent(at: folder.file("pid")) == .nothing {
            launch.startTimeout = timeout
            let error = await #expect(throws: WardenError.self) {
                try await client.connect(launching: launch)
            }
            #expect("\(error.map { "\($0)" } ?? "")".contains("did not listen"))
        }
        let pid = try #require(Int32(SmallFile.text(folder.file("pid"))))
        #expect(kill(pid, 0) == -1 && errno == ESRCH)
    }
}
