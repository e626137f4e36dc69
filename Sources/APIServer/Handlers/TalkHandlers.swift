import API
import Cron
import Delivery
import Engine
import Grouping
import Ledger
import Timeline
import Tracking

extension DaemonHandler {
    func messages(_ query: MessagesQuery) async throws(APIError) -> [WireMessage] {
        if let text = query.search, !text.isEmpty {
            let hits = try await reading(
                await control.ledger.search(text, bot: query.bot, since: query.since, limit: query.limit))
            if !hits.messages.isEmpty {
                return hits.messages.map { record in
                    var message = WireMessage(record)
                    message.order = hits.isRanked ? .ranked : .newest
                    return message
                }
            }
        }
        // Without words in it, or where it is the middle of one.
        let records = try await reading(
            await control.ledger.messages(
                bot: query.bot, search: query.search, since: query.since, limit: query.limit))
        if records.isEmpty, let name = query.bot { _ = try await bot(name) }
        return records.map { WireMessage($0) }
    }

    func message(_ id: String) async throws(APIError) -> WireMessage {
        WireMessage(try await asking(await control.message(id)))
    }

    func items(limit: Int) async throws(APIError) -> [WireItem] {
        let records = try await reading(await control.ledger.items(limit: limit))
        var items: [WireItem] = []
        for item in records.compactMap({ shownItem($0) }) {
            var last: [WireMessage] = []
            if case .messages(_, let messages) = item.content {
                for message in messages { last.append(try await current(message)) }
            }
            items.append(WireItem(item, messages: last))
        }
        return items
    }

    func notify(_ asked: NotifyRequest) async throws(APIError) -> WireMessage {
        guard !Preview.isEmpty(asked.text) else {
            throw APIError(.badValue, "there is nothing to say: the text is empty")
        }
        try Self.checkNames(of: asked)
        if let to = asked.to, !channels().contains(where: { $0.name == to }) { throw noSuchChannel(to) }
        guard asked.to == nil || asked.thread == nil else {
            throw APIError(
                .badValue, "a message to one channel has a thread of its own: leave out the thread")
        }
        let bot = control.activeConfiguration.configuration.bot(asked.bot ?? "belfry")
        let urgency = try asked.urgency.map(Self.urgency) ?? bot.urgency
        let expire = try asked.expireMs.map { milliseconds throws(APIError) in
            guard milliseconds > 0 else { throw APIError(.badValue, "expire is a duration above zero") }
            return Duration.milliseconds(milliseconds)
        }
        let links = try asked.links.map(Self.links)
        // For readers without buttons.
        let missing = PageLink.lines((links ?? []).filter { !asked.text.contains($0.url) })
        var run: RunRecord?
        if let id = asked.run { run = try await reading(await control.ledger.run(id: id)) }
        let record = try await asking(
            await control.post(run: run?.id, to: asked.to) { id, at in
                Message(
                    id: id, bot: bot.name,
                    thread: asked.to.map(DirectThread.name) ?? asked.thread ?? "main",
                    text: asked.text + missing,
                    at: at, urgency: urgency ?? .normal, title: asked.title,
                    appearance: Appearance(
                        icon: asked.icon, soundName: asked.sound, category: asked.category,
                        expireAfter: expire, links: links),
                    replaceKey: asked.replace, run: run?.name)
            })
        return WireMessage(record)
    }

    func pin(_ id: String, _ isPinned: Bool) async throws(APIError) -> WireMessage {
        WireMessage(try await asking(await control.pin(id, isPinned)))
    }

    func read(_ id: String) async throws(APIError) -> WireMessage {
        WireMessage(
            try await asking(await control.read(id, by: Caller.place(named: nil, else: "command line"))))
    }

    func readItem(_ name: String) async throws(APIError) {
        try await asking(await control.readItem(name, by: Caller.place(named: nil, else: "command line")))
    }

    /// A message of an item, with whether it was read or pinned since.
    private func current(_ message: Message) async throws(APIError) -> WireMessage {
        let record = try await reading(await control.ledger.message(id: message.id))
        return record.map { WireMessage($0) } ?? WireMessage(message)
    }

    /// The pages that a message leads to.
    private static func links(_ asked: [WireLink]) throws(APIError) -> [PageLink] {
        guard asked.count <= PageLink.most else {
            throw APIError(.badValue, "a message has at most \(PageLink.most) links")
        }
        return try asked.map { link throws(APIError) in
            let label = CleanText.line(link.label, limit: 80)
            guard !label.isEmpty else { throw APIError(.badValue, "a link has no label") }
            guard (try? HTTPAddress(link.url)) != nil else {
                throw APIError(
                    .badValue, "\(Quoted.of(link.url)) is not an http or https address",
                    hint: "A link is a whole address: https://example.org/page.")
            }
            return PageLink(label: label, url: link.url)
        }
    }

    private static func checkNames(of asked: NotifyRequest) throws(APIError) {
        try checkLook(
            icon: asked.icon,
            [
                "sound": asked.sound, "category": asked.category, "thread": asked.thread,
                "replace": asked.replace,
            ])
    }

    /// A name with a control character in it names nothing, and could not travel to every channel.
    static func checkLook(icon: String?, _ names: KeyValuePairs<String, String?>) throws(APIError) {
        if let fault = icon.flatMap(IconName.fault) {
            throw APIError(
                .badValue, "icon \(fault)",
                hint: "Send an icon's name such as mail-unread, or an absolute path.")
        }
        for (field, name) in names {
            guard let name, name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
            else { continue }
            throw APIError(
                .badValue, "\(field) contains a control character", hint: "Send a plain name on one line.")
        }
    }

    static func urgency(_ word: String) throws(APIError) -> Urgency {
        guard let urgency = Urgency(rawValue: word) else {
            throw APIError(.badValue, "no urgency \"\(word)\"", hint: "It is low, normal or critical.")
        }
        return urgency
    }
}

extension DaemonHandler {
    func say(_ bot: String, _ asked: SayRequest) async throws(APIError) -> WireMessage {
        var draft = MessageDraft(to: bot, asked.text)
        (draft.id, draft.replyTo, draft.thread) = (asked.id, asked.replyTo, asked.thread)
        draft.file = try Self.file(of: asked)
        guard draft.file != nil || !asked.text.allSatisfy(\.isWhitespace) else {
            throw APIError(.badValue, "there is nothing to say: the text is empty")
        }
        guard asked.text.utf8.count <= Self.longestText else {
            throw APIError(
                .tooLarge, "the text is longer than \(Self.longestText / 1024) KiB",
                hint: "Send it as a file: belfry send \(bot) TEXT --file PATH")
        }
        if let id = asked.id, !SpooledFile.isID(id) {
            throw APIError(.badValue, "id is not a UUID in lower case")
        }
        if let thread = asked.thread { try Self.check(thread, "thread", limit: 100) }
        do throws(EngineError) {
            return WireMessage(try await control.send(draft))
        } catch .noSuchBot {
            // With its hint, or as one that only speaks for its jobs.
            _ = try await self.bot(bot)
            throw APIError(EngineError.silentBot(bot))
        } catch {
            throw APIError(error)
        }
    }

    /// The longest text of one message.
    static let longestText = 256 * 1024

    private static func file(
        of asked: SayRequest
    ) throws(APIError) -> (note: AttachmentNote, content: [UInt8])? {
        guard let name = asked.fileName else { return nil }
        try check(name, "the name of a file", limit: 255)
        guard let content = asked.fileContent.flatMap(Base64.decode) else {
            throw APIError(.badValue, "fileContent is not base64")
        }
        guard content.count <= AttachmentNote.limit else {
            throw APIError(.tooLarge, "a file has at most \(AttachmentNote.limit / 1024 / 1024) MiB")
        }
        return (AttachmentNote(name: name, bytes: content.count), content)
    }

    /// A word that is shown, and sent to bots, is one line.
    static func check(_ text: String, _ what: String, limit: Int) throws(APIError) {
        guard !text.allSatisfy(\.isWhitespace), text.count <= limit else {
            throw APIError(.badValue, "\(what) has 1 to \(limit) characters")
        }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw APIError(.badValue, "\(what) contains a control character", hint: "Write it on one line.")
        }
    }

    func reply(_ id: String, _ query: ReplyQuery) async throws(APIError) -> WireReply {
        let message = try await asking(await control.message(id))
        let said = try await asking(
            await control.reply(to: message, within: .milliseconds(query.wait)))
        var reply = WireReply()
        if let run = said.run { reply.run = await shown(run) }
        reply.message = said.message.map { WireMessage($0) }
        return reply
    }

    func react(_ id: String, _ asked: ReactionRequest) async throws(APIError) -> WireMessage {
        try Self.check(asked.word, "a reaction", limit: 40)
        return WireMessage(try await asking(await control.react(asked.word, to: id)))
    }

    func reset(_ name: String) async throws(APIError) {
        _ = try await bot(name)
        try await asking(await control.reset(name))
    }
}
