import API
import Glibc
import Host

extension Doctor {
    /// Programs that run from a file that was replaced since, and limits.
    func programFindings() -> [WireProblem] {
        var found: [WireProblem] = []
        if let status, Self.isReplaced(status.pid) {
            found.append(
                warning(
                    "oldDaemon", "belfryd (pid \(status.pid)) was replaced on the disk since it started",
                    "restart it; running jobs continue"))
        }
        if let warden = status?.warden, Self.isReplaced(warden.pid) {
            found.append(
                warning(
                    "oldWarden",
                    "belfry-warden (pid \(warden.pid)) was replaced on the disk since it started",
                    warden.runs == 0
                        ? "restart it: systemctl restart belfry-warden"
                        : "restart it when belfry status shows no runs of it"))
        }
        return found + limitFindings()
    }

    /// What keeps a daemon from starting, or runs from beginning: each needs some descriptors of the warden.
    private func limitFindings() -> [WireProblem] {
        let hint = "raise the limit: ulimit -n 1024, or LimitNOFILE=1024 in the unit"
        if status == nil, let limit = try? DescriptorLimit.current(), limit < Self.descriptorsOfDaemon {
            return [
                warning(
                    "fewDescriptors",
                    "processes started from here may open only \(limit) files; belfryd needs "
                        + "\(Self.descriptorsOfDaemon)",
                    hint)
            ]
        }
        guard let warden = status?.warden, let limit = Self.descriptorLimit(warden.pid) else { return [] }
        let runs = max(0, (limit - 64) / 7)
        guard runs < Self.runsAtOnce else { return [] }
        return [
            warning(
                "fewDescriptors",
                "belfry-warden (pid \(warden.pid)) may open only \(limit) files: no more than \(runs) runs fit at "
                    + "once, and others fail",
                hint)
        ]
    }

    /// What a daemon asks for at its start.
    private static let descriptorsOfDaemon = 128
    /// How many runs there may be at once.
    private static let runsAtOnce = 64

    /// Whether the file that a process was started from was replaced or removed; false where this user can't see it.
    ///
    /// - Source: proc(5), `/proc/pid/exe`.
    private static func isReplaced(_ pid: Int32) -> Bool {
        (try? Machine.linkTarget("/proc/\(pid)/exe"))?.hasSuffix(" (deleted)") ?? false
    }

    private static func descriptorLimit(_ pid: Int32) -> Int? {
        guard let text = try? SmallFile.text("/proc/\(pid)/limits") else { return nil }
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Max open files") }) else {
            return nil
        }
        return line.dropFirst("Max open files".count).split(separator: " ").first.flatMap { Int($0) }
    }
}

/// Another program, run to its end for what it prints.
struct ToolRun {
    /// Its exit code; nil: it ended otherwise, or did not end in time.
    let code: Int32?
    /// What it printed on standard output and standard error, line by line.
    let lines: [String]

    /// Runs `program`, found in PATH unless it holds a slash; nil when it can't be started.
    ///
    /// Killed after 20 s.
    init?(_ program: String, _ arguments: [String]) {
        guard let path = Self.find(program), let pipe = try? Descriptor.pipe(nonblockingRead: true),
            let nothing = try? Descriptor.open("/dev/null", O_RDWR)
        else { return nil }
        let child = ChildProgram(
            path: path, arguments: [program] + arguments, environment: Machine.environment,
            descriptors: [nothing, pipe.write, pipe.write])
        guard let pid = try? child.start() else { return nil }
        let bytes = Self.drain(pipe.read, of: pid)
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
        code = status & 0x7F == 0 ? status >> 8 & 0xFF : nil
        lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static func drain(_ pipe: Descriptor, of pid: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        let deadline = ContinuousClock.now + .seconds(20)
        while bytes.count < 1 << 20 {
            // Our own copy of the other end is open still: the child's end is seen by asking for the child.
            let hasEnded = Self.hasEnded(pid)
            var waiting = pollfd(fd: pipe.raw, events: Int16(POLLIN), revents: 0)
            unsafe poll(&waiting, 1, hasEnded ? 0 : 20)
            switch try? pipe.read(into: &buffer) {
            case .bytes(let count): bytes += buffer[..<count]
            case .wouldBlock where !hasEnded && ContinuousClock.now < deadline: continue
            default:
                if !hasEnded { kill(pid, SIGKILL) }
                return bytes
            }
        }
        kill(pid, SIGKILL)
        return bytes
    }

    private static func hasEnded(_ pid: Int32) -> Bool {
        ProcessTable.entry(pid)?.isZombie ?? true
    }

    private static func find(_ program: String) -> String? {
        if program.contains("/") { return program }
        return Machine.program(program, in: Machine.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin")
    }
}
