import Grouping
import Timeline
import Tracking

/// A service of PagerDuty: what is wrong is an incident until it has ended.
///
/// - Source: PagerDuty's Events API v2, "Send an event", and its PD-CEF fields.
package struct PagerDutyForm: HTTPForm {
    package static let kind = ChannelKind("pagerduty", isLevel: false)
    package static let audience = Audience.pagers
    package static let fields =
        [
            FormField(
                keyKey, .secrets, "the integration key of the service (Events API v2)",
                example: "{ file: /path }"),
            FormField(
                sourceKey, .word, "what the incident is on, as the name of this machine", example: "web1"),
            FormField("url", .address, "another region", example: "https://events.eu.pagerduty.com"),
        ] + HTTPReach.fields
    private static let keyKey = "key"
    private static let sourceKey = "source"

    package let reach: HTTPReach
    private let source: String

    package init(_ values: FormValues) throws(FormError) {
        try values.secrets(Self.keyKey)
        source = values.text(Self.sourceKey) ?? "belfry"
        reach = try HTTPReach(to: try values.address("url", or: "https://events.pagerduty.com"), values)
    }

    package func render(_ bulletin: Bulletin) -> [UInt8] {
        let notice = bulletin.notice
        let key = FormText.fit(notice.tag, to: Self.longestKey)
        if bulletin.standing == .over {
            return JSON.object(["event_action": .string("resolve"), "dedup_key": .string(key)]).bytes
        }
        return JSON.object([
            "event_action": .string("trigger"),
            "dedup_key": .string(key),
            "payload": .object([
                "summary": .string(FormText.fit(bulletin.headline, to: Self.longestSummary)),
                "source": .string(source),
                "severity": .string(severity(bulletin)),
                "timestamp": .string(bulletin.at.iso8601),
                "component": bulletin.object("run")?["job"]?.text.map { .string($0) },
                "group": .string(notice.bot),
                "class": .string(bulletin.matter.type),
                "custom_details": .object([
                    "text": .string(FormText.fit(notice.body, to: Self.longestText, in: .bytes)),
                    "run": bulletin.object("run")?["name"],
                    "output": bulletin.object("run")?["outputTail"]?.text.map {
                        .string(FormText.fit($0, to: Self.longestText, in: .bytes))
                    },
                ]),
            ]),
            "client": .string("Belfry"),
            "links": notice.links.flatMap { links in
                links.isEmpty
                    ? nil
                    : .array(
                        links.map { .object(["href": .string($0.url), "text": .string($0.label)]) })
            },
        ]).bytes
    }

    private func severity(_ bulletin: Bulletin) -> String {
        switch (bulletin.standing, bulletin.notice.urgency) {
        case (_, .critical): "critical"
        case (.wrong, _): "error"
        case (_, .normal): "warning"
        case (_, .low): "info"
        }
    }

    /// The key is a member of the body, and a secret: it comes in here.
    package func request(_ parcel: Parcel, secrets: FormSecrets) -> HTTPRequest {
        let key = JSON.object(["routing_key": .string(secrets[Self.keyKey].first ?? "")]).bytes
        return HTTPRequest(
            url: reach.url.appending("/v2/enqueue"), headers: [.json],
            body: key.dropLast() + [UInt8(ascii: ",")] + parcel.body.dropFirst())
    }

    package func judge(_ answer: HTTPAnswer) -> DeliveryError? {
        let errors = answer.json?["errors"]?.elements.compactMap(\.text) ?? []
        let said = ([answer.json?["message"]?.text].compactMap(\.self) + errors).joined(separator: ": ")
        let isKey = errors.contains { $0.contains("routing_key") || $0.contains("routing key") }
        let hint: String? =
            isKey ? "the key is not that of an integration by Events API v2: copy it again" : nil
        return answer.failure(
            by: .http, detail: HTTPAnswer.said(said.isEmpty ? answer.line : said, hint: hint))
    }

    /// Characters of the summary and of the key, and bytes of the texts beside them: an event has 512 KB at most.
    private static let longestSummary = 1024
    private static let longestKey = 255
    private static let longestText = 16_384
}
