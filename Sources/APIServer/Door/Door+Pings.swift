import API
import Engine
import Ledger
import Tracking

// Reports of what must report in time, at the addresses that healthchecks' clients know.
extension Door {
    /// What the paths of reports begin with; the key follows.
    static let pingLead = "/v1/ping/"
    /// The largest body of a report; of more only the beginning would be kept, and its end is what matters.
    private static let pingLimit = 100 * 1024

    /// A report: `/v1/ping/KEY`, `/start`, `/fail`, `/log`, or an exit code; nil: it is another request.
    ///
    /// The key is the permission. Each has a budget of its own, and so has each address that guesses.
    func ping(_ head: RequestHead) async throws(APIError) -> Admission? {
        guard head.path.hasPrefix(Self.pingLead) else { return nil }
        let parts = head.path.dropFirst(Self.pingLead.count)
            .split(separator: "/", omittingEmptySubsequences: false)
        guard let key = parts.first, (1...2).contains(parts.count),
            let ping = ExpectationPing(word: parts.count == 2 ? parts[1] : "")
        else {
            try take(for: head.remote)
            throw APIError(
                .noSuchPath, hint: "It takes /start, /fail, /log or an exit code behind the key, or nothing.")
        }
        guard ["GET", "HEAD", "POST"].contains(head.method) else {
            try take(for: head.remote)
            throw APIError(.badMethod, hint: "It takes GET, HEAD and POST.")
        }
        let digest = DoorToken.digest(of: String(key))
        guard let expectation = try await handler.asking(await control.expectation(digest: digest)) else {
            try take(for: head.remote)
            throw APIError(.noSuchExpectation, hint: "List the addresses with: belfry expect list")
        }
        try take(for: "ping " + expectation.name)
        let isHead = head.method == "HEAD"
        return Admission(bodyLimit: Self.pingLimit) { [self] body in
            do throws(APIError) {
                let line = LastLines(body.suffix(LastLines.byteLimit)).text(most: 1)
                guard try await handler.asking(await control.report(ping, line, digest: digest)) else {
                    throw APIError(.noSuchExpectation)
                }
                return .whole(status: 200, contentType: "text/plain", bytes: Array((isHead ? "" : "OK").utf8))
            } catch {
                return .failure(error)
            }
        }
    }
}

extension ExpectationPing {
    /// What stands behind the key in an address; nil: nothing that a report can be.
    ///
    /// - Source: healthchecks' documentation, "Pinging API".
    init?(word: Substring) {
        switch word {
        case "": self = .success
        case "start": self = .start
        case "fail": self = .failure(code: nil)
        case "log": self = .log
        default:
            guard let code = UInt8(word) else { return nil }
            self = code == 0 ? .success : .failure(code: Int(code))
        }
    }
}
