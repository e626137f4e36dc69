import Glibc
import Host
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `a process that is not our child` {
    /// Starts `cat` below a shell that collects it, or never does; the handle of `cat`.
    private func grandchild(_ script: String) async throws -> (ChildProcess, ProcessHandle) {
        let parent = try ChildProcess("sh", ["-c", script])
        let pid = try #require(await parent.line { Int32($0) != nil }.flatMap { Int32($0) })
        let entry = try #require(ProcessTable.entry(pid))
        return (parent, try ProcessHandle(pid: pid, startTime: entry.startTime))
    }

    /// Whether the kernel tells others than the parent how a process ended: since 6.15.
    private static let isTold: Bool = {
        let release = (try? SmallFile.text("/proc/sys/kernel/osrelease")) ?? ""
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return numbers.count == 2 && (numbers[0], numbers[1]) >= (6, 15)
    }()

    @Test(arguments: [("exit 7", ProcessEnd.code(7)), ("kill -TERM $$", .signal(SIGTERM))])
    func `has ended as its parent was told, where the kernel tells others`(last: String, end: ProcessEnd)
        async throws
    {
        let (parent, handle) = try await grandchild(
            "exec 3<&0; sh -c 'read go <&3; \(last)' & echo $!; wait $!; read end")
        try parent.write("go")
        let known = try await blocking { try handle.waitForEnd(patience: .seconds(60)) }
        #expect(known == (Self.isTold ? end : nil))
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
