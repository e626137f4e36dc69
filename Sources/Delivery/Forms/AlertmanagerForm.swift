import Grouping
import Timeline
import Tracking

/// An Alertmanager: what is wrong is an alert until it has ended.
///
/// The labels of an alert are the same from its beginning to its end, so that the end finds it.
///
/// - Source: Alertmanager's API v2, `POST /alerts`; `api/v2/api.go` and `types.Alert.Merge` of 0.25.
package struct AlertmanagerForm: HTTPForm {
    package static let kind = ChannelKind("alertmanager", isLevel: false)
    package static let audience = Audience.pagers
    package static let fields =
        [
            FormField("url", .address, "the Alertmanager", example: "https://alerts.example.org"),
            FormField(AccessToken.key, .secrets, "the bearer token", example: "{ file: /path }"),
            FormField(severityKey, .word, "the label severity of all alerts", example: "critical"),
            FormField(instanceKey, .word, "the label instance of all alerts", example: "web1"),
            FormField(
                resolveAfterKey, .duration, "after how long an alert ends that nothing ended", example: "7d"),
        ] + HTTPReach.fields
    package static let laterFields = ["labels", "user", "password"]
    private static let severityKey = "severity"
    private static let instanceKey = "instance"
    private static let resolveAfterKey = "resolveAfter"

    package let reach: HTTPReach
    private let severity: String
    private let instance: String?
    private let resolveAfter: Duration

    package init(_ values: FormValues) throws(FormError) {
        reach = try HTTPReach(to: try values.address("url"), values)
        severity = values.text(Self.severityKey) ?? "warning"
        instance = values.text(Self.instanceKey)
        resolveAfter = values.duration(Self.resolveAfterKey) ?? .seconds(7 * 86_400)
        guard resolveAfter >= .seconds(60) else {
            throw .unfit(Self.resolveAfterKey, "an alert lasts a minute at least")
        }
    }

    package func render(_ bulletin: Bulletin) -> [UInt8] {
        let notice = bulletin.notice
        let alert = JSON.object([
            "labels": labels(bulletin),
            "annotations": .object([
                "summary": .string(FormText.fit(notice.title, to: 250)),
                "description": .string(FormText.fit(notice.body, to: Self.longestText, in: .bytes)),
                "urgency": .string(notice.urgency.rawValue),
                "reason": .string(bulletin.matter.reason),
            ]),
            "startsAt": bulletin.standing == .over ? nil : .string(bulletin.at.iso8601),
            "endsAt": .string(end(of: bulletin).iso8601),
        ])
        return JSON.array([alert]).bytes
    }

    private func labels(_ bulletin: Bulletin) -> JSON {
        var (name, what, value) = ("BelfryNotice", "item", bulletin.notice.tag)
        switch bulletin.notice.item {
        case .job(let job) where bulletin.standing != .word:
            (name, what, value) = ("BelfryJobFailing", "job", job)
        case .job(let job): (what, value) = ("job", job)
        case .thread where bulletin.standing != .word: name = "BelfryFailing"
        case .thread, .storm, .question: break
        }
        return .object([
            "alertname": .string(name), what: .string(value), "bot": .string(bulletin.notice.bot),
            "severity": .string(severity), "instance": instance.map { .string($0) },
        ])
    }

    /// Alertmanager ends by itself, after some minutes, what does not name its end.
    private func end(of bulletin: Bulletin) -> Moment {
        switch bulletin.standing {
        case .over: bulletin.at
        case .wrong: bulletin.at + resolveAfter
        case .word: bulletin.at + min(resolveAfter, .seconds(3600))
        }
    }

    package func request(_ parcel: Parcel, secrets: FormSecrets) -> HTTPRequest {
        HTTPRequest(
            url: reach.url.appending("/api/v2/alerts"), headers: [.json] + AccessToken.bearer(secrets),
            body: parcel.body)
    }

    /// It answers with a text in JSON, or with an object.
    package func judge(_ answer: HTTPAnswer) -> DeliveryError? {
        let said = answer.json.flatMap { $0.text ?? $0["message"]?.text } ?? answer.line
        let hint =
            answer.status == 404 ? "url: wants the address of Alertmanager itself, without /api/v2" : nil
        return answer.failure(by: .http, detail: HTTPAnswer.said(said, hint: hint))
    }

    /// Bytes of the description.
    private static let longestText = 8192
}
