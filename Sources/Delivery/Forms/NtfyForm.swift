import Grouping
import Tracking

/// A topic of an ntfy server.
///
/// What follows of the same run or thread replaces what is there: ntfy 2.16 and newer edit in place by a sequence id,
/// older servers show one notification after the other.
///
/// - Source: ntfy's documentation, "Publish as JSON", "Updating notifications", "Limitations".
package struct NtfyForm: HTTPForm {
    package static let kind = ChannelKind("ntfy", isLevel: false)
    /// What follows of a run replaces what is there.
    package static let takesProgress = true
    package static let fields =
        [
            FormField("url", .address, "the topic", example: "https://ntfy.sh/my-topic"),
            FormField(AccessToken.key, .secrets, "the access token of a user", example: "{ file: /path }"),
        ] + HTTPReach.fields
    package static let laterFields = ["user", "password", "priority", "click"]

    package let reach: HTTPReach
    private let topic: String

    package init(_ values: FormValues) throws(FormError) {
        let url = try values.address("url")
        let parts = url.target.split(separator: "/", omittingEmptySubsequences: true)
        guard parts.count == 1, let topic = parts.first, (1...64).contains(topic.utf8.count),
            topic.utf8.allSatisfy({ $0.isTopicByte })
        else {
            throw .unfit(
                "url",
                "the address must end in one topic, of letters, digits, - and _, as https://ntfy.sh/my-topic")
        }
        reach = try HTTPReach(to: url, values)
        self.topic = String(topic)
    }

    /// - Source: ntfy's documentation, "Limitations": 60 at once, then one every five seconds.
    package var ownRate: EndpointRate? {
        reach.isHosted(by: "ntfy.sh") ? EndpointRate(burst: 60, interval: .seconds(5)) : nil
    }

    package func render(_ bulletin: Bulletin) -> [UInt8] {
        let notice = bulletin.notice
        // What no text follows is sent as the text: a message without one is "triggered".
        // Its phones show no Markdown.
        let text = notice.body.isEmpty ? notice.title : notice.plainBody
        return JSON.object([
            "topic": .string(topic),
            "title": notice.body.isEmpty ? nil : .string(FormText.fit(notice.title, to: 250)),
            "message": .string(FormText.fit(text, to: Self.longestMessage, in: .bytes)),
            "priority": .int(priority(notice)),
            "tags": .array([.string(bulletin.emblem)]),
            "sequence_id": .string(bulletin.sequence),
            "click": notice.links?.first.map { .string($0.url) },
            "actions": actions(notice),
        ]).bytes
    }

    /// Buttons that open a page; a phone shows three.
    private func actions(_ notice: Notice) -> JSON? {
        guard let links = notice.links, !links.isEmpty else { return nil }
        return .array(
            links.prefix(3).map {
                .object(["action": .string("view"), "label": .string($0.label), "url": .string($0.url)])
            })
    }

    /// 1...5: folded away, without a sound, usual, and with a longer ring.
    private func priority(_ notice: Notice) -> Int {
        switch notice.urgency {
        case .low: 2
        case .normal: notice.ring ? 3 : 2
        case .critical: notice.ring ? 5 : 3
        }
    }

    /// Posted to the server, not to the topic: that is where JSON goes.
    package func request(_ parcel: Parcel, secrets: FormSecrets) -> HTTPRequest {
        HTTPRequest(
            url: reach.url.text.dropLast(reach.url.target.count) + "/",
            headers: [.json] + AccessToken.bearer(secrets), body: parcel.body)
    }

    package func judge(_ answer: HTTPAnswer) -> DeliveryError? {
        let code = answer.json?["code"]?.int
        let said = HTTPAnswer.said(answer.json?["error"]?.text, hint: code.flatMap { Self.hints[$0] })
        return answer.failure(by: .http, detail: said)
    }

    /// Bytes; a longer message becomes a file that is attached.
    private static let longestMessage = 4096

    private static let hints = [
        40101: "the token is not valid on this server: make one with `ntfy token add`",
        40301: "the topic may not be written: set token:, or ask the server's owner for access",
        40009: "choose another topic",
        40010: "choose another topic: this one is reserved by the server",
        42901: "the server's limit of requests is reached",
        42908: "the server's limit of messages a day is reached",
    ]
}

extension UInt8 {
    fileprivate var isTopicByte: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
