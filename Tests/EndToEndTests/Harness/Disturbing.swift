import Foundation
import Glibc
import Host
import TestSupport
import Testing
import Timeline

/// Where a job waits until the test lets it go on: `read line < $GATE` returns once for every ``open()``;
/// or the other way round.
///
/// All waiting ends when this is let go.
final class Gate: Sendable {
    /// The path of the named pipe.
    let path: String
    private let pipe: Descriptor

    /// Makes a gate called `name` in `folder`.
    init(_ name: String = "gate", in folder: TemporaryFolder) throws {
        path = folder.file(name)
        guard unsafe mkfifo(path, 0o600) == 0 else { throw HostError.last("mkfifo", path) }
        // Both ends, so that neither side waits for the other to open it.
        pipe = try Descriptor.open(path, O_RDWR)
    }

    /// Lets one job pass.
    func open() throws {
        try pipe.writeAll([0x0A])
    }

    /// Waits until a job says `echo > $GATE`.
    func passed() async throws {
        let reader = try ChildProcess("sh", ["-c", "read line < '\(path)'"])
        guard await reader.status() == 0 else { throw Feed.Ended() }
    }
}

/// Every process that belongs to a home: its name stands in the process's environment or command line.
enum Household {
    /// Kills them all, until none is left.
    static func end(of home: String) {
        while true {
            let found = members(of: home)
            if found.isEmpty { return }
            for pid in found { kill(pid, SIGKILL) }
            sched_yield()
        }
    }

    /// Those that run a program of this name.
    static func members(of home: String, named program: String) -> [Int32] {
        members(of: home).filter { (try? SmallFile.text("/proc/\($0)/comm")) == program }
    }

    /// Their process ids; the dead that nobody has collected yet are none of them.
    private static func members(of home: String) -> [Int32] {
        let pids = ((try? Folder.names(in: "/proc")) ?? []).compactMap { Int32($0) }
        return pids.filter { pid in
            pid != getpid()
                && ["environ", "cmdline"].contains { name in
                    let bytes = (try? SmallFile.read("/proc/\(pid)/\(name)", limit: 1 << 20)) ?? []
                    return String(decoding: bytes, as: UTF8.self).contains(home)
                }
        }
    }
}

/// Another process that holds a daemon's ledger until it is let go.
struct LedgerHolder {
    /// What it holds.
    enum Lock {
        /// SQLite's lock for writers, as a person at `sqlite3` does in a transaction.
        case writer
        /// The lock of the ledger's owner, as another daemon does.
        case owner
    }

    private let process: ChildProcess

    /// Returns once the lock is held.
    init(_ lock: Lock, of belfry: Belfry) async throws {
        let ledger = belfry.statePath + "/ledger.sqlite"
        switch lock {
        case .writer:
            process = try Self.python(
                """
                connection = sqlite3.connect(sys.argv[1], isolation_level=None)
                connection.execute("BEGIN IMMEDIATE"); print("held", flush=True)
                sys.stdin.read()
                connection.execute("ROLLBACK")
                """, ledger)
        case .owner:
            process = try Self.python(
                """
                file = open(sys.argv[1], "w"); fcntl.flock(file, fcntl.LOCK_EX); print("held", flush=True)
                sys.stdin.read()
                """, ledger + "-lock")
        }
        try #require(await process.line { $0 == "held" } != nil)
    }

    /// Lets the ledger go, and returns once that is so.
    func release() async throws {
        try process.closeInput()
        _ = await process.status()
    }

    private static func python(_ script: String, _ path: String) throws -> ChildProcess {
        try ChildProcess("python3", ["-c", "import fcntl, sqlite3, sys\n" + script, path])
    }
}

/// A wall clock of one daemon's own, which a test sets; needs libfaketime, Debian's package `faketime`.
///
/// The clocks that count from the machine's start stay the machine's.
final class FakeClock: Sendable {
    private let path: String

    /// The library; nil: it is not installed.
    static let library: String? = {
        let folders = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map { "/usr/lib/\($0)/faketime" }
        return folders.map { $0 + "/libfaketimeMT.so.1" }.first { FileManager.default.fileExists(atPath: $0) }
    }()

    /// A clock that shows `moment`, kept in a file of the folder.
    init(_ moment: Moment, in folder: TemporaryFolder) throws {
        path = folder.file("clock")
        try set(to: moment)
    }

    /// Sets it, and lets it go on from there.
    func set(to moment: Moment) throws {
        let offset = Double(moment.microseconds) / 1e6 - Date().timeIntervalSince1970
        let text = String(format: "%+.6f\n", offset)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    /// The environment of a program that shall see it.
    var environment: [String: String?] {
        [
            "LD_PRELOAD": Self.library, "FAKETIME_TIMESTAMP_FILE": path, "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1",
        ]
    }
}

/// A file system of a few kilobytes, mounted for one test; unmounted when let go.
final class SmallDisk: Sendable {
    private let path: String

    /// Whether this user may mount file systems here.
    static let isAllowed: Bool = {
        guard let folder = try? TemporaryFolder() else { return false }
        return (try? SmallDisk(at: folder.file("disk"), kilobytes: 64)) != nil
    }()

    /// Mounts it at `path`, which is made.
    init(at path: String, kilobytes: Int) throws {
        self.path = path
        try PrivateFolder.make(path)
        let code = try Shell.run(
            "exec mount -t tmpfs -o size=\(kilobytes)k,mode=0700 tmpfs '\(path)' 2> /dev/null")
        guard code == 0 else { throw NotStarted(program: "mount") }
    }

    deinit {
        _ = try? Shell.run("umount --lazy '\(path)'")
    }

    /// Changes how it is mounted: `ro`, `rw`.
    func remount(_ option: String) throws {
        let code = try Shell.run("mount -o remount,\(option) '\(path)'")
        guard code == 0 else { throw NotStarted(program: "mount") }
    }

    /// Leaves no room on it.
    func fill() throws(HostError) {
        try Shell.run("cat /dev/zero > '\(path)/ballast'")
    }

    /// Makes room again.
    func free() throws(HostError) {
        try Shell.run("rm '\(path)/ballast'")
    }
}

/// A disk whose syncs fail in `belfryd`, from a moment on: a library put in front of the C library's.
struct SyncFault {
    static let isAvailable = (try? Shell.run("command -v cc || command -v clang")) == 0

    private let folder: TemporaryFolder

    /// Builds the library in `folder`; the failed syncs are counted in its file `syncs`, a line each.
    init(in folder: TemporaryFolder) throws {
        self.folder = folder
        try Data(Self.source.utf8).write(to: URL(fileURLWithPath: folder.file("fault.c")))
        let code = try Shell.run(
            "$(command -v cc || command -v clang) -shared -fPIC -o fault.so fault.c -ldl", in: folder.path)
        guard code == 0 else { throw NotStarted(program: "cc") }
    }

    /// What the daemon must be started with.
    var environment: [String: String] {
        [
            "LD_PRELOAD": folder.file("fault.so"), "FAULT_FILE": folder.file("fault"),
            "FAULT_LOG": folder.file("syncs"),
        ]
    }

    /// From now on syncs fail.
    func begin() throws { try Data().write(to: URL(fileURLWithPath: folder.file("fault"))) }

    /// From now on they work.
    func end() throws { try FileManager.default.removeItem(atPath: folder.file("fault")) }

    private static let source = """
        #define _GNU_SOURCE
        #include <errno.h>
        #include <fcntl.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/syscall.h>
        #include <unistd.h>

        static int fails(void) {
            const char *file = getenv("FAULT_FILE"), *log = getenv("FAULT_LOG");
            if (strcmp(program_invocation_short_name, "belfryd") != 0) return 0;
            if (!file || access(file, F_OK) != 0) return 0;
            int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
            if (out >= 0) { if (write(out, "sync\\n", 5) < 0) {} close(out); }
            errno = EIO;
            return 1;
        }
        int fsync(int fd) { return fails() ? -1 : (int)syscall(SYS_fsync, fd); }
        int fdatasync(int fd) { return fails() ? -1 : (int)syscall(SYS_fdatasync, fd); }

        """
}
