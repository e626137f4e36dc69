import API
import Crypto
import Ledger
import Timeline
import Tracking
import WebhookChannel

/// What proves that a hook is from who knows the secret, and by what its repetition is known.
struct HookProof: Sendable {
    /// How far a sender's clock may be from ours, either way.
    static let tolerance = Duration.seconds(300)

    let signature: HookSignature
    let secret: String

    /// Whether a request claims to be signed in this way.
    static func isClaimed(_ signature: HookSignature, by head: RequestHead) -> Bool {
        switch signature {
        case .standard: head[StandardWebhook.signatureHeader] != nil
        case .github: head["x-hub-signature-256"] != nil
        case .gitlab: head["x-gitlab-token"] != nil
        case .slack: head["x-slack-signature"] != nil
        }
    }

    /// The mark of the delivery, the same for each repetition of it; nil: nobody who knows the secret sent this now.
    ///
    /// Where a service does not sign its id, the mark is what it does sign: a listener could send the same under another
    /// id.
    func mark(of head: RequestHead, body: [UInt8], now: Moment) -> String? {
        switch signature {
        case .standard: standard(head, body, now)
        case .github: github(head, body)
        case .gitlab: gitlab(head)
        case .slack: slack(head, body, now)
        }
    }

    private func standard(_ head: RequestHead, _ body: [UInt8], _ now: Moment) -> String? {
        let names = [
            StandardWebhook.idHeader, StandardWebhook.timestampHeader, StandardWebhook.signatureHeader,
        ]
        let fields = names.compactMap { name in head[name].map { (name, $0) } }
        guard let secrets = try? WebhookSecret.list(secret) else { return nil }
        return try? StandardWebhook.verify(
            headers: Dictionary(fields) { first, _ in first }, body: body, secrets: secrets, now: now
        ).id
    }

    /// - Source: docs.github.com, "Validating webhook deliveries".
    private func github(_ head: RequestHead, _ body: [UInt8]) -> String? {
        guard let field = head["x-hub-signature-256"], field.hasPrefix("sha256="),
            isCode(field.dropFirst(7), of: body)
        else { return nil }
        return String(field)
    }

    /// - Source: docs.gitlab.com, "Webhooks": secret token, `Idempotency-Key`.
    private func gitlab(_ head: RequestHead) -> String? {
        guard let field = head["x-gitlab-token"],
            DoorToken.digest(of: field) == DoorToken.digest(of: secret)
        else { return nil }
        return head["idempotency-key"] ?? head["x-gitlab-event-uuid"] ?? DoorToken.make()
    }

    /// - Source: api.slack.com, "Verifying requests from Slack".
    private func slack(_ head: RequestHead, _ body: [UInt8], _ now: Moment) -> String? {
        guard let field = head["x-slack-signature"], field.hasPrefix("v0="),
            let stamp = head["x-slack-request-timestamp"], let seconds = Int64(stamp),
            seconds.magnitude < 1 << 40
        else { return nil }
        let sentAt = Moment(seconds: seconds)
        guard sentAt >= now - Self.tolerance, sentAt <= now + Self.tolerance,
            isCode(field.dropFirst(3), of: Array("v0:\(stamp):".utf8) + body)
        else { return nil }
        // Slack signs a retry anew; the event's id in what it signs stays.
        if let event = JSON(parsing: body[...])?["event_id"]?.text { return "event \(event)" }
        return String(field)
    }

    /// Whether these hexadecimal digits are the authentication code of `content`; compared in constant time.
    private func isCode(_ digits: Substring, of content: [UInt8]) -> Bool {
        guard let code = Self.bytes(ofHex: digits) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            code, authenticating: content, using: SymmetricKey(data: Array(secret.utf8)))
    }

    private static func bytes(ofHex digits: Substring) -> [UInt8]? {
        let values = digits.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard values.count == 64, digits.utf8.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}
