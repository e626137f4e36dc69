import Foundation
import Host

/// A chat that edits in place, as Telegram's Bot API does: `Tests/Support/chat-server.py`, a process of its own.
package final class ChatServer: Sendable {
    /// Where its API is.
    package let url: String
    private let process: ChildProcess

    /// Starts a server, and returns when it listens.
    package init() async throws {
        process = try ChildProcess(PythonTools.interpreter(), [PythonTools.script("chat-server.py")])
        var lines = process.lines.makeAsyncIterator()
        guard let port = await lines.next().flatMap({ Int($0) }) else { throw NoServer() }
        url = "http://127.0.0.1:\(port)"
    }

    /// What the chat shows, by the numbers of its messages.
    package func messages() async throws -> [Int: String] {
        let line = try await ask("messages")
        let texts = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        return Dictionary(uniqueKeysWithValues: texts.compactMap { id, text in Int(id).map { ($0, text) } })
    }

    /// Waits until what it shows fits.
    package func shows(_ fits: ([Int: String]) -> Bool) async throws {
        var seen = 0
        while try await !fits(messages()) {
            guard let count = Int(try await ask("after \(seen)")) else { throw NoServer() }
            seen = count
        }
    }

    /// The calls so far, in order: `sendMessage ring`, `sendMessage quiet`, `editMessageText`, `deleteMessage`.
    package func calls() async throws -> [String] {
        try JSONDecoder().decode([String].self, from: Data(try await ask("calls").utf8))
    }

    /// A person deletes a message.
    package func delete(_ message: Int) async throws { _ = try await ask("delete \(message)") }

    private func ask(_ question: String) async throws -> String {
        try process.write(question)
        var lines = process.lines.makeAsyncIterator()
        guard let line = await lines.next() else { throw NoServer() }
        return line
    }

    private struct NoServer: Error {}
}
