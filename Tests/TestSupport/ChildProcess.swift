import Foundation
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
        /// Each to a file of this path, made anew; ``ChildProcess/lines`` is empty.
        case files(output: String, errors: String)
    }

    /// Its id, for signals.
    package let pid: Int32
    /// What it prints on standard output, line by line, for one reader.
    ///
    /// Ends when it closes its output.
    package let lines: AsyncStream<String>

    private let process: Process
    private let input: FileHandle
    private let ended: AsyncStream<Int32>

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
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = (folder.map { ["--chdir=" + $0] } ?? []) + [program] + arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging(environment.compactMapValues(\.self)) { $1 }
            .filter { entry in !environment.contains { $0.key == entry.key && $0.value == nil } }
        let (output, input) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardInput = input
        if isQuiet { process.standardError = FileHandle.nullDevice }
        switch streams {
        case .lines: break
        case .bothInLines: process.standardError = output
        case .files(let outputPath, let errorPath):
            process.standardOutput = try Self.emptyFile(outputPath)
            process.standardError = try Self.emptyFile(errorPath)
        }
        self.input = input.fileHandleForWriting
        let (ended, end) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = {
            end.yield($0.terminationStatus)
            end.finish()
        }
        self.ended = ended
        if case .files = streams {
            lines = AsyncStream { $0.finish() }
        } else {
            lines = PipeLines.stream(of: output.fileHandleForReading)
        }
        try Self.withoutBlockedSignals(process.run)
        pid = process.processIdentifier
        self.process = process
    }

    deinit {
        if process.isRunning { kill(pid, SIGKILL) }
    }

    /// Writes a line to its standard input.
    package func write(_ line: String) throws {
        try input.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Sends a signal, such as `SIGSTOP`.
    package func signal(_ number: Int32) {
        kill(pid, number)
    }

    /// Ends it with SIGKILL and waits until it is gone.
    package func end() async {
        signal(SIGKILL)
        _ = await status()
    }

    /// Waits until it has ended; its exit status, or the signal's number.
    ///
    /// Call once.
    @discardableResult
    package func status() async -> Int32? {
        await ended.first { _ in true }
    }

    /// Closes its standard input.
    package func closeInput() throws {
        try input.close()
    }

    /// The next line that fits; `nil` when the output ends first.
    ///
    /// One reader at a time.
    package func line(where fits: (String) -> Bool) async -> String? {
        for await line in lines where fits(line) { return line }
        return nil
    }

    /// Tests run on threads with all signals blocked, and a child would inherit that: deaf to SIGTERM, and
    /// never told of its own children's end.
    private static func withoutBlockedSignals(_ work: () throws -> Void) rethrows {
        var none = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        try work()
    }

    private static func emptyFile(_ path: String) throws -> FileHandle {
        try Data().write(to: URL(fileURLWithPath: path))
        return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }
}
