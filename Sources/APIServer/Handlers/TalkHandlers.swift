import API
import Cron
import Delivery
import Engine
import Grouping
import Ledger
import Timeline

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
        var run: RunRecord?
        if let id = asked.run { run = try await reading(await control.ledger.run(id: id)) }
        let record = try await asking(
            await control.post(run: run?.id, to: asked.to) { id, at in
                Message(
                    id: id, bot: bot.name,
                    thread: asked.to.map(DirectThread.name) ?? asked.thread ?? "main", text: asked.text,
                    at: at, urgency: urgency ?? .normal, title: asked.title,
                    appearance: Appearance(
                        icon: asked.icon, soundName: asked.sound, category: asked.category,
                        expireAfter: expire),
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
