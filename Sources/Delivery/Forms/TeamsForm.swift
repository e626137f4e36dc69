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
        let body = MarkedText(notice).cut(to: Self.longestText) {
            $0.text.utf8.count + ($0.link?.utf8.count ?? 0)
        }
        let written = body.lines.filter { $0.contains { !$0.text.isEmpty } }
        let kept =
            written.prefix(Self.mostLines) + (written.count > Self.mostLines ? [[Markdown.Span("…")]] : [])
        let lines = kept.map { Self.line($0) }
        let card = JSON.object([
            "type": .string("AdaptiveCard"),
            "$schema": .string("http://adaptivecards.io/schemas/adaptive-card.json"),
            "version": .string("1.4"),
            "body": .array([Self.title(title, Self.colour(bulletin.mood))] + lines),
            "actions": Self.actions(notice),
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

    private static func title(_ text: String, _ colour: String?) -> JSON {
        block([
            .object([
                "type": .string("TextRun"), "text": .string(text), "weight": .string("Bolder"),
                "size": .string("Medium"), "color": colour.map { .string($0) },
            ])
        ])
    }

    private static func line(_ spans: [Markdown.Span]) -> JSON {
        block(
            spans.filter { !$0.text.isEmpty }.map { span in
                .object([
                    "type": .string("TextRun"), "text": .string(span.text),
                    "weight": span.style.contains(.bold) ? .string("Bolder") : nil,
                    "italic": span.style.contains(.italic) ? .bool(true) : nil,
                    "fontType": span.style.contains(.code) ? .string("Monospace") : nil,
                    "selectAction": span.link.map { open($0, nil) },
                ])
            })
    }

    /// A rich text block is shown as it is; a text block would be read as Markdown.
    private static func block(_ runs: [JSON]) -> JSON {
        .object(["type": .string("RichTextBlock"), "inlines": .array(runs)])
    }

    private static func open(_ url: String, _ label: String?) -> JSON {
        .object([
            "type": .string("Action.OpenUrl"), "title": label.map { .string($0) }, "url": .string(url),
        ])
    }

    /// Buttons that open a page.
    private static func actions(_ notice: Notice) -> JSON? {
        guard let links = notice.links, !links.isEmpty else { return nil }
        return .array(links.map { open($0.url, FormText.fit($0.label, to: 80)) })
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
