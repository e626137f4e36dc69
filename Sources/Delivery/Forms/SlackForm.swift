import Grouping
import Tracking

/// An incoming webhook of Slack, or of Mattermost, which takes the same body and reads its text as Markdown.
///
/// - Source: Slack's documentation, "Sending messages using incoming webhooks" and "Block Kit"; Mattermost's, "Incoming
///   webhooks".
package struct SlackForm: HTTPForm {
    package static let kind = ChannelKind("slack", isLevel: false)
    package static let fields =
        PostAddress.fields(
            "Slack or Mattermost", host: "https://mattermost.example.org",
            example: "https://hooks.slack.com/services/T000/B000/XXXX") + HTTPReach.fields
    package static let laterFields = ["channel", "token", "username"]

    package let reach: HTTPReach

    package init(_ values: FormValues) throws(FormError) {
        reach = try PostAddress.reach(values, usual: "https://hooks.slack.com")
    }

    /// Other hosts are those of Mattermost, or of what speaks as it does.
    private var isSlack: Bool {
        ["slack.com", "slack-gov.com"].contains { ".\(reach.url.host)".hasSuffix(".\($0)") }
    }

    package func render(_ bulletin: Bulletin) -> [UInt8] {
        JSON.object(["attachments": .array([isSlack ? blocks(bulletin) : markdown(bulletin)])]).bytes
    }

    /// Plain text under a coloured bar; the fallback is what a phone's notification shows.
    private func blocks(_ bulletin: Bulletin) -> JSON {
        let notice = bulletin.notice
        let title = Self.block("header", FormText.fit(notice.title, to: Self.longestTitle))
        var body: JSON?
        if notice.markup != nil {
            body = Self.richText(notice)
        } else if !notice.body.isEmpty {
            body = Self.block("section", FormText.fit(notice.body, to: Self.longestText))
        }
        return .object([
            "color": .string(bulletin.colourCode),
            "fallback": .string(FormText.fit(bulletin.headline, to: Self.longestText, as: .entities)),
            "blocks": .array([title] + (body.map { [$0] } ?? []) + Self.links(notice)),
        ])
    }

    /// A line with the links: a button would need an app of its own.
    private static func links(_ notice: Notice) -> [JSON] {
        guard let links = notice.links, !links.isEmpty else { return [] }
        let pieces = links.map { link in
            JSON.object([
                "type": .string("link"), "url": .string(link.url),
                "text": .string(FormText.fit(link.label, to: 80)),
            ])
        }
        let gap = JSON.object(["type": .string("text"), "text": .string(" · ")])
        return [richText(Array(pieces.flatMap { [gap, $0] }.dropFirst()))]
    }

    private static func richText(_ elements: [JSON]) -> JSON {
        let section = JSON.object(["type": .string("rich_text_section"), "elements": .array(elements)])
        return .object(["type": .string("rich_text"), "elements": .array([section])])
    }

    /// Text in its styles, in which no character is a mark: Slack's mrkdwn has no way to escape one; nil: there is none.
    private static func richText(_ notice: Notice) -> JSON? {
        let text = MarkedText(notice).cut(to: longestText) { $0.text.utf16.count }
        var elements: [JSON] = []
        for (index, line) in text.lines.enumerated() {
            if index > 0 { elements.append(.object(["type": .string("text"), "text": .string("\n")])) }
            elements += line.filter { !$0.text.isEmpty }.map { span in
                var style: [JSON.Member] = []
                for (name, one) in [("bold", Markdown.Style.bold), ("italic", .italic), ("code", .code)]
                where span.style.contains(one) {
                    style.append(JSON.Member(name, .bool(true)))
                }
                return .object([
                    "type": .string(span.link == nil ? "text" : "link"), "url": span.link.map { .string($0) },
                    "text": .string(span.text), "style": style.isEmpty ? nil : .members(style),
                ])
            }
        }
        return elements.isEmpty ? nil : richText(elements)
    }

    private static func block(_ type: String, _ text: String) -> JSON {
        .object([
            "type": .string(type),
            "text": .object([
                "type": .string("plain_text"), "text": .string(text), "emoji": .bool(false),
            ]),
        ])
    }

    private func markdown(_ bulletin: Bulletin) -> JSON {
        let notice = bulletin.notice
        return .object([
            "color": .string(bulletin.colourCode),
            "fallback": .string(FormText.fit(bulletin.headline, to: Self.longestText)),
            "title": .string(FormText.fit(notice.title, to: Self.longestTitle)),
            "text": .string(FormText.markdown(withLinksOf: notice, to: Self.longestText)),
        ])
    }

    /// - Source: api.slack.com, "Rate limits": one a second for each webhook, short bursts allowed.
    package var ownRate: EndpointRate? {
        reach.isHosted(by: "slack.com") ? EndpointRate(burst: 3, interval: .seconds(1)) : nil
    }

    package func fault(in secrets: FormSecrets) -> String? { PostAddress.fault(in: secrets, on: reach) }

    package func request(_ parcel: Parcel, secrets: FormSecrets) -> HTTPRequest {
        HTTPRequest(url: PostAddress.text(secrets), headers: [.json], body: parcel.body)
    }

    /// Slack answers with one word, Mattermost with JSON.
    package func judge(_ answer: HTTPAnswer) -> DeliveryError? {
        let said = answer.json?["message"]?.text ?? answer.line
        let hint = Self.hints.first { said.hasPrefix($0.said) }?.hint
        return answer.failure(by: .http, detail: HTTPAnswer.said(said, hint: hint))
    }

    /// Characters of a header block.
    private static let longestTitle = 150
    /// Characters of a section block.
    private static let longestText = 3000

    private static let hints: [(said: String, hint: String)] = [
        (
            "no_service",
            "the webhook was removed or turned off: make a new one in Slack's settings of the app"
        ),
        ("no_team", "the workspace no longer exists"),
        ("invalid_token", "the address is not complete: copy it again from Slack's settings of the app"),
        ("channel_not_found", "the webhook's channel no longer exists: make a webhook for another one"),
        ("channel_is_archived", "unarchive the webhook's channel, or make a webhook for another one"),
        ("action_prohibited", "an administrator of the workspace restricts where the webhook may post"),
        ("posting_to_general_channel_denied", "an administrator restricts who may post to #general"),
        ("invalid_payload", "Slack does not accept what Belfry made: please report it"),
        ("invalid_blocks", "Slack does not accept what Belfry made: please report it"),
        ("Invalid webhook", "the webhook was removed: make a new one in Mattermost's integrations"),
    ]
}
