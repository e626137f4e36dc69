import Timeline
import Tracking

/// A webhook of a Discord channel.
///
/// - Source: Discord's documentation, "Execute Webhook", "Edit Webhook Message", "Embed limits", "Error messages".
package struct DiscordForm: HTTPLevelForm {
    package static let kind = ChannelKind("discord", isLevel: true)
    package static let fields =
        PostAddress.fields(
            "Discord", host: "https://discord.com", example: "https://discord.com/api/webhooks/1/XXXX")
        + HTTPReach.fields
    package static let laterFields = ["thread", "username"]

    package let reach: HTTPReach

    package init(_ values: FormValues) throws(FormError) {
        reach = try PostAddress.reach(values, usual: "https://discord.com")
    }

    package func request(_ step: LevelStep, secrets: FormSecrets) -> HTTPRequest {
        let address = PostAddress.text(secrets)
        let (path, query) = address.divided(at: "?")
        switch step {
        // Waits until the message is stored, so that a refusal is one.
        case .post(let notice, let now):
            let url = address + (query.isEmpty ? "?" : "&") + "wait=true"
            return HTTPRequest(url: url, headers: [.json], body: body(of: notice, at: now))
        case .edit(let notice, let now, let id):
            return HTTPRequest(
                method: "PATCH", url: "\(path)/messages/\(PercentText.segment(id))\(query)", headers: [.json],
                body: body(of: notice, at: now))
        case .remove(let id):
            return HTTPRequest(
                method: "DELETE", url: "\(path)/messages/\(PercentText.segment(id))\(query)", body: [])
        }
    }

    private func body(of notice: Notice, at now: Moment) -> [UInt8] {
        let body = FormText.markdown(withLinksOf: notice, to: Self.longestText)
        let embed = JSON.object([
            "title": .string(FormText.fit(notice.title, to: Self.longestTitle, as: .markdown)),
            "description": body.isEmpty ? nil : .string(body),
            "color": .int(notice.mood.colour),
            "timestamp": .string(now.iso8601),
        ])
        // Nobody is called by a text that a bot wrote.
        return JSON.object([
            "embeds": .array([embed]),
            "allowed_mentions": .object(["parse": .array([])]),
            "flags": notice.ring ? nil : .int(Self.silent),
        ]).bytes
    }

    /// What its headers announce for a webhook: five in two seconds.
    package var ownRate: EndpointRate? {
        reach.isHosted(by: "discord.com") ? EndpointRate(5, in: .seconds(2)) : nil
    }

    package func fault(in secrets: FormSecrets) -> String? { PostAddress.fault(in: secrets, on: reach) }

    package func remote(in answer: HTTPAnswer) -> String? { answer.json?["id"]?.text }

    package func isLost(_ answer: HTTPAnswer) -> Bool {
        answer.status == 404 && answer.json?["code"]?.int == Self.unknownMessage
    }

    package func judge(_ answer: HTTPAnswer) -> DeliveryError? {
        let json = answer.json
        let code = json?["code"]?.int
        let flaw = json?["errors"].flatMap { Self.flaw(in: $0) }
        let said = [json?["message"]?.text, code.map { "code \($0)" }, flaw].compactMap(\.self)
            .joined(separator: ", ")
        let hint = code.flatMap { Self.hints[$0] }
        return answer.asking(toWait: json?["retry_after"]?.double)
            .failure(by: .http, detail: HTTPAnswer.said(said, hint: hint))
    }

    /// The first fault of a body behind its place, as `embeds.0.title: Must be 256 or fewer in length.`.
    private static func flaw(in errors: JSON, at path: [String] = []) -> String? {
        guard path.count < 8, case .members(let members) = errors else { return nil }
        for member in members {
            if member.name == "_errors" {
                let text = member.value.elements.first?["message"]?.text ?? ""
                return "\(path.joined(separator: ".")): \(text)"
            }
            if let flaw = flaw(in: member.value, at: path + [member.name]) { return flaw }
        }
        return nil
    }

    private static let unknownMessage = 10008
    /// Characters of an embed's title.
    private static let longestTitle = 256
    /// Characters of an embed's description.
    private static let longestText = 4096
    /// SUPPRESS_NOTIFICATIONS.
    private static let silent = 1 << 12

    private static let hints = [
        10015: "the webhook was deleted: make a new one in the settings of the channel",
        10003: "the webhook's channel no longer exists",
        50027: "the address is not complete: copy it again from the settings of the channel",
        50035: "Discord does not accept what Belfry made: please report it",
        220001: "a forum needs a thread: add ?thread_id=ID to the address in the file",
        30046: "too many edits of old messages",
    ]
}

extension String {
    /// What stands before the first `mark`, and the rest with it, which is empty where there is none.
    fileprivate func divided(at mark: Character) -> (String, String) {
        guard let place = firstIndex(of: mark) else { return (self, "") }
        return (String(self[..<place]), String(self[place...]))
    }
}
