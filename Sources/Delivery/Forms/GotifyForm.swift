import Grouping
import Tracking

/// An application of a Gotify server.
///
/// - Source: Gotify's API, `POST /message`, and "Message extras".
package struct GotifyForm: HTTPForm {
    package static let kind = ChannelKind("gotify", isLevel: false)
    package static let fields =
        [
            FormField("url", .address, "the server", example: "https://gotify.example.org"),
            FormField(
                AccessToken.key, .secrets, "the token of the application", example: "{ file: /path }"),
        ] + HTTPReach.fields
    package static let laterFields = ["priority"]

    package let reach: HTTPReach

    package init(_ values: FormValues) throws(FormError) {
        reach = try HTTPReach(to: try values.address("url"), values)
        try values.secrets(AccessToken.key)
    }

    package func render(_ bulletin: Bulletin) -> [UInt8] {
        let notice = bulletin.notice
        let marked =
            notice.markup.map { _ in FormText.markdown(bodyOf: notice, to: Self.longestText, in: .bytes) }
            ?? ""
        let isMarked = !marked.isEmpty
        // A message can't be empty; and a line ends in Markdown where two blanks say so.
        let text =
            isMarked
            ? marked.replacing("\n", with: "  \n")
            : FormText.fit(
                notice.plainBody.isEmpty ? notice.title : notice.plainBody, to: Self.longestText, in: .bytes)
        return JSON.object([
            "title": .string(FormText.fit(notice.title, to: 250)),
            "message": .string(text),
            "priority": .int(priority(notice)),
            "extras": .object([
                "client::display": .object([
                    "contentType": .string(isMarked ? "text/markdown" : "text/plain")
                ]),
                // A click on it opens the first page.
                "client::notification": notice.links?.first.map {
                    .object(["click": .object(["url": .string($0.url)])])
                },
            ]),
        ]).bytes
    }

    /// From 4 on a phone makes a sound, from 8 on it vibrates as well.
    private func priority(_ notice: Notice) -> Int {
        switch notice.urgency {
        case .low: 1
        case .normal: notice.ring ? 5 : 2
        case .critical: notice.ring ? 8 : 3
        }
    }

    package func request(_ parcel: Parcel, secrets: FormSecrets) -> HTTPRequest {
        HTTPRequest(
            url: reach.url.appending("/message"),
            headers: [.json] + secrets[AccessToken.key].prefix(1).map { .init("X-Gotify-Key", $0) },
            body: parcel.body)
    }

    package func judge(_ answer: HTTPAnswer) -> DeliveryError? {
        let said = answer.json?["errorDescription"]?.text ?? answer.json?["error"]?.text
        let hint: String? =
            switch answer.status {
            case 401, 403: "token: wants the token of an application, which begins with A, not of a client"
            case 404: "url: wants the address of the server, without /message"
            default: nil
            }
        return answer.failure(by: .http, detail: HTTPAnswer.said(said, hint: hint))
    }

    /// Bytes; no limit is documented, and a phone shows less.
    private static let longestText = 16_384
}
