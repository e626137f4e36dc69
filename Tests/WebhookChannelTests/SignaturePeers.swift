import TestSupport
import Testing
import Timeline
import Tracking
import WebhookChannel

/// Another program that signs and verifies, `Tests/Support/signature-peer.py`.
private final class SignaturePeer: Sendable {
    private let process: ChildProcess

    init() throws {
        process = try ChildProcess(PythonTools.interpreter(), [PythonTools.script("signature-peer.py")])
    }

    func ask(_ question: KeyValuePairs<String, JSON?>) async throws -> String {
        try process.write(String(decoding: JSON.object(question).bytes, as: UTF8.self))
        var lines = process.lines.makeAsyncIterator()
        return try #require(await lines.next())
    }
}

@Suite(.timeLimit(.minutes(5))) struct `signatures of others` {
    private static let bodies = [
        "{}", #"{"type":"run.failed","data":{"reason":"exitCode"}}"#, #"{"text":"größer 👨‍👩‍👧‍👦 \n\u0000"}"#,
        "{\"x\":\"" + String(repeating: "a", count: 20_000) + "\"}",
    ]

    private func headers(_ id: String, _ at: Moment, _ signature: String) -> [String: String] {
        ["webhook-id": id, "webhook-timestamp": "\(at.seconds)", "webhook-signature": signature]
    }

    private func json(_ headers: [String: String]) -> JSON {
        .members(headers.sorted { $0.key < $1.key }.map { JSON.Member($0.key, .string($0.value)) })
    }

    /// A new secret, and what verifies what it signs.
    private func secrets(_ isPublic: Bool, _ peer: SignaturePeer) async throws -> (
        sign: String, verify: String
    ) {
        let key = Base64.encode((0..<32).map { _ in UInt8.random(in: .min ... .max) })
        guard isPublic else { return ("whsec_" + key, "whsec_" + key) }
        let text = "whsk_" + key
        return (text, try await peer.ask(["do": .string("public"), "secret": .string(text)]))
    }

    @Test(arguments: [false, true])
    func `are verified here, and ours by them, by HMAC and by ed25519`(isPublic: Bool) async throws {
        let peer = try SignaturePeer()
        let now = Moment(seconds: try #require(Int64(try await peer.ask(["do": .string("now")]))))
        let (mine, theirs) = (try await secrets(isPublic, peer), try await secrets(isPublic, peer))
        func verifies(_ headers: [String: String], _ body: String, _ secret: String) async throws -> Bool {
            try await peer.ask([
                "do": .string("verify"), "secret": .string(secret), "headers": json(headers),
                "body": .string(body),
            ]) == "yes"
        }
        func isTaken(_ headers: [String: String], _ body: String, _ secret: String) throws -> Bool {
            let secret = try WebhookSecret(secret)
            let found = try? StandardWebhook.verify(
                headers: headers, body: Array(body.utf8), secrets: [secret], now: now)
            return found != nil
        }
        for (number, body) in Self.bodies.enumerated() {
            let id = "evt-\(number)"
            // While a secret is replaced, ours are signed with both.
            let signing = [try WebhookSecret(mine.sign), try WebhookSecret(theirs.sign)]
            let ours = headers(
                id, now, StandardWebhook.sign(id: id, at: now, body: Array(body.utf8), secrets: signing))
            #expect(try await verifies(ours, body, mine.verify))
            #expect(try await verifies(ours, body, theirs.verify) || isPublic)
            #expect(try await !verifies(ours, body + " ", mine.verify))
            let signature = try await peer.ask([
                "do": .string("sign"), "secret": .string(theirs.sign), "id": .string(id),
                "at": .int(now.seconds), "body": .string(body),
            ])
            #expect(try isTaken(headers(id, now, signature), body, theirs.verify))
            #expect(try !isTaken(headers(id, now, signature), body, mine.verify))
            #expect(try !isTaken(headers(id, now, signature), body + " ", theirs.verify))
            #expect(try !isTaken(headers("evt-x", now, signature), body, theirs.verify))
        }
    }
}
