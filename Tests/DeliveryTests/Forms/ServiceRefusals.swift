import Delivery
import Testing

/// An answer of a service, and what a person reads of it.
private struct Refusal: CustomTestStringConvertible, Sendable {
    let form: @Sendable () throws -> any HTTPService
    let status: Int
    let body: String
    let error: DeliveryError
    var testDescription: String { "\(status) \(body)" }

    /// It is given up, with this said after the status.
    static func dead(
        _ form: @autoclosure @escaping @Sendable () throws -> any HTTPService, _ status: Int, _ body: String,
        _ said: String, _ reason: DeliveryReason = .rejected, as shown: Int? = nil
    ) -> Refusal {
        let detail = "https://e.org answered \(shown ?? status): \(said)"
        return Refusal(
            form: form, status: status, body: body,
            error: .giveUp(reason, detail: detail, status: shown ?? status))
    }

    /// It is tried again after that many seconds.
    static func again(
        _ form: @autoclosure @escaping @Sendable () throws -> any HTTPService, _ status: Int, _ body: String,
        _ said: String, after: Duration? = nil, _ reason: DeliveryReason = .throttled, as shown: Int? = nil
    ) -> Refusal {
        let detail = "https://e.org answered \(shown ?? status): \(said)"
        return Refusal(
            form: form, status: status, body: body,
            error: .retry(reason, after: after, detail: detail, status: shown ?? status))
    }

    static let chats: [Refusal] = [
        .dead(
            try Sample.ntfy(), 403, #"{"code":40301,"http":403,"error":"forbidden"}"#,
            "forbidden; the topic may not be written: set token:, or ask the server's owner for access"),
        .again(
            try Sample.ntfy(), 429, #"{"code":42901,"error":"limit reached: too many requests"}"#,
            "limit reached: too many requests; the server's limit of requests is reached"),
        .dead(
            try Sample.slack(), 404, "channel_not_found",
            "channel_not_found; the webhook's channel no longer exists: make a webhook for another one"),
        .dead(
            try Sample.slack(), 400, "invalid_payload",
            "invalid_payload; Slack does not accept what Belfry made: please report it"),
        .dead(
            try Sample.slack(), 410, "channel_is_archived",
            "channel_is_archived; unarchive the webhook's channel, or make a webhook for another one", .gone),
        .dead(
            try Sample.mattermost(), 400, #"{"id":"web.incoming_webhook","message":"Invalid webhook"}"#,
            "Invalid webhook; the webhook was removed: make a new one in Mattermost's integrations"),
        .dead(
            try Sample.discord(), 404, #"{"message":"Unknown Webhook","code":10015}"#,
            "Unknown Webhook, code 10015; the webhook was deleted: make a new one in the settings of the channel"
        ),
        .dead(
            try Sample.discord(), 400,
            """
            {"code":50035,"errors":{"embeds":{"0":{"title":{"_errors":[{"code":"BASE_TYPE_MAX_LENGTH",\
            "message":"Must be 256 or fewer in length."}]}}}},"message":"Invalid Form Body"}
            """,
            """
            Invalid Form Body, code 50035, embeds.0.title: Must be 256 or fewer in length.; Discord does not \
            accept what Belfry made: please report it
            """),
        .again(
            try Sample.discord(), 429, #"{"message":"You are being rate limited.","retry_after":1.5}"#,
            "You are being rate limited.", after: .seconds(1.5)),
        .dead(
            try Sample.gotify(), 401,
            #"{"error":"Unauthorized","errorDescription":"you need a valid token"}"#,
            """
            you need a valid token; token: wants the token of an application, which begins with A, not of a client
            """),
        .dead(
            try Sample.telegram(), 403,
            #"{"ok":false,"error_code":403,"description":"Forbidden: bot can't initiate conversation with a user"}"#,
            """
            Forbidden: bot can't initiate conversation with a user; the person has to open the bot and press \
            Start first
            """),
        .dead(
            try Sample.telegram(), 400,
            #"{"ok":false,"description":"Bad Request: can't parse entities: unsupported start tag at byte offset 9"}"#,
            """
            Bad Request: can't parse entities: unsupported start tag at byte offset 9; Telegram does not accept \
            what Belfry made: please report it
            """),
        .dead(
            try Sample.telegram(), 400,
            """
            {"ok":false,"description":"Bad Request: group chat was upgraded to a supergroup chat",\
            "parameters":{"migrate_to_chat_id":-1001}}
            """,
            """
            Bad Request: group chat was upgraded to a supergroup chat; the group has another number now: write \
            chat: -1001
            """),
        .again(
            try Sample.telegram(), 429,
            #"{"ok":false,"description":"Too Many Requests: retry after 9","parameters":{"retry_after":9}}"#,
            "Too Many Requests: retry after 9", after: .seconds(9)),
        .dead(
            try Sample.matrix(), 403, #"{"errcode":"M_FORBIDDEN","error":"User not in room"}"#,
            """
            M_FORBIDDEN: User not in room; invite the user to the room and accept the invitation, and let them \
            send messages there
            """),
        .again(
            try Sample.matrix(), 429, #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":2500}"#,
            "M_LIMIT_EXCEEDED", after: .seconds(2.5)),
    ]

    static let others: [Refusal] = [
        .dead(
            try Sample.teams(), 400, #"{"error":{"code":"WorkflowTriggerIsNotEnabled","message":"Off."}}"#,
            "WorkflowTriggerIsNotEnabled: Off.; the workflow is turned off: turn it on in Teams, under Workflows"
        ),
        .again(
            try Sample.teams(), 200,
            "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429.",
            "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429.",
            as: 429),
        .dead(
            try Sample.cloudEvents(), 415, "",
            "the receiver does not accept this mode: write mode: structured"),
        .dead(
            try Sample.alertmanager(), 400, #""start time must be before end time""#,
            "start time must be before end time"),
        .dead(
            try Sample.pagerDuty(), 400,
            #"{"status":"invalid event","message":"Event object is invalid","errors":["Invalid routing key"]}"#,
            """
            Event object is invalid: Invalid routing key; the key is not that of an integration by Events API \
            v2: copy it again
            """),
        .dead(
            try Sample.ping(), 200, "OK (not found)",
            "OK (not found); there is no such check: give one of the project the job's name as its slug",
            as: 404),
        .dead(
            try Sample.liveActivity(), 410, #"{"reason":"ExpiredToken"}"#,
            "ExpiredToken; the activity has ended: the phone has to start another one", .gone),
    ]
}

@Suite struct `a refusal of a service` {
    @Test(arguments: Refusal.chats + Refusal.others)
    private func `is reported as its users know it, with what to do`(refusal: Refusal) throws {
        #expect(try refusal.form().verdict(refusal.status, refusal.body) == refusal.error)
    }

    @Test(arguments: [
        "", "<html>", "{", "[]", "null", #"{"message":7,"error":{"code":[]},"errors":{"_errors":"x"}}"#,
        #"{"retry_after":-1,"parameters":{"retry_after":"soon"}}"#, "\u{1B}[31m\u{0}red\n\nx",
        String(repeating: "[", count: 5000), String(repeating: "x", count: 20_000),
        #"{"retry_after":1e300,"retry_after_ms":1e300,"parameters":{"retry_after":1e300}}"#,
    ])
    func `that makes no sense is one bounded line all the same`(body: String) throws {
        let forms: [any HTTPService] = [
            try Sample.ntfy(), try Sample.slack(), try Sample.mattermost(), try Sample.discord(),
            try Sample.gotify(), try Sample.telegram(), try Sample.matrix(), try Sample.teams(),
            try Sample.cloudEvents(), try Sample.alertmanager(), try Sample.pagerDuty(), try Sample.ping(),
            try Sample.liveActivity(),
        ]
        for form in forms {
            #expect(form.verdict(204, body) == nil)
            for status in [400, 429, 500, 302] {
                let error = try #require(form.verdict(status, body))
                #expect(error.status == status && error.detail.count < 400)
                #expect(!error.detail.unicodeScalars.contains { $0.value < 0x20 })
                if case .retry(_, let after?, _, _) = error { #expect(after <= .seconds(3600)) }
            }
        }
    }
}
