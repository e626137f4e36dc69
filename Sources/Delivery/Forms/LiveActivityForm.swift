import Grouping
import Timeline
import Tracking

/// A relay that passes what it is posted on to Apple's push service, as the body of a Live Activity's push.
///
/// Whatever is of no run is an ordinary alert.
///
/// - Source: Apple's documentation, "Starting and updating Live Activities with ActivityKit push notifications".
package struct LiveActivityForm: HTTPForm {
    package static let kind = ChannelKind("live-activity", isLevel: false)
    package static let audience = Audience.programs
    package static let fields =
        [
            FormField("url", .address, "the relay", example: "https://relay.example.org/push"),
            FormField(AccessToken.key, .secrets, "the relay's bearer token", example: "{ file: /path }"),
            FormField(
                attributesKey, .word, "the type of the attributes in the app", example: "TaskAttributes"),
        ] + HTTPReach.fields
    private static let attributesKey = "attributes"

    package let reach: HTTPReach
    private let attributes: String

    package init(_ values: FormValues) throws(FormError) {
        reach = try HTTPReach(to: try values.address("url"), values)
        attributes = values.text(Self.attributesKey) ?? "BelfryTaskAttributes"
        guard attributes.utf8.count <= 100 else {
            throw .unfit(Self.attributesKey, "the name of a type has at most 100 bytes")
        }
    }

    /// What the headers hold, and the body.
    package func render(_ bulletin: Bulletin) -> [UInt8] {
        let run = bulletin.object("run")
        let push = run == nil ? "alert" : "liveactivity"
        let isOfProgress = EventType(rawValue: bulletin.matter.type) == .runProgress
        // The last one before the activity is over is more than that; what follows reaches a phone that missed it.
        let isLast = run.map { Self.isOver($0, at: bulletin.at, within: PushGovernor.gap) } ?? false
        let body = JSON.object([
            "aps": run.map { activity(bulletin, $0) } ?? .object(["alert": alert(bulletin)])
        ])
        return JSON.object([
            "type": .string(push), "collapse": .string(bulletin.sequence),
            // Pushes of progress don't count against the phone's budget.
            "priority": isOfProgress && !isLast ? .int(5) : nil,
            "payload": body,
        ]).bytes
    }

    private func activity(_ bulletin: Bulletin, _ run: JSON) -> JSON {
        let event = EventType(rawValue: bulletin.matter.type)
        let isStart = event == .runStarted
        let isOver = Self.isOver(run, at: bulletin.at)
        let isAtWork = isStart || !isOver && (event == .runBlocked || event == .runProgress)
        let staleAt = Self.moment(run["live"]?["staleAt"])
        let now = bulletin.at.seconds
        // The phone drops an update that is not younger than the last one, in whole seconds: what comes later in the life
        // of a run is younger by a second, also within one.
        let started = Self.moment(run["startedAt"]).map { $0.seconds + 1 } ?? now
        let order: Int64 = isStart || event == .runProgress && isAtWork ? 0 : isAtWork ? 1 : 2
        return .object([
            "timestamp": .int((isStart ? now : max(now, started)) + order),
            "event": .string(isStart ? "start" : isAtWork ? "update" : "end"),
            "content-state": state(bulletin, run, isAtWork: isAtWork),
            "attributes-type": isStart ? .string(attributes) : nil,
            "attributes": isStart
                ? .object(["taskId": run["id"], "botId": .string(bulletin.notice.bot)]) : nil,
            "input-push-token": isStart ? .int(1) : nil,
            "alert": isStart || bulletin.notice.ring ? alert(bulletin) : nil,
            "dismissal-date": isAtWork ? nil : .int(now + Self.shownAfterEnd),
            // One in the past would never be shown.
            "stale-date": isAtWork ? staleAt.flatMap { $0 > bulletin.at ? .int($0.seconds) : nil } : nil,
            "relevance-score": .int(bulletin.standing == .wrong ? 100 : 50),
        ])
    }

    /// Whether the system is about to end the activity, so that it is ended with its last state; for no longer than
    /// `most`.
    private static func isOver(_ run: JSON, at now: Moment, within most: Duration? = nil) -> Bool {
        guard let started = moment(run["startedAt"]) else { return false }
        let age = now - started - PushGovernor.longestLife
        return age >= .zero && most.map { age < $0 } ?? true
    }

    private static func moment(_ value: JSON?) -> Moment? {
        (value?.text).flatMap { try? Moment(iso8601: $0) }
    }

    /// The phone's model of a task.
    private func state(_ bulletin: Bulletin, _ run: JSON, isAtWork: Bool) -> JSON {
        let live = run["live"]
        let status = isAtWork ? "running" : bulletin.standing == .over ? "completed" : "failed"
        return .object([
            "taskName": .string(FormText.fit(run["job"]?.text ?? "", to: 100, in: .bytes)),
            "progress": bulletin.standing == .over ? .int(1) : live?["progress"],
            "status": .string(status),
            "timeRemaining": isAtWork ? live?["timeRemaining"] : nil,
            // Whole seconds since 1970: what the phone counts down to by itself.
            "etaEpoch": isAtWork ? Self.moment(live?["etaAt"]).map { .int($0.seconds) } : nil,
            "startedEpoch": Self.moment(run["startedAt"]).map { .int($0.seconds) },
            "botName": .string(FormText.fit(bulletin.notice.bot, to: 100, in: .bytes)),
            "message": .string(FormText.fit(bulletin.notice.body, to: Self.longestText, in: .bytes)),
        ])
    }

    private func alert(_ bulletin: Bulletin) -> JSON {
        .object([
            "title": .string(FormText.fit(bulletin.notice.title, to: Self.longestTitle, in: .bytes)),
            "body": .string(FormText.fit(bulletin.notice.body, to: Self.longestText, in: .bytes)),
        ])
    }

    package func request(_ parcel: Parcel, secrets: FormSecrets) -> HTTPRequest {
        let push = JSON(parsing: parcel.body[...])
        let headers = [
            HTTPRequest.Header("apns-push-type", push?["type"]?.text ?? "alert"),
            .init("apns-priority", push?["priority"]?.int == 5 ? "5" : "10"),
            .init("apns-collapse-id", push?["collapse"]?.text ?? ""),
        ]
        return HTTPRequest(
            url: reach.url.text, headers: [.json] + headers + AccessToken.bearer(secrets),
            body: push?["payload"]?.bytes ?? [])
    }

    /// A relay passes on what Apple's service says.
    package func judge(_ answer: HTTPAnswer) -> DeliveryError? {
        let reason = answer.json?["reason"]?.text
        let hint = reason.flatMap { Self.hints[$0] }
        return answer.failure(
            by: .http, detail: HTTPAnswer.said(reason ?? answer.line, hint: hint))
    }

    /// Bytes of a title and of a text, which may be written twice and each with escapes: all of a push has 4 KB.
    private static let longestTitle = 200
    private static let longestText = 600
    /// Seconds.
    private static let shownAfterEnd: Int64 = 900

    private static let hints = [
        "BadDeviceToken": "the relay has the token of another app, or of another environment",
        "ExpiredToken": "the activity has ended: the phone has to start another one",
        "Unregistered": "the app was removed from the phone",
        "TooManyRequests": "too many pushes to one phone",
        "PayloadTooLarge": "Apple accepts 4 KB",
    ]
}
