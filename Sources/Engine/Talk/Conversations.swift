import Delivery
import Grouping
import Ledger
import Performing
import Prompting
import Timeline
import Tracking

/// How conversations are held with a bot: what of its configuration matters for that.
package struct TalkManner: Hashable, Sendable {
    /// The zone that times are shown in, by its name.
    package var zone: String
    /// Whether the bot is shown what was said before.
    package var keepsSession: Bool
    /// Whose sessions the bot resumes instead, as far as there are some; nil: nobody's.
    package var sessionProvider: String?
    /// Whether it is sent what people said as they said it: others read it, too.
    package var isPlain = false
    /// Whether the bot summarizes what it is no longer shown; else that is left out.
    package var summarizes = false
    /// The most bytes of what was said before in a prompt.
    package var talkLimit = Conversation.byteLimit

    /// A manner; the bot is shown what was said before unless that is not wanted.
    package init(zone: String = "UTC", keepsSession: Bool = true) {
        self.zone = zone
        self.keepsSession = keepsSession
    }
}

extension EngineConfiguration {
    /// The bots that answer, by name.
    package var speakers: Set<String> { Set(bots.values.filter { $0.contact != nil }.map(\.name)) }

    /// How conversations are held with the bot.
    ///
    /// `home` is the home folder of the programs that are bots.
    package func talkManner(of bot: String, home: String? = nil) -> TalkManner {
        let contact = bots[bot]?.contact
        var manner = TalkManner(zone: zone, keepsSession: contact?.keepsSession ?? true)
        manner.isPlain = contact?.gateway != nil
        manner.sessionProvider = contact?.program?.sessionProvider(home: home)
        if let backend = contact?.backend {
            (manner.summarizes, manner.talkLimit) = (true, backend.talkLimit)
        }
        return manner
    }
}

/// What a bot is asked when a conversation's turn has come.
struct ReplyPrompt: Hashable, Sendable {
    /// What was said that is not answered.
    var text: String
    /// What was said before, as far as `session` does not know it.
    var earlier: [EarlierTurn]
    /// The session that is resumed; nil: none is.
    var session: Continuation?
    /// The last row of what is not answered.
    var through: Int64
    /// When it was read.
    var at: Moment
    /// What the bot keeps of what was said before `earlier`; nil: nothing.
    var summary: String?
    /// What the bot summarizes first; nil: nothing.
    var older: OlderTalk?
}

/// The part of a conversation that a run's bot is shown; nothing where the run asks none, or where its prompt stands alone.
struct RunTalk: Hashable, Sendable {
    /// What it is asked, where the run answers people.
    var reply: ReplyPrompt?
    /// What was said before.
    var earlier: [EarlierTurn] = []
    /// What the bot keeps of what was said before that; nil: nothing.
    var summary: String?
    /// What the bot summarizes first; nil: nothing.
    var older: OlderTalk?

    /// Nothing.
    init() {}

    /// What the bot is asked with `reply`.
    init(_ reply: ReplyPrompt?) {
        self.reply = reply
        (earlier, summary, older) = (reply?.earlier ?? [], reply?.summary, reply?.older)
    }
}

/// Reads conversations from the ledger.
struct Conversations {
    /// The most messages of one prompt; the rest comes with the next.
    static let messagesPerPrompt = 10
    /// So many messages are looked at for what was said before.
    private static let history = 2 * Conversation.turnLimit
    /// The most bytes of a file that a bot is shown.
    private static let fileLimit = AttachmentNote.shownLimit
    /// The most characters of a message that another one replies to.
    private static let quoteLimit = 300
    /// What a bot calls the person it speaks with.
    static let person = "user"

    let ledger: any Ledger
    let zones: ZoneLookup
    let manner: @Sendable (_ bot: String) -> TalkManner

    /// What the bot is asked now; nil: nothing waits for an answer.
    func prompt(
        bot: String, thread: String, at now: Moment
    ) async throws(LedgerError) -> ReplyPrompt? {
        let place = try await ledger.conversation(bot: bot, thread: thread)
        let asked = try await ledger.said(
            bot: bot, thread: thread, after: place?.cursor ?? 0, limit: Self.messagesPerPrompt)
        guard let last = asked.last else { return nil }
        var manner = manner(bot)
        manner.summarizes = manner.summarizes && manner.keepsSession
        let session = place?.continuation.flatMap { session in
            session.provider == manner.sessionProvider && session.isSafe ? session : nil
        }
        let since = max(start(place, manner), session == nil ? 0 : place?.known ?? 0)
        let before = manner.keepsSession ? try await answered(bot, thread, place, since: since) : []
        if manner.isPlain {
            let text = try await lines(asked).map(\.plain) + (try await reactions(bot, thread))
            return ReplyPrompt(
                text: text.joined(separator: "\n\n"), earlier: [], through: last.number, at: now)
        }
        let conversation = conversation(manner)
        let older = manner.summarizes ? conversation.compaction(of: before, asked: asked[0].number) : nil
        var turns = conversation.turns(
            before: Array(before.dropFirst(older?.count ?? 0)), asked: try await lines(asked),
            reactions: try await reactions(bot, thread))
        let text = turns.removeLast().text
        var prompt = ReplyPrompt(
            text: text, earlier: turns.map(EarlierTurn.init), session: session, through: last.number, at: now)
        prompt.summary = manner.summarizes ? place?.summary : nil
        prompt.older = older.map(OlderTalk.init)
        return prompt
    }

    /// After which row what was said is shown as it was said.
    private func start(_ place: ConversationRecord?, _ manner: TalkManner) -> Int64 {
        max(place?.since ?? 0, manner.summarizes ? place?.summarized ?? 0 : 0)
    }

    /// What was said before in the thread, whatever the bot's manner is.
    func earlier(bot: String, thread: String) async throws(LedgerError) -> RunTalk {
        let place = try await ledger.conversation(bot: bot, thread: thread)
        let manner = manner(bot)
        let before = try await answered(bot, thread, place, since: start(place, manner))
        let conversation = conversation(manner)
        let older = manner.summarizes ? conversation.compaction(of: before) : nil
        var talk = RunTalk()
        talk.earlier = conversation.turns(before: Array(before.dropFirst(older?.count ?? 0)))
            .map(EarlierTurn.init)
        talk.summary = manner.summarizes ? place?.summary : nil
        talk.older = older.map(OlderTalk.init)
        return talk
    }

    private func conversation(_ manner: TalkManner) -> Conversation {
        Conversation(zone: zones(manner.zone) ?? .utc, limit: manner.talkLimit)
    }

    /// What the bot said after the message of that number, and what it answered of what others said; nothing of what was
    /// settled without a reply, see ``ReplyRun/isSettled(by:)``.
    private func answered(
        _ bot: String, _ thread: String, _ place: ConversationRecord?, since: Int64
    ) async throws(LedgerError) -> [ThreadLine] {
        let cursor = place?.cursor ?? 0
        let messages = try await ledger.messages(
            bot: bot, thread: thread, after: since, limit: Self.history)
        let settled = try await settledRuns(Set(messages.compactMap(\.record.askedRun)))
        return try await lines(
            messages.reversed().filter { message in
                guard message.record.message.author != .bot else {
                    return message.record.run.map { !settled.contains($0) } ?? true
                }
                return message.number <= cursor
                    && message.record.askedRun.map { !settled.contains($0) } ?? true
            })
    }

    private func settledRuns(_ ids: Set<String>) async throws(LedgerError) -> Set<String> {
        guard !ids.isEmpty else { return [] }
        let runs = try await ledger.runs(ids: ids)
        return Set(runs.filter { ReplyRun.isSettled(by: RunOutcome($0.state, $0.reason)) }.map(\.id))
    }

    private func lines(_ messages: [NumberedMessage]) async throws(LedgerError) -> [ThreadLine] {
        var lines: [ThreadLine] = []
        for message in messages {
            let record = message.record
            let isOfBot = record.message.author == .bot
            var line = ThreadLine(
                isOfBot ? nil : record.sender ?? Self.person, at: record.message.at, record.message.text,
                run: isOfBot ? record.run : record.askedRun)
            line.number = message.number
            if let id = record.replyTo { line.quote = try await quote(id) }
            if let note = record.attachment { line.file = try await file(note, of: record.message.id) }
            lines.append(line)
        }
        return lines
    }

    private func quote(_ id: String) async throws(LedgerError) -> ThreadLine.Quote {
        guard let message = try await ledger.message(id: id)?.message else { return .init(id: id) }
        return .init(
            id: id, sender: message.author == .user ? Self.person : message.bot,
            text: Preview.cut(message.text, to: Self.quoteLimit))
    }

    /// A text is shown as far as ``fileLimit``, anything else only named.
    private func file(_ note: AttachmentNote, of message: String) async throws(LedgerError) -> ThreadLine.File
    {
        var file = ThreadLine.File(name: note.name, bytes: note.bytes)
        guard let content = try await ledger.attachment(of: message) else { return file }
        var start = content.prefix(Self.fileLimit)
        // A character that the limit cuts in two is left out.
        while start.count < content.count, let last = start.last, last & 0xC0 == 0x80 { start.removeLast() }
        if start.count < content.count, let last = start.last, last >= 0xC0 { start.removeLast() }
        guard !start.contains(0), let text = String(validating: start, as: UTF8.self) else { return file }
        file.text = start.count < content.count ? text + "\n… cut here" : text
        return file
    }

    private func reactions(_ bot: String, _ thread: String) async throws(LedgerError) -> [String] {
        var lines: [String] = []
        for reaction in try await ledger.newReactions(bot: bot, thread: thread) {
            let text = try await ledger.message(id: reaction.message)?.message.text ?? ""
            lines.append(
                PromptXML.reaction(
                    CleanText.line(reaction.word, limit: 40),
                    to: PromptXML.escaped(Preview.cut(text, to: Self.quoteLimit))))
        }
        return lines
    }
}

extension ThreadLine {
    /// What was said, with the file that came with it.
    fileprivate var plain: String {
        guard let file else { return text }
        return text + "\n\n[\(file.name)]\n" + (file.text ?? "(\(file.bytes) bytes, not text)")
    }
}

extension EarlierTurn {
    fileprivate init(_ turn: SpokenTurn) {
        self.init(isOfBot: turn.speaker == .assistant, text: turn.text)
    }
}

extension OlderTalk {
    fileprivate init(_ compaction: Compaction) {
        self.init(compaction.turns.map(EarlierTurn.init), through: compaction.through)
    }
}

extension SpokenTurn {
    /// Its text.
    fileprivate var text: String {
        parts.map { part in if case .text(let text) = part { text } else { "" } }.joined()
    }
}
