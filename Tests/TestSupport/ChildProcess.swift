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
