import Foundation

/// A real HTTP server in a process of its own, `Tests/Support/hook-server.py`: answers by a plan, records
/// every request, and ends with this value.
package final class HookServer: Sendable {
    /// One request as the server saw it.
    package struct Record: Decodable, Sendable {
        /// Counts the server's requests from 1.
        package let n: Int
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
    package init(_ options: [String] = []) async throws {
        process = try ChildProcess(
            PythonTools.interpreter(),
            [PythonTools.script("hook-server.py"), "--port", "0", "--record", "-", "--until-stdin-closes"]
                + options)
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
