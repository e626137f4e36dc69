import API
import Crypto
import Delivery
import Engine
import Host
import Ledger
import Synchronization
import Timeline
import Tracking

/// Decides what a request over TCP may do: nothing but what its token allows.
package final class Door: Sendable {
    /// The largest body of a request.
    static let bodyLimit = 64 * 1024

    let handler: DaemonHandler
    private let table: HandlerTable
    private let budget = Mutex(RequestBudget())

    /// The door of a daemon whose requests are answered by `handler`.
    package init(_ handler: DaemonHandler) {
        self.handler = handler
        table = handler.handlers
    }

    var control: Control { handler.control }

    /// Lets a request in, or refuses it before its body is read.
    func admit(_ head: RequestHead) async throws(APIError) -> Admission {
        if head.path == Endpoints.health.row.path.text { return try endpoint(head, allowing: nil) }
        if let question = try question(head) { return question }
        if let hook = try await hook(head) { return hook }
        if let ping = try await ping(head) { return ping }
        guard let secret = DoorToken.carried(by: head) else {
            try take(for: head.remote)
            throw APIError(
                .noToken,
                hint: "Make one with: belfry token add NAME, and send it as: Authorization: Bearer TOKEN")
        }
        let digest = DoorToken.digest(of: secret)
        guard let token = try await handler.reading(await control.ledger.token(digest: digest)) else {
            try take(for: head.remote)
            throw APIError(.noToken, "the token is not known", hint: "Make one with: belfry token add NAME")
        }
        if let agent = try agent(head, by: token) {
            await note(token)
            return agent
        }
        try take(for: "token " + token.name)
        await note(token)
        if let publication = try publication(head, by: token) { return publication }
        return try endpoint(head, allowing: token)
    }

    /// Takes a request from the budget of a visitor.
    func take(for visitor: String) throws(APIError) {
        let now = control.clock.sinceBoot
        guard budget.withLock({ $0.take(for: visitor, at: now) }) else {
            throw Self.tooMany
        }
    }

    /// Refuses a visitor who has nothing left of its budget, and takes nothing.
    func look(at visitor: String) throws(APIError) {
        let now = control.clock.sinceBoot
        guard budget.withLock({ $0.hasRoom(for: visitor, at: now) }) else {
            throw Self.tooMany
        }
    }

    private static var tooMany: APIError {
        APIError(
            .tooMany,
            hint:
                "\(RequestBudget.most) are allowed at once, then one every \(RequestBudget.secondsForOne) seconds."
        )
    }

    /// Notes that a token is used, at most once a minute.
    func note(_ token: TokenRecord) async {
        let now = control.clock.now
        if let used = token.usedAt, now - used < .seconds(60) { return }
        // Nobody is refused because that could not be noted.
        _ = try? await control.ledger.commit([.noteToken(id: token.id, usedAt: now)])
    }

    /// Refuses what the token does not allow.
    func allow(_ token: TokenRecord?, _ scope: TokenScope) throws(APIError) {
        guard token?.allows(scope) != true else { return }
        throw APIError(
            .wrongScope, "the token \(Quoted.of(token?.name ?? "")) does not allow that: it lacks \(scope)",
            hint: "Make one that does: belfry token add NAME --scope \(scope)")
    }

    /// A request of an endpoint of the API.
    private func endpoint(
        _ head: RequestHead, allowing token: TokenRecord?
    ) throws(APIError) -> Admission {
        let match = try table.router.match(method: head.method, path: head.path[...])
        if let scope = match.row.scope { try allow(token, scope) }
        return Admission(bodyLimit: Self.bodyLimit) { [table] body in
            let request = APIRequest(
                row: match.row, path: match.path, query: head.query, body: body,
                lastEventID: head["last-event-id"])
            return await Caller.$token.withValue(token?.name) { await table.respond(to: request) }
        }
    }
}

/// A token that a program connects over TCP with.
enum DoorToken {
    /// What every token begins with, so that people and scanners know one when they see it.
    static let lead = "bft_"

    /// A new one: 32 bytes that nobody can guess.
    static func make() -> String {
        lead + plain(Base64.encode(bytes()))
    }

    /// 32 bytes that nobody can guess.
    static func bytes() -> [UInt8] {
        (0..<4).flatMap { _ in
            let word = RandomBytes.word()
            return (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
    }

    /// What is kept of it.
    ///
    /// The token is random and long: a slow hash would add nothing.
    static func digest(of token: String) -> String {
        SHA256.hash(data: Array(token.utf8)).map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined()
    }

    /// The token that a request carries: as `Bearer`, as the password of `Basic`, or either of these in `?auth=`.
    ///
    /// - Source: RFC 6750, RFC 7617; ntfy's documentation, "Query param".
    static func carried(by head: RequestHead) -> String? {
        if let field = head["authorization"] { return token(inField: field) }
        guard let text = head.query["auth"], let bytes = bytes(ofURLText: text),
            let field = String(validating: bytes, as: UTF8.self)
        else { return nil }
        return token(inField: field)
    }

    private static func token(inField field: String) -> String? {
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let value = parts[1].drop { $0 == " " }
        switch parts[0].lowercased() {
        case "bearer": return String(value)
        case "basic":
            guard let bytes = Base64.decode(String(value)),
                let text = String(validating: bytes, as: UTF8.self),
                let colon = text.firstIndex(of: ":")
            else { return nil }
            return String(text[text.index(after: colon)...])
        default: return nil
        }
    }

    /// Bytes in the letters of either alphabet, padded or not.
    private static func bytes(ofURLText text: String) -> [UInt8]? {
        var letters = text.replacing("-", with: "+").replacing("_", with: "/").filter { $0 != "=" }
        while letters.utf8.count % 4 != 0 { letters += "=" }
        return Base64.decode(letters)
    }

    /// In letters that need no escape in an address, without padding.
    static func plain(_ base64: String) -> String {
        base64.replacing("+", with: "-").replacing("/", with: "_").filter { $0 != "=" }
    }
}
