import Grouping
import Tracking

/// A workflow of Microsoft Teams that posts what its webhook receives, or an old incoming webhook.
///
/// - Source: Microsoft's documentation, "Create incoming webhooks with Workflows" and "Adaptive Cards" 1.4.
package struct TeamsForm: HTTPForm {
    package static let kind = ChannelKind("teams", isLevel: false)
    package static let fields =
        PostAddress.fields(
            "Teams", host: "https://prod-00.westeurope.logic.azure.com",
            example: "https://prod-00.westeurope.logic.azure.com/workflows/XXXX") + HTTPReach.fields

    package let reach: HTTPReach

    package init(_ values: FormValues) throws(FormError) {
        reach = try PostAddress.reach(values, usual: nil)
    }

    /// - Source: Microsoft's documentation of incoming webhooks: four in a second.
    package var ownRate: EndpointRate? {
        ["office.com", "azure.com", "powerplatform.com"].contains(where: reach.isHosted)
            ? EndpointRate(4, in: .seconds(1)) : nil
    }

    package func render(_ bulletin: Bulletin) -> [UInt8] {
        let notice = bulletin.notice
        let title = FormText.fit(notice.title, to: 250)
        let body = FormText.fit(notice.body, to: Self.longestText, in: .bytes)
        let written = body.split(separator: "\n")
        let kept = written.prefix(Self.mostLines) + (written.count > Self.mostLines ? ["…"] : [])
        let lines = kept.map { Self.line(String($0)) }
        let card = JSON.object([
            "type": .string("AdaptiveCard"),
            "$schema": .string("http://adaptivecards.io/schemas/adaptive-card.json"),
            "version": .string("1.4"),
            "body": .array([Self.line(title, isTitle: true, colour: Self.colour(bulletin.mood))] + lines),
            "msteams": .object(["width": .string("Full")]),
        ])
        return JSON.object([
            "type": .string("message"),
            // What the notification of a phone shows.
            "summary": .string(FormText.fit(bulletin.headline, to: 250)),
            "attachments": .array([
                .object([
                    "contentType": .string("application/vnd.microsoft.card.adaptive"), "content": card,
                ])
            ]),
        ]).bytes
    }

    /// A rich text block is shown as it is; a text block would be read as Markdown.
    private static func line(_ text: String, isTitle: Bool = false, colour: String? = nil) -> JSON {
        let run = JSON.object([
            "type": .string("TextRun"), "text": .string(text),
            "weight": isTitle ? .string("Bolder") : nil, "size": isTitle ? .string("Medium") : nil,
            "color": colour.map { .string($0) },
        ])
        return .object(["type": .string("RichTextBlock"), "inlines": .array([run])])
    }

    private static func colour(_ mood: Mood) -> String? {
        switch mood {
        case .bad: "Attention"
        case .attention: "Warning"
        case .good: "Good"
        case .plain: nil
        }
    }

    package func fault(in secrets: FormSecrets) -> String? { PostAddress.fault(in: secrets, on: reach) }

    package func request(_ parcel: Parcel, secrets: FormSecrets) -> HTTPRequest {
        HTTPRequest(url: PostAddress.text(secrets), headers: [.json], body: parcel.body)
    }

    /// An old webhook answers 200 also to what it could not post, with the status of that in its text.
    package func judge(_ answer: HTTPAnswer) -> DeliveryError? {
        var judged = answer
        if answer.status == 200, answer.line.contains("HTTP error") {
            judged.status = answer.line.contains("429") ? 429 : answer.line.contains("413") ? 413 : 400
        }
        let error = answer.json?["error"]
        let code = error?["code"]?.text
        let said = [code, error?["message"]?.text].compactMap(\.self).joined(separator: ": ")
        let known = code.flatMap { Self.hints[$0] }
        let hint = judged.status == 413 ? "Teams accepts 28 KB" : known
        return judged.failure(
            by: .http, detail: HTTPAnswer.said(said.isEmpty ? answer.line : said, hint: hint))
    }

    /// Bytes; all of a message may have 28 KB.
    private static let longestText = 8192
    private static let mostLines = 30

    private static let hints = [
        "WorkflowTriggerIsNotEnabled": "the workflow is turned off: turn it on in Teams, under Workflows",
        "WorkflowNotFound": "the workflow was deleted: make a new one in Teams, under Workflows",
        "DirectApiAuthorizationRequired": "the address is not complete: copy it again from the workflow",
        "DirectApiInvalidAuthorizationScheme": "the address is not complete: copy it again from the workflow",
    ]
}
