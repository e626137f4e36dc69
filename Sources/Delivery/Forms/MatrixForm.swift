import Grouping
import Tracking

/// A room of a Matrix server, unencrypted.
///
/// The same attempt twice is one message: the version of the item is the transaction.
///
/// - Source: Matrix client-server API 1.11, `PUT .../send/m.room.message/{txnId}`, `m.room.message`, "Event
///   replacements", "Redactions".
package struct MatrixForm: HTTPLevelForm {
    package static let kind = ChannelKind("matrix", isLevel: true)
    package static let fields =
        [
            FormField("url", .address, "the server", example: "https://matrix.example.org"),
            FormField(
                AccessToken.key, .secrets, "the access token of the user who writes",
                example: "{ file: /path }"),
            FormField(roomKey, .word, "the id of the room", example: "\"!abc:example.org\""),
        ] + HTTPReach.fields
    package static let laterFields = ["thread", "user", "password"]
    private static let roomKey = "room"

    package let reach: HTTPReach
    private let room: String

    package init(_ values: FormValues) throws(FormError) {
        reach = try HTTPReach(to: try values.address("url"), values)
        try values.secrets(AccessToken.key)
        room = try values.word(Self.roomKey)
        guard room.hasPrefix("!"), room.utf8.count <= 255 else {
            throw .unfit(
                Self.roomKey,
                "a room's id begins with !; it stands in the settings of the room, under Advanced. "
                    + "The name with # can change its room")
        }
    }

    package var destination: String { "\(reach.url.text) \(room)" }

    package func request(_ step: LevelStep, secrets: FormSecrets) -> HTTPRequest {
        let path: String
        let body: JSON
        switch step {
        case .post(let notice, _):
            path = "send/m.room.message/\(Self.transaction("post", notice))"
            body = content(of: notice)
        case .edit(let notice, _, let id):
            path = "send/m.room.message/\(Self.transaction("edit", notice))"
            body = replacement(of: id, by: notice)
        case .remove(let id):
            path = "redact/\(PercentText.segment(id))/belfry-\(ShortCode.of("remove \(id)"))"
            body = .object([:])
        }
        return HTTPRequest(
            method: "PUT",
            url: reach.url.appending("/_matrix/client/v3/rooms/\(PercentText.segment(room))/\(path)"),
            headers: [.json] + AccessToken.bearer(secrets), body: body.bytes)
    }

    /// The same version of an item is the same transaction: a server does it once.
    private static func transaction(_ step: String, _ notice: Notice) -> String {
        "belfry-" + ShortCode.of("\(step) \(notice.tag) \(notice.revision)")
    }

    private func replacement(of id: String, by notice: Notice) -> JSON {
        let content = content(of: notice)
        var edit = content
        edit["body"] = .string("* " + (content["body"]?.text ?? ""))
        edit["m.new_content"] = content
        edit["m.relates_to"] = .object(["rel_type": .string("m.replace"), "event_id": .string(id)])
        return edit
    }

    private func content(of notice: Notice) -> JSON {
        let title = FormText.fit(notice.title, to: 250)
        let marked = notice.markup.map { _ in
            MarkedText(notice).cut(to: Self.longestText) { $0.text.utf8.count + ($0.link?.utf8.count ?? 0) }
        }
        let body =
            marked?.text(for: PlainPlace()) ?? FormText.fit(notice.body, to: Self.longestText, in: .bytes)
        let html =
            marked?.text(for: HTMLPlace()).replacing("\n", with: "<br>")
            ?? FormText.html(body, lineBreak: "<br>")
        let links = notice.links(besides: body)
        let anchors = links.map {
            "<br><a href=\"\(FormText.html($0.url).replacing("\"", with: "%22"))\">\(FormText.html($0.label))</a>"
        }.joined()
        return JSON.object([
            // A notice is shown, and calls nobody.
            "msgtype": .string(notice.ring ? "m.text" : "m.notice"),
            "body": .string((body.isEmpty ? title : "\(title)\n\(body)") + PageLink.lines(links)),
            "format": .string("org.matrix.custom.html"),
            "formatted_body": .string(
                "<strong>\(FormText.html(title))</strong>" + (body.isEmpty ? "" : "<br>\(html)") + anchors),
            // An empty list: nobody's name in the text calls that person.
            "m.mentions": .object([:]),
        ])
    }

    package func remote(in answer: HTTPAnswer) -> String? { answer.json?["event_id"]?.text }

    /// A server takes an edit of anything.
    package func isLost(_ answer: HTTPAnswer) -> Bool { false }

    package func judge(_ answer: HTTPAnswer) -> DeliveryError? {
        let json = answer.json
        let code = json?["errcode"]?.text
        let said = [code, json?["error"]?.text].compactMap(\.self).joined(separator: ": ")
        return answer.asking(toWait: json?["retry_after_ms"]?.double.map { $0 / 1000 })
            .failure(by: .http, detail: HTTPAnswer.said(said, hint: code.flatMap { Self.hints[$0] }))
    }

    /// Bytes of the text; an event has at most 65,536 of them, and this text stands in it twice, once escaped; in
    /// an edit four times.
    private static let longestText = 4096

    private static let hints = [
        "M_FORBIDDEN":
            "invite the user to the room and accept the invitation, and let them send messages there",
        "M_UNKNOWN_TOKEN": "the token was logged out: make a new one",
        "M_MISSING_TOKEN": "set token:",
        "M_NOT_FOUND": "no such room on this server",
        "M_UNRECOGNIZED":
            "url: wants the address of the server's API, as its .well-known/matrix/client names it",
        "M_USER_DEACTIVATED": "the account was deactivated",
    ]
}

/// Text in an address.
enum PercentText {
    /// One part of a path.
    static func segment(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            let scalar = Unicode.Scalar(byte)
            if scalar.isASCII,
                scalar.properties.isAlphabetic || "-._~0123456789".unicodeScalars.contains(scalar)
            {
                result.unicodeScalars.append(scalar)
            } else {
                result += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
