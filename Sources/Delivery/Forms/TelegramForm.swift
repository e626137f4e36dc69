import Grouping
import Tracking

/// A chat of a Telegram bot.
///
/// - Source: Telegram's Bot API 7.0, `sendMessage`, `editMessageText`, `deleteMessage`, "Formatting options", "Making
///   requests".
package struct TelegramForm: HTTPLevelForm {
    package static let kind = ChannelKind("telegram", isLevel: true)
    package static let fields =
        [
            FormField(
                chatKey, .word, "whom the bot writes to: the number of a chat, or @channel",
                example: "123456789"),
            FormField(
                AccessToken.key, .secrets, "the bot's token, as BotFather gave it out",
                example: "{ file: /path }"),
            FormField(topicKey, .word, "the number of a topic of the group", example: "7"),
            FormField("url", .address, "another server of the Bot API", example: "https://api.telegram.org"),
        ] + HTTPReach.fields
    package static let laterFields = ["user", "buttons"]
    private static let chatKey = "chat"
    private static let topicKey = "topic"

    package let reach: HTTPReach
    private var chat: String
    private let topic: Int?

    package init(_ values: FormValues) throws(FormError) {
        try values.secrets(AccessToken.key)
        chat = try values.word(Self.chatKey)
        guard Int64(chat) != nil || (chat.hasPrefix("@") && chat.count > 1) else {
            throw .unfit(
                Self.chatKey,
                "a chat is a number or the @name of a public channel; a bot can't write to a person by name")
        }
        topic = try values.text(Self.topicKey).map { text throws(FormError) in
            guard let number = Int(text), number > 0 else {
                throw .unfit(Self.topicKey, "a topic is a number, the last one in the link to it")
            }
            return number
        }
        reach = try HTTPReach(to: try values.address("url", or: "https://api.telegram.org"), values)
    }

    /// - Source: Telegram's Bots FAQ: one a second in a chat, 20 a minute in a group, whose number is below zero.
    package var ownRate: EndpointRate? {
        guard reach.isHosted(by: "telegram.org") else { return nil }
        return chat.hasPrefix("-") || chat.hasPrefix("@")
            ? EndpointRate(burst: 5, interval: .seconds(3)) : EndpointRate(burst: 5, interval: .seconds(1))
    }

    package var destination: String { "\(reach.url.text) \(chat) \(topic ?? 0)" }

    package func request(_ step: LevelStep, secrets: FormSecrets) -> HTTPRequest {
        switch step {
        case .post(let notice, _): call("sendMessage", post(notice), secrets)
        case .edit(let notice, _, let id): call("editMessageText", edit(notice, of: id), secrets)
        case .remove(let id):
            call(
                "deleteMessage", .object(["chat_id": chatID, "message_id": Int64(id).map { .int($0) }]),
                secrets)
        }
    }

    /// A group that was upgraded has another number; what was posted there before is not known under it.
    package func following(
        _ answer: HTTPAnswer, _ step: LevelStep, secrets: FormSecrets
    ) -> (request: HTTPRequest, hint: String)? {
        guard answer.status == 400, let id = answer.json?["parameters"]?["migrate_to_chat_id"]?.int,
            "\(id)" != chat
        else { return nil }
        var moved = self
        moved.chat = "\(id)"
        return (moved.request(step, secrets: secrets), "write chat: \(id)")
    }

    private func call(_ method: String, _ body: JSON, _ secrets: FormSecrets) -> HTTPRequest {
        let token = secrets[AccessToken.key].first ?? ""
        return HTTPRequest(
            url: reach.url.appending("/bot\(token)/\(method)"), headers: [.json], body: body.bytes)
    }

    private var chatID: JSON { Int64(chat).map { .int($0) } ?? .string(chat) }

    private func post(_ notice: Notice) -> JSON {
        .object([
            "chat_id": chatID,
            "message_thread_id": topic.map { .int($0) },
            "text": .string(text(notice)),
            "parse_mode": .string("HTML"),
            "disable_notification": .bool(!notice.ring),
            "link_preview_options": .object(["is_disabled": .bool(true)]),
            "reply_markup": keyboard(notice),
        ])
    }

    /// A button a row for each link; nil: there is none that Telegram takes as a button.
    private func keyboard(_ notice: Notice) -> JSON? {
        let links = (notice.links ?? []).filter(\.isPublic)
        if links.isEmpty { return nil }
        return .object([
            "inline_keyboard": .array(
                links.map {
                    .array([
                        .object([
                            "text": .string(FormText.fit($0.label, to: Self.longestLabel)),
                            "url": .string($0.url),
                        ])
                    ])
                })
        ])
    }

    private func edit(_ notice: Notice, of id: String) -> JSON {
        .object([
            "chat_id": chatID,
            "message_id": Int64(id).map { .int($0) },
            "text": .string(text(notice)),
            "parse_mode": .string("HTML"),
            "link_preview_options": .object(["is_disabled": .bool(true)]),
            "reply_markup": keyboard(notice),
        ])
    }

    private func text(_ notice: Notice) -> String {
        let title = FormText.fit(notice.title, to: 250)
        // What counts is what is read, not how it is written.
        let links = PageLink.lines((notice.links ?? []).filter { !$0.isPublic })
        let room = Self.longestText - title.utf16.count - 1 - links.utf16.count
        let body =
            notice.markup == nil
            ? FormText.html(FormText.fit(notice.body, to: room))
            : MarkedText(notice).cut(to: room) { $0.text.utf16.count }.text(for: HTMLPlace())
        return "<b>\(FormText.html(title))</b>" + (body.isEmpty ? "" : "\n\(body)") + FormText.html(links)
    }

    package func remote(in answer: HTTPAnswer) -> String? {
        answer.json?["result"]?["message_id"]?.int.map { "\($0)" }
    }

    package func isLost(_ answer: HTTPAnswer) -> Bool { answer.says(Self.losses) }

    package func fault(in secrets: FormSecrets) -> String? {
        guard let token = secrets[AccessToken.key].first else { return nil }
        let parts = token.split(separator: ":", omittingEmptySubsequences: false)
        let isToken =
            parts.count == 2 && Int64(parts[0]) != nil
            && !parts[1].isEmpty && parts[1].utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2F }
        return isToken ? nil : "what token: leads to is not a bot's token, as 123456:ABC..."
    }

    package func judge(_ answer: HTTPAnswer) -> DeliveryError? {
        let json = answer.json
        let said = json?["description"]?.text
        // It shows that text already.
        if answer.status == 400, answer.says(["message is not modified"]) { return nil }
        let moved = json?["parameters"]?["migrate_to_chat_id"]?.int
        let known = said.flatMap { said in Self.hints.first { said.contains($0.said) }?.hint }
        let hint = moved.map { "the group has another number now: write chat: \($0)" } ?? known
        return answer.asking(toWait: json?["parameters"]?["retry_after"]?.double)
            .failure(by: .http, detail: HTTPAnswer.said(said, hint: hint))
    }

    /// What it says of a message that was deleted, or that is too old to be edited.
    private static let losses = [
        "message to edit not found", "message can't be edited", "message to delete not found",
        "message can't be deleted", "MESSAGE_ID_INVALID",
    ]

    /// UTF-16 units of a button; no limit is documented, and a phone shows less.
    private static let longestLabel = 64
    /// UTF-16 units of a message, entities left aside.
    private static let longestText = 4096

    private static let hints: [(said: String, hint: String)] = [
        ("bot was blocked by the user", "the person has to unblock the bot"),
        ("can't initiate conversation", "the person has to open the bot and press Start first"),
        ("bot was kicked", "add the bot to the group again"),
        ("bot is not a member", "add the bot to the channel, as an administrator who may post"),
        ("not enough rights", "allow the bot to post in the settings of the group"),
        ("need administrator rights", "make the bot an administrator of the channel"),
        (
            "chat not found",
            "the person has to open the bot and press Start, or the bot to be added to the group"
        ),
        ("message thread not found", "the topic no longer exists: change topic:"),
        ("can't parse entities", "Telegram does not accept what Belfry made: please report it"),
        ("Unauthorized", "the token was revoked or is wrong: ask @BotFather"),
        ("Not Found", "the token is wrong: ask @BotFather"),
    ]
}
