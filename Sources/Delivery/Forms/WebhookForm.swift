package import Timeline
package import Tracking

/// A generic webhook: the event as JSON, signed as Standard Webhooks.
///
/// - Source: Standard Webhooks 1.0.0.
package struct WebhookForm: HTTPForm {
    package static let kind = ChannelKind("webhook", isLevel: false)
    package static let audience = Audience.programs
    package static let fields =
        [
            FormField("url", .address, "where webhooks are posted", example: "https://host/path"),
            FormField(
                secretKey, .secrets, "what webhooks are signed with",
                example: "{ file: /path } with a line whsec_...",
                doubt: "nothing is signed: a receiver can't distinguish these webhooks from forged ones"),
            FormField(
                headersKey, .word, "what the names of its headers begin with, in place of webhook",
                example: "svix"),
        ] + HTTPReach.fields
    package static let laterFields = ["rate"]
    private static let headersKey = "headers"
    package static let signature = HTTPSignature.standardWebhooks(key: secretKey)
    private static let secretKey = "secret"

    package let reach: HTTPReach
    package let signaturePrefix: String

    /// A webhook to whom `reach` says.
    package init(_ reach: HTTPReach) {
        self.reach = reach
        signaturePrefix = "webhook"
    }

    package init(_ values: FormValues) throws(FormError) {
        reach = try HTTPReach(to: try values.address("url"), values)
        signaturePrefix = values.text(Self.headersKey) ?? "webhook"
        let isName = signaturePrefix.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == UInt8(ascii: "-")
        }
        guard isName, (1...40).contains(signaturePrefix.utf8.count) else {
            throw .unfit(
                Self.headersKey, "the names of headers begin with letters, digits and -, such as svix")
        }
        guard let service = Self.service(of: reach.url.host, in: Self.services), let form = service.form
        else {
            return
        }
        throw .unfit("url", "\(service.name) does not accept the JSON of kind: webhook; write \(form)")
    }

    /// Some services have no form, and answer the JSON of this one with an error.
    package var doubt: (message: String, hint: String)? {
        guard let service = Self.service(of: reach.url.host, in: Self.services) else { return nil }
        return (
            "\(service.name) does not accept the JSON of kind: webhook, so nothing will appear there",
            "post to a receiver of your own that passes it on"
        )
    }

    /// A service, and how to write its form.
    private typealias Service = (host: String, name: String, form: String?)

    private static func service(of host: String, in services: [Service]) -> Service? {
        services.first { ".\(host)".hasSuffix(".\($0.host)") }
    }

    private static let services: [Service] = [
        (
            "hooks.slack.com", "Slack",
            "kind: slack, webhook: { file: /path }, and this address into that file"
        ),
        (
            "discord.com", "Discord",
            "kind: discord, webhook: { file: /path }, and this address into that file"
        ),
        (
            "discordapp.com", "Discord",
            "kind: discord, webhook: { file: /path }, and this address into that file"
        ),
        (
            "webhook.office.com", "Microsoft Teams",
            "kind: teams, url: with the host alone, webhook: { file: /path }, and this address into that file"
        ),
        ("api.telegram.org", "Telegram", "kind: telegram, chat: NUMBER, token: { file: /path }"),
        ("ntfy.sh", "ntfy", "kind: ntfy"),
        ("events.pagerduty.com", "PagerDuty", "kind: pagerduty, key: { file: /path }"),
        ("chat.googleapis.com", "Google Chat", nil),
    ]

    package func render(_ bulletin: Bulletin) -> [UInt8] {
        WebhookBody(
            type: bulletin.matter.type, timestamp: bulletin.at, reason: bulletin.matter.reason,
            objects: bulletin.objects
        ).bytes
    }

    package func request(_ parcel: Parcel, secrets: FormSecrets) -> HTTPRequest {
        HTTPRequest(
            url: reach.url.text, headers: [HTTPRequest.Header("Content-Type", "application/json")],
            body: parcel.body)
    }
}

/// What a webhook says: the event's type, when it happened, why it was sent, and what it is about.
///
/// - Source: Standard Webhooks 1.0.0, the payload.
package struct WebhookBody: Hashable, Sendable {
    /// The event's type, as `run.failed`.
    package var type: String
    /// When the event happened.
    package var timestamp: Moment
    /// Why it was sent.
    package var reason: String
    /// The objects it is about, by name: `run`, `item`, `question`, `channel`.
    package var objects: [JSON.Member]

    /// What a webhook says.
    package init(type: String, timestamp: Moment, reason: String, objects: [JSON.Member] = []) {
        self.type = type
        self.timestamp = timestamp
        self.reason = reason
        self.objects = objects
    }

    /// The bytes to sign and send; the same for the same value.
    package var bytes: [UInt8] {
        JSON.object([
            "type": .string(type),
            "timestamp": .string(timestamp.iso8601),
            "data": .members([JSON.Member("reason", .string(reason))] + objects),
        ]).bytes
    }
}
