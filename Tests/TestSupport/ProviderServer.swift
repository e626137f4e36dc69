import Foundation

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
