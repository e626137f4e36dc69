import CLinux
import Glibc

/// Facts of the machine that do not change while this process lives.
package enum Machine {
    /// The kernel's random id of this boot, such as `6a1f...`; differs after every restart of the machine.
    ///
    /// - Source: `/proc/sys/kernel/random/boot_id`.
    package static func bootID() throws(HostError) -> String {
        try SmallFile.text("/proc/sys/kernel/random/boot_id")
    }

    /// What this process was called with, the program's name first.
    ///
    /// As the kernel keeps it: the standard library looks for it beside the environment, and finds nothing when a
    /// library that was put in front of the program (`LD_PRELOAD`) has set a variable before.
    ///
    /// - Source: `/proc/self/cmdline`; without a `/proc`, the standard library's.
    package static var arguments: [String] {
        guard let bytes = try? SmallFile.read("/proc/self/cmdline", limit: 1 << 24), bytes.last == 0 else {
            return CommandLine.arguments
        }
        return bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// The environment of this process.
    package static var environment: [String: String] {
        var variables: [String: String] = [:]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let pair = unsafe String(cString: text)
            if let equals = pair.firstIndex(of: "=") {
                variables[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
            }
            unsafe entry += 1
        }
        return variables
    }

    /// Returns the memory that this process has freed to the system.
    ///
    /// The allocator keeps what was freed for the next use; after a start with a thousand bots that is some MB. Takes
    /// milliseconds, in which other threads may wait for memory.
    ///
    /// The corresponding C function is `malloc_trim`.
    package static func trimMemory() { _ = malloc_trim(0) }

    /// The path of the program that runs, links resolved.
    package static func executablePath() throws(HostError) -> String {
        try linkTarget("/proc/self/exe")
    }

    /// The path of a program in the folders of a `PATH`; nil: it is in none of them, or must not be run.
    ///
    /// The corresponding C function is `access`.
    package static func program(_ name: String, in folders: String?) -> String? {
        (folders ?? "").split(separator: ":").map { "\($0)/\(name)" }.first { unsafe access($0, X_OK) == 0 }
    }

    /// The folder this process works in; `/` when it was removed meanwhile.
    ///
    /// The corresponding C function is `getcwd`.
    package static var currentFolder: String {
        guard let found = unsafe getcwd(nil, 0) else { return "/" }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    /// What the symbolic link at `path` points to, as written in it.
    package static func linkTarget(_ path: String) throws(HostError) -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count >= 0 else { throw .last("readlink", path) }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Which build of a program the file at `path` is: its length and when it was written; nil when there
    /// is none.
    package static func build(of path: String) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return "\(status.st_size).\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }

    /// The largest resident size of this process so far, KiB; nil where `/proc` does not report it.
    ///
    /// - Source: proc(5), `VmHWM` of `/proc/self/status`.
    package static var largestSizeKiB: Int? {
        guard let text = try? SmallFile.text("/proc/self/status") else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.dropFirst(6).filter(\.isWholeNumber)) }
    }

    /// How many ticks a second has in which the kernel counts when processes started.
    ///
    /// The corresponding C function is `sysconf(_SC_CLK_TCK)`.
    package static var ticksPerSecond: Int { max(1, sysconf(Int32(_SC_CLK_TCK))) }

    /// Whether the kernel believes the wall clock to be in step with a time source.
    ///
    /// The corresponding C function is `adjtimex`.
    package static var isClockSynchronised: Bool {
        var state = timex()
        return unsafe adjtimex(&state) != TIME_ERROR
    }
}

/// A user of this machine.
package struct Account: Hashable, Sendable {
    /// Its name.
    package var name: String
    /// Its number.
    package var userID: UInt32
    /// The number of its first group.
    package var groupID: UInt32
    /// Its home folder.
    package var home: String
    /// Its shell.
    package var shell: String

    /// Reads a line of passwd(5); nil when it is none.
    package init?(line: some StringProtocol) {
        let fields = line.split(separator: ":", omittingEmptySubsequences: false)
        guard fields.count >= 7, !fields[0].isEmpty, let userID = UInt32(fields[2]),
            let groupID = UInt32(fields[3])
        else { return nil }
        name = String(fields[0])
        self.userID = userID
        self.groupID = groupID
        home = fields[5].isEmpty ? "/" : String(fields[5])
        shell = fields[6].isEmpty ? "/bin/sh" : String(fields[6])
    }

    /// What `/etc/passwd` calls the user of this number; the number where it does not.
    package static func name(of userID: UInt32) -> String {
        let text = (try? SmallFile.text("/etc/passwd", limit: 16 << 20)) ?? ""
        let account = text.split(separator: "\n").lazy.compactMap { Account(line: $0) }.first {
            $0.userID == userID
        }
        return account?.name ?? String(userID)
    }

    /// The account of this name or number; nil when there is none.
    ///
    /// Looks into `/etc/passwd`, then asks `getent`, which knows users of a directory server, 5 s at most.
    /// Not by the C library: what it loads to answer may block for ever, or be missing in a static program.
    package static func find(_ word: String) throws(HostError) -> Account? {
        let text = (try? SmallFile.text("/etc/passwd", limit: 16 << 20)) ?? ""
        for line in text.split(separator: "\n") {
            if let account = Account(line: line), account.isCalled(word) { return account }
        }
        guard !word.hasPrefix("-"), unsafe access(getent, X_OK) == 0 else { return nil }
        return try ask(word).split(separator: "\n").lazy.compactMap { Account(line: $0) }.first
    }

    private static let getent = "/usr/bin/getent"

    private func isCalled(_ word: String) -> Bool { name == word || String(userID) == word }

    private static func ask(_ word: String) throws(HostError) -> String {
        let (pid, answer) = try startGetent(word)
        defer {
            kill(pid, SIGKILL)
            while waitpid(pid, nil, 0) < 0, errno == EINTR {}
        }
        var waiting = pollfd(fd: answer.raw, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&waiting, 1, 5_000) > 0 else {
            throw .system(call: "getent", code: ETIMEDOUT, path: nil)
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        guard case .bytes(let count) = try answer.read(into: &buffer) else { return "" }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Our copy of the pipe's other end is closed on return, so that the answer ends with the program.
    private static func startGetent(_ word: String) throws(HostError) -> (pid: Int32, answer: Descriptor) {
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        let pipe = try Descriptor.pipe(nonblockingRead: true)
        let pid = try ChildProgram(
            path: getent, arguments: ["getent", "passwd", word], environment: [:], folder: "/",
            descriptors: [nothing, pipe.write, nothing]
        ).start()
        return (pid, pipe.read)
    }
}
