import Grouping
import Timeline
import Tracking

/// A receiver of CloudEvents by HTTP, in the binary or the structured mode.
///
/// - Source: CloudEvents 1.0.2, its JSON event format, HTTP protocol binding and HTTP webhook 1.0.2.
package struct CloudEventsForm: HTTPForm {
    package static let kind = ChannelKind("cloudevents", isLevel: false)
    package static let audience = Audience.programs
    package static let fields =
        [
            FormField("url", .address, "where events are posted", example: "https://host/path"),
            FormField(AccessToken.key, .secrets, "the bearer token", example: "{ file: /path }"),
            FormField(modeKey, .word, "binary or structured", example: "structured"),
            FormField(
                sourceKey, .word, "the source of the events, a URI or a part of one", example: "/hosts/web1"),
        ] + HTTPReach.fields
    package static let laterFields = ["batch", "headers"]
    private static let modeKey = "mode"
    private static let sourceKey = "source"

    package let reach: HTTPReach
    private let isStructured: Bool
    private let source: String

    package init(_ values: FormValues) throws(FormError) {
        reach = try HTTPReach(to: try values.address("url"), values)
        switch values.text(Self.modeKey) ?? "binary" {
        case "binary": isStructured = false
        case "structured": isStructured = true
        case let word: throw .unfit(Self.modeKey, "\"\(word)\" is not a mode; known here: binary, structured")
        }
        source = values.text(Self.sourceKey) ?? "belfry"
        guard source.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .unfit(Self.sourceKey, "a source is a URI: letters, digits and punctuation of ASCII")
        }
    }

    /// The data alone: the id is known when it is sent.
    package func render(_ bulletin: Bulletin) -> [UInt8] {
        let notice = bulletin.notice
        let text = JSON.object([
            "title": .string(notice.title), "body": .string(notice.body),
            "urgency": .string(notice.urgency.rawValue),
        ])
        return JSON.members(
            [.init("reason", .string(bulletin.matter.reason)), .init("notice", text)] + bulletin.objects
        ).bytes
    }

    package func request(_ parcel: Parcel, secrets: FormSecrets) -> HTTPRequest {
        let attributes = [
            ("specversion", "1.0"), ("id", parcel.id), ("source", source), ("type", "belfry.\(parcel.type)"),
            ("time", parcel.timestamp.iso8601),
        ]
        let token = AccessToken.bearer(secrets)
        guard isStructured else {
            let headers = attributes.map { HTTPRequest.Header("ce-\($0.0)", $0.1) }
            return HTTPRequest(
                url: reach.url.text, headers: [.json] + headers + token, body: parcel.body)
        }
        let type = HTTPRequest.Header("Content-Type", "application/cloudevents+json; charset=utf-8")
        let members = attributes.map { JSON.Member($0.0, .string($0.1)) }
        let head = JSON.members(members + [.init("datacontenttype", .string("application/json"))]).bytes
        return HTTPRequest(
            url: reach.url.text, headers: [type] + token,
            body: head.dropLast() + Array(#","data":"#.utf8) + parcel.body + [UInt8(ascii: "}")])
    }

    package func judge(_ answer: HTTPAnswer) -> DeliveryError? {
        let other = isStructured ? "binary" : "structured"
        let hint = answer.status == 415 ? "the receiver does not accept this mode: write mode: \(other)" : nil
        return answer.failure(by: .http, detail: hint)
    }
}
