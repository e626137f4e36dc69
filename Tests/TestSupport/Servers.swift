import Foundation

/// A real HTTP server in a process of its own, `Tests/Support/hook-server.py`: answers by a plan, records
/// every request, and ends with this value.
package final class HookServer: Sendable {
    /// One request as the server saw it.
    package struct Record: Decodable, Sendable {
        /// The header `webhook-id`.
        package let id: String?
        /// The method.
        package let method: String
        /// The path with its query.
        package let path: String
        /// The header lines, names in lower case.
        package let headers: [String: String]
        /// The body, unless it is longer than 64 KiB.
        package let body: String?
        /// How long the body is.
        package let bodyBytes: Int
        /// The body's SHA-256 in hexadecimal digits.
        package let bodySha256: String
        /// The client's port: equal for requests of one connection.
        package let client: Int
        /// The status it got.
        package let status: Int?
        /// What `standardwebhooks` says of it; `nil` without a secret.
        package let verified: Bool?
        /// Why it did not verify.
        package let error: String?
    }

    /// The port it listens on.
    package let port: Int
    private let process: ChildProcess

    /// Starts a server with `options` of the script, and returns when it listens.
    ///
    /// `script` is another one that records requests in the same way.
    package init(_ options: [String] = [], script: String = "hook-server.py") async throws {
        process = try ChildProcess(
            PythonTools.interpreter(),
            [PythonTools.script(script), "--port", "0", "--record", "-", "--until-stdin-closes"] + options)
        var first = process.lines.makeAsyncIterator()
        guard let line = await first.next(), let port = Int(line) else { throw NoServer() }
        self.port = port
    }

    /// The address of `path` on it.
    package func url(_ path: String = "/hook", scheme: String = "http", host: String = "127.0.0.1") -> String
    {
        "\(scheme)://\(host):\(port)\(path)"
    }

    /// The next `count` requests, once they have come.
    ///
    /// For one reader at a time.
    package func records(_ count: Int) async throws -> [Record] {
        var records: [Record] = []
        var iterator = process.lines.makeAsyncIterator()
        while records.count < count, let line = await iterator.next() {
            records.append(try JSONDecoder().decode(Record.self, from: Data(line.utf8)))
        }
        guard records.count == count else { throw NoServer() }
        return records
    }

    /// The next request, once it has come.
    package func record() async throws -> Record {
        let records = try await records(1)
        return records[0]
    }

    /// Ends the server; its port may be another's from here on: see ``RefusingPort``.
    package func stop() async {
        await process.end()
    }

    /// The server did not start, or has ended.
    private struct NoServer: Error {}
}

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

/// A real HTTP server in a process of its own, `Tests/Support/provider-server.py`: answers as a bot's provider, by a
/// script and piece by piece, records every request, and ends with this value.
package final class ProviderServer: Sendable {
    /// One answer of the script.
    package struct Answer: Encodable, Sendable {
        /// What follows the body.
        package enum End: String, Encodable, Sendable {
            /// The answer is complete.
            case end
            /// The connection is closed without an answer.
            case drop
            /// Nothing, not even the head, until the client leaves.
            case mute
            /// The connection is closed in the middle of the answer.
            case cut
            /// Nothing, until the client leaves.
            case hang
        }

        var status: Int
        var headers: [String: String]
        var body: String
        var piece: Int?
        var `repeat`: Int
        var then: End

        /// An answer; a stream of events, sent at once, unless said otherwise.
        package init(
            _ body: String, status: Int = 200, type: String = "text/event-stream",
            headers: [String: String] = [:], piece: Int? = nil, repeating: Int = 1, then: End = .end
        ) {
            self.status = status
            self.headers = headers.merging(["Content-Type": type]) { first, _ in first }
            self.body = body
            self.piece = piece
            self.`repeat` = repeating
            self.then = then
        }
    }

    /// One request as the server saw it.
    package struct Request: Decodable, Sendable {
        /// The method.
        package let method: String
        /// The path with its query.
        package let path: String
        /// The header lines, names in lower case.
        package let headers: [String: String]
        /// The body.
        package let body: String
    }

    /// The port it listens on.
    package let port: Int
    private let process: ChildProcess

    /// Starts a server with these answers, the last of them for all further requests; returns when it listens.
    ///
    /// It takes any free port unless one is given; see ``RefusingPort/makeFree()``.
    package init(_ answers: Answer..., at wanted: Int = 0) async throws {
        let script = try JSONEncoder().encode(answers)
        var word = String(decoding: script, as: UTF8.self)
        // The system takes no argument of more than 128 KiB. It is read before the first line is printed.
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        if script.count > 100_000 {
            try script.write(to: URL(fileURLWithPath: folder.file("script")))
            word = "@" + folder.file("script")
        }
        process = try ChildProcess(
            PythonTools.interpreter(), [PythonTools.script("provider-server.py"), word, "\(wanted)"])
        var first = process.lines.makeAsyncIterator()
        guard let line = await first.next(), let port = Int(line) else { throw NoServer() }
        self.port = port
    }

    /// The address of `path` on it.
    package func url(_ path: String = "", host: String = "127.0.0.1") -> String {
        "http://\(host):\(port)\(path)"
    }

    /// The next line it prints, once it has come: a request, or `left`.
    package func line() async throws -> String {
        var iterator = process.lines.makeAsyncIterator()
        guard let line = await iterator.next() else { throw NoServer() }
        return line
    }

    /// The next request, once it has come.
    package func request() async throws -> Request {
        try JSONDecoder().decode(Request.self, from: Data(await line().utf8))
    }

    /// Ends the server; its port may be another's from here on: see ``RefusingPort``.
    package func stop() async { await process.end() }

    /// The server did not start, or has ended.
    private struct NoServer: Error {}
}
