import Grouping
import Timeline
import Tracking

/// A service that no other form speaks to: what it is sent is written in the file, with places for what happened.
package struct TemplateForm: HTTPForm {
    package static let kind = ChannelKind("template", isLevel: false)
    package static let fields =
        [
            FormField("url", .address, "where it is posted", example: "https://api.example.org/messages"),
            FormField(
                bodyKey, .word, "what is posted, with {{title}} and other values in it",
                example: #"'{"text": "{{title}}: {{body}}"}'"#),
            FormField(typeKey, .word, "the type of what is posted", example: "application/json"),
            FormField(methodKey, .word, "the method: POST, PUT or PATCH", example: "POST"),
            FormField(AccessToken.key, .secrets, "the bearer token", example: "{ file: /path }"),
            FormField(
                PostAddress.key, .secrets, "the whole address, where it is a secret; then url is its host",
                example: "{ file: /path }"),
        ] + HTTPReach.fields
    private static let (bodyKey, typeKey, methodKey) = ("body", "contentType", "method")

    package let reach: HTTPReach
    private let template: Template
    private let type: String
    private let method: String
    private let isAddressSecret: Bool

    /// The names of the values.
    package static let names: Set<String> = [
        "title", "body", "headline", "type", "reason", "urgency", "bot", "at", "colour", "emblem", "links",
        "run",
        "item", "question", "channel",
    ]

    package init(_ values: FormValues) throws(FormError) {
        let url = try values.address("url")
        isAddressSecret = values[PostAddress.key] != nil
        reach = isAddressSecret ? try PostAddress.reach(values, usual: nil) : try HTTPReach(to: url, values)
        let text = try values.word(Self.bodyKey)
        type = values.text(Self.typeKey) ?? "application/json"
        method = values.text(Self.methodKey) ?? "POST"
        guard ["POST", "PUT", "PATCH"].contains(method) else {
            throw .unfit(Self.methodKey, "the method is POST, PUT or PATCH")
        }
        guard type.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }), type.contains("/") else {
            throw .unfit(Self.typeKey, "a type is written as application/json or text/plain")
        }
        let escaping: Template.Escaping =
            type.contains("json") ? .json : type.contains("urlencoded") ? .form : .none
        do throws(Template.Fault) {
            template = try Template(text, escaping: escaping, names: Self.names)
        } catch {
            throw .unfit(Self.bodyKey, error.message)
        }
        // At 3 in the morning nobody is there to correct it.
        guard escaping == .json else { return }
        for sample in Self.samples where JSON(parsing: Array(template.render(sample).utf8)[...]) == nil {
            throw .unfit(
                Self.bodyKey,
                "with its values filled in it is no JSON: a text stands in quotes, as \"{{title}}\", and what "
                    + "may be missing in a section, as {{#run.exitCode}}, \"code\": {{run.exitCode}}{{/run.exitCode}}"
            )
        }
    }

    /// With all there may be, with objects that have only what they always have, and with the least.
    private static let samples: [JSON] = {
        let text = JSON.string("a\"b\n\\")
        let always: [(String, [JSON.Member])] = [
            (
                "run",
                ["id", "name", "job", "bot", "state", "kind"].map { .init($0, text) } + [
                    .init("attempt", .int(1))
                ]
            ),
            (
                "item",
                ["key", "kind", "bot", "urgency", "reason"].map { .init($0, text) }
                    + [.init("count", .int(2)), .init("revision", .int(1))]
            ),
            ("question", ["id", "text", "state"].map { .init($0, text) }),
            ("channel", ["name", "kind", "state"].map { .init($0, text) }),
        ]
        let numbers = [
            "exitCode", "signal", "latenessMs", "queueDelayMs", "outputBytes", "cpuMs", "maxRssKb",
        ]
        let more =
            numbers.map { JSON.Member($0, .int(3)) } + [.init("outputTail", text), .init("last", .array([]))]
        let link = JSON.object(["label": text, "url": .string("https://e.org/")])
        let texts = [
            "title", "body", "headline", "type", "reason", "urgency", "bot", "at", "colour", "emblem",
        ]
        let said = texts.map { JSON.Member($0, text) }
        let links = JSON.Member("links", .array([link, link]))
        return [
            .members(said + always.map { .init($0.0, .members($0.1 + more)) } + [links]),
            .members(said + always.map { .init($0.0, .members($0.1)) } + [.init("links", .array([]))]),
            .members(texts.map { .init($0, .string("")) } + [.init("links", .array([]))]),
        ]
    }()

    package func render(_ bulletin: Bulletin) -> [UInt8] {
        let notice = bulletin.notice
        let links = (notice.links ?? []).map {
            JSON.object(["label": .string($0.label), "url": .string($0.url)])
        }
        let values = JSON.object([
            "title": .string(FormText.fit(notice.title, to: 250)),
            "body": .string(FormText.fit(notice.plainBody, to: Self.longestText)),
            "headline": .string(bulletin.headline),
            "type": .string(bulletin.matter.type), "reason": .string(bulletin.matter.reason),
            "urgency": .string(notice.urgency.rawValue), "bot": .string(notice.bot),
            "at": .string(bulletin.at.iso8601), "colour": .string(bulletin.colourCode),
            "emblem": .string(bulletin.emblem), "links": .array(links),
        ])
        guard case .members(let members) = values else { return [] }
        return Array(template.render(.members(members + bulletin.objects)).utf8)
    }

    package func fault(in secrets: FormSecrets) -> String? {
        isAddressSecret ? PostAddress.fault(in: secrets, on: reach) : nil
    }

    package func request(_ parcel: Parcel, secrets: FormSecrets) -> HTTPRequest {
        HTTPRequest(
            method: method, url: isAddressSecret ? PostAddress.text(secrets) : reach.url.text,
            headers: [.init("Content-Type", type)] + AccessToken.bearer(secrets), body: parcel.body)
    }

    package func judge(_ answer: HTTPAnswer) -> DeliveryError? {
        answer.failure(by: .http, detail: HTTPAnswer.said(answer.line, hint: nil))
    }

    /// UTF-16 units.
    private static let longestText = 8000
}
