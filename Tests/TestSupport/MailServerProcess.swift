import Foundation

/// A real mail server in a process of its own, `Tests/Support/mail-server.py`; ends with this value.
package final class MailServerProcess: Sendable {
    /// A mail that it took.
    package struct Mail: Decodable, Sendable {
        /// The address it came from, as the server was given it.
        package let from: String
        /// The addresses it was for.
        package let to: [String]
        /// Whether the connection was encrypted.
        package let tls: Bool
        /// Who had logged in.
        package let user: String?
        /// Headers and text as they arrived.
        package let raw: String
        /// The headers as a reader of mail shows them.
        package let headers: [String: String]
        /// The text.
        package let plain: String?
        /// The page.
        package let html: String?
        /// What the reader found wrong with it.
        package let defects: [String]
    }

    /// The port it listens on, at 127.0.0.1.
    package let port: Int
    private let process: ChildProcess

    /// Starts a server with `options` of the script, and returns when it listens.
    package init(_ options: [String] = []) async throws {
        process = try ChildProcess(
            PythonTools.interpreter(), [PythonTools.script("mail-server.py")] + options)
        var first = process.lines.makeAsyncIterator()
        guard let line = await first.next(), let port = Int(line) else { throw NoServer() }
        self.port = port
    }

    /// The next mail, once it has come.
    ///
    /// For one reader at a time.
    package func mail() async throws -> Mail {
        var iterator = process.lines.makeAsyncIterator()
        guard let line = await iterator.next() else { throw NoServer() }
        return try JSONDecoder().decode(Mail.self, from: Data(line.utf8))
    }

    /// The server did not start, or has ended.
    private struct NoServer: Error {}
}
