// Linked for what it does before any test runs.
import CLineOutput
import Glibc
import Host
import Synchronization

/// A real process a test starts, reads line by line, and ends.
///
/// Killed when let go, unless it ended before.
package final class ChildProcess: Sendable {
    /// Where a process writes to.
    package enum Streams: Sendable {
        /// Standard output to ``ChildProcess/lines``.
        case lines
        /// Standard output and standard error, both to ``ChildProcess/lines``.
        case bothInLines
        /// Each to a new file of this path; ``ChildProcess/lines`` is empty.
        case files(output: String, errors: String)
    }

    /// Its id, for signals.
    package let pid: Int32
    /// What it prints on standard output, line by line, for one reader.
    ///
    /// Ends when it closes its output.
    package let lines: AsyncStream<String>

    private let life: ProcessLife
    private let input: Mutex<Descriptor?>

    /// Starts `program`, found in PATH unless it holds a slash.
    ///
    /// - Parameters:
    ///   - program: a name or a path.
    ///   - arguments: what follows it.
    ///   - environment: replaces variables of the test's environment; `nil` values take one away.
    ///   - isQuiet: drops its standard error, which goes to the test's else.
    ///   - folder: where it starts; the test's own folder unless given.
    ///   - streams: where its output goes; to ``lines`` unless given.
    /// - Throws: when `env` itself can't be started.
    package init(
        _ program: String, _ arguments: [String] = [], environment: [String: String?] = [:],
        isQuiet: Bool = false, folder: String? = nil, streams: Streams = .lines
    ) throws {
        // A test that is killed must not leave a warden behind whose jobs wait for ever.
        let tied = ["BELFRY_TIED_TO": String(getpid())]
        let variables = Machine.environment.merging(tied) { $1 }
            .merging(environment.compactMapValues(\.self)) { $1 }
            .filter { entry in !environment.contains { $0.key == entry.key && $0.value == nil } }
        let input = try Descriptor.pipe(nonblockingRead: false)
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        var printed: Descriptor?
        let output: Descriptor
        let errors: Descriptor
        switch streams {
        case .files(let outputPath, let errorPath):
            output = try Self.emptyFile(outputPath)
            errors = try Self.emptyFile(errorPath)
        case .lines, .bothInLines:
            let pipe = try Descriptor.pipe(nonblockingRead: false)
            (printed, output) = (pipe.read, pipe.write)
            let own = try isQuiet ? nothing : Descriptor(dup(2), call: "dup")
            if case .bothInLines = streams { errors = output } else { errors = own }
        }
        let child = ChildProgram(
            path: "/usr/bin/env",
            arguments: ["env"] + (folder.map { ["--chdir=" + $0] } ?? []) + [program] + arguments,
            environment: variables, descriptors: [input.read, output, errors])
        life = try ProcessLife(of: child)
        pid = life.pid
        self.input = Mutex(input.write)
        lines = try printed.map(PipeLines.stream) ?? AsyncStream { $0.finish() }
    }

    deinit {
        life.signal(SIGKILL)
    }

    /// Writes a line to its standard input.
    package func write(_ line: String) throws {
        let input = input.withLock(\.self)
        guard let input else { throw NotStarted(program: "closed input") }
        try input.writeAll(Array((line + "\n").utf8)[...])
    }

    /// Sends a signal, such as `SIGSTOP`; nothing happens when it has ended.
    package func signal(_ number: Int32) {
        life.signal(number)
    }

    /// Ends it with SIGKILL and waits until it has ended.
    package func end() async {
        signal(SIGKILL)
        _ = await status()
    }

    /// Waits until it has ended; its exit status, or the signal's number, and nil when the test has no time left.
    @discardableResult
    package func status() async -> Int32? {
        await life.status()
    }

    /// Closes its standard input.
    package func closeInput() throws {
        input.withLock { $0 = nil }
    }

    /// The next line that fits; `nil` when the output ends first.
    ///
    /// One reader at a time.
    package func line(where fits: (String) -> Bool) async -> String? {
        for await line in lines where fits(line) { return line }
        return nil
    }

    private static func emptyFile(_ path: String) throws(HostError) -> Descriptor {
        try Descriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
    }
}

/// A process from its start to its end, which a thread of its own waits for.
///
/// Not Foundation's `Process`: that learns of an end by a socket whose other end any process started at the same
/// moment may have inherited, and then the test waits for that one, too.
final class ProcessLife: Sendable {
    private struct State {
        var status: Int32?
        var waiting: [UInt64: CheckedContinuation<Int32?, Never>] = [:]
        var lastID: UInt64 = 0
    }

    let pid: Int32
    private let state = Mutex(State())

    /// Starts `program`.
    init(of program: ChildProgram) throws(HostError) {
        pid = try program.start()
        try BackgroundThread.start(named: "child") { [self] in waitForEnd() }
    }

    /// Sends a signal while its id is its own.
    func signal(_ number: Int32) {
        state.withLock { if $0.status == nil { kill(pid, number) } }
    }

    /// Waits until it has ended; its exit status, or the signal's number, and nil when cancelled.
    func status() async -> Int32? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isOver, status) = state.withLock { state -> (Bool, Int32?) in
                    if state.status != nil || Task.isCancelled { return (true, state.status) }
                    state.waiting[id] = continuation
                    return (false, nil)
                }
                if isOver { continuation.resume(returning: status) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: nil)
        }
    }

    private func waitForEnd() {
        // Waited for first and collected later, under the lock: a signal must not find another process.
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let (status, waiting) = state.withLock { state in
            var word: Int32 = 0
            while unsafe waitpid(pid, &word, 0) < 0, errno == EINTR {}
            let status = word & 0x7F == 0 ? word >> 8 & 0xFF : word & 0x7F
            state.status = status
            defer { state.waiting = [:] }
            return (status, state.waiting.values.map(\.self))
        }
        for waiter in waiting { waiter.resume(returning: status) }
    }
}

/// Reads a pipe line by line on a thread of its own.
///
/// Not by Foundation's `FileHandle`: its event source takes the process with it when the descriptor is closed too
/// early, and its blocking read when a signal arrives.
enum PipeLines {
    /// The lines that arrive at `pipe`, until its other end is closed.
    static func stream(of pipe: Descriptor) throws(HostError) -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        try BackgroundThread.start(named: "lines") {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            var rest: [UInt8] = []
            while case .bytes(let count)? = try? pipe.read(into: &buffer) {
                let parts = buffer[..<count].split(separator: 0x0A, omittingEmptySubsequences: false)
                for (number, part) in parts.enumerated() {
                    rest += part
                    guard number < parts.count - 1 else { break }
                    continuation.yield(String(decoding: rest, as: UTF8.self))
                    rest = []
                }
            }
            continuation.finish()
        }
        return stream
    }
}

/// What a child that is about to exec shares with this process: everything that is open at a path.
///
/// A test can't hold a child between fork and exec; the kernel sees no difference between that child's
/// descriptors and these.
package final class ForkGap {
    private let shared: [Int32]

    /// How many descriptors are shared.
    package var count: Int { shared.count }

    /// Shares what this process has open at `path`.
    package init(sharing path: String) throws {
        let target = Self.file(path)
        // Found before the first is shared, which may take the number that reading the folder had.
        let open = try Folder.names(in: "/proc/self/fd").filter { Self.file("/proc/self/fd/" + $0) == target }
        shared = open.compactMap { Int32($0) }.map { dup($0) }
    }

    private static func file(_ path: String) -> [UInt64] {
        var status = stat()
        // One that is closed meanwhile is none of ours.
        guard unsafe stat(path, &status) == 0 else { return [] }
        return [UInt64(status.st_dev), UInt64(status.st_ino)]
    }

    /// The child execs.
    deinit {
        for descriptor in shared { close(descriptor) }
    }
}
