import Foundation
import Host
import TestSupport
import Testing

// Files and pipes by which a test and its jobs wait for each other; a job sees them as `../NAME`.

extension WardenHome {
    func lines(of name: String) throws -> [String] {
        let text = try String(contentsOfFile: folder.file(name), encoding: .utf8)
        return text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Makes a pipe that jobs read a line from.
    func makePipe(_ name: String) throws {
        let result = unsafe mkfifo(folder.file(name), 0o600)
        try #require(result == 0)
    }

    /// Lets the job go on that reads from the pipe; waits until it does.
    func release(_ name: String) async throws {
        try #require(try await Shell.run("timeout 300 sh -c 'echo go > \(name)'", in: folder.path) == 0)
    }

    /// Waits until jobs have written that many lines.
    func waitForLines(_ count: Int, in name: String) async throws {
        let text =
            "timeout 300 sh -c 'until [ $(wc -l < \(name)) -ge \(count) ]; do sleep 0.01; done' 2>/dev/null"
        try #require(try await Shell.run(text, in: folder.path) == 0)
    }
}

extension RunScene {
    func lines(of name: String) throws -> [String] { try home.lines(of: name) }
    func makePipe(_ name: String) throws { try home.makePipe(name) }
    /// Opens a gate that any number of jobs wait at: the file they look for.
    func open(_ name: String) throws { try Data().write(to: URL(filePath: home.folder.file(name))) }
    func write(_ name: String) async throws { try await home.release(name) }
    /// Does to the ledger's file what somebody else could.
    func change(_ statements: String) async throws {
        let status = try await Shell.run(
            """
            exec python3 -c 'import sqlite3, sys; sqlite3.connect("ledger.db").executescript(sys.argv[1])' "\(statements)"
            """, in: home.folder.path)
        try #require(status == 0)
    }

    func boot() throws -> String { try Machine.bootID() }
}
