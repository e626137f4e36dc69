import Grouping
import Tracking

/// A chat of a Telegram bot.
///
/// - Source: Telegram's Bot API 7.0, `sendMessage`, "Formatting options", "Making requests".
package struct TelegramForm: HTTPForm {
    package static let kind = ChannelKind("telegram", isLevel: false)
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
    private let chat: String
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

    package var destination: String { "\(reach.url.text) \(chat) \(topic ?? 0)" }

    package func render(_ bulletin: Bulletin) -> [UInt8] {
        let notice = bulletin.notice
        let title = FormText.fit(notice.title, to: 250)
        // What counts is what is read, not how it is written.
        let body = FormText.fit(notice.body, to: Self.longestText - title.utf16.count - 1)
        let text = "<b>\(FormText.html(title))</b>" + (body.isEmpty ? "" : "\n\(FormText.html(body))")
        return JSON.object([
            "chat_id": Int64(chat).map { .int($0) } ?? .string(chat),
            "message_thread_id": topic.map { .int($0) },
            "text": .string(text),
            "parse_mode": .string("HTML"),
            "disable_notification": .bool(!notice.ring),
            "link_preview_options": .object(["is_disabled": .bool(true)]),
        ]).bytes
    }

    package func fault(in secrets: FormSecrets) -> String? {
        guard let token = secrets[AccessToken.key].first else { return nil }
        let parts = token.split(separator: ":", omittingEmptySubsequences: false)
        let isToken =
            parts.count == 2 && Int64(parts[0]) != nil
            && !parts[1].isEmpty && parts[1].utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2F }
        return isToken ? nil : "what token: leads to is not a bot's token, as 123456:ABC..."
    }

    package func request(_ parcel: Parcel, secrets: FormSecrets) -> HTTPRequest {
        let token = secrets[AccessToken.key].first ?? ""
        return HTTPRequest(
            url: reach.url.appending("/bot\(token)/sendMessage"), headers: [.json], body: parcel.body)
    }

    package func judge(_ answer: HTTPAnswer) -> DeliveryError? {
        let json = answer.json
        let said = json?["description"]?.text
        let moved = json?["parameters"]?["migrate_to_chat_id"]?.int
        let known = said.flatMap { said in Self.hints.first { said.contains($0.said) }?.hint }
        let hint = moved.map { "the group has another number now: write chat: \($0)" } ?? known
        return answer.asking(toWait: json?["parameters"]?["retry_after"]?.double)
            .failure(by: .http, detail: HTTPAnswer.said(said, hint: hint))
    }

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
