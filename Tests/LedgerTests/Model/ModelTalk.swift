import Grouping
import Ledger
import Timeline
import Tracking

/// Conversations, reactions and files of the model: the plainest form of what the ledger promises of them.
struct ModelTalk {
    struct Conversation {
        var record: ConversationRecord
        var givenAt: Moment
    }

    struct Reaction {
        var record: ReactionRecord
        var isShown = false
    }

    var conversations: [ItemKey: Conversation] = [:]
    var reactions: [Reaction] = []
    var files: [String: [UInt8]] = [:]

    mutating func apply(_ change: Change, messages: inout [MessageRecord]) {
        switch change {
        case .giveMessages(let bot, let thread, let run, let number, let at):
            let key = ItemKey.thread(bot: bot, thread: thread)
            var record =
                conversations[key]?.record ?? ConversationRecord(bot: bot, thread: thread)
            record.given = number
            conversations[key] = Conversation(record: record, givenAt: at)
            for index in messages.indices where messages[index].message.itemKey == key {
                let row = Int64(index + 1)
                guard messages[index].message.author == .user, row > record.cursor, row <= number,
                    messages[index].askedRun != MessageRecord.saidElsewhere
                else {
                    continue
                }
                messages[index].askedRun = run
            }
        case .answerMessages(let bot, let thread):
            let key = ItemKey.thread(bot: bot, thread: thread)
            guard let conversation = conversations[key] else { return }
            conversations[key]?.record.cursor = conversation.record.given
            for index in reactions.indices where reactions[index].record.at <= conversation.givenAt {
                let id = reactions[index].record.message
                guard messages.contains(where: { $0.message.id == id && $0.message.itemKey == key }) else {
                    continue
                }
                reactions[index].isShown = true
            }
        case .keepSession(let session, let bot, let thread):
            let key = ItemKey.thread(bot: bot, thread: thread)
            guard let record = conversations[key]?.record, record.given > record.since else { return }
            if case .kept(let continuation) = session {
                conversations[key]?.record.continuation = continuation
            } else {
                conversations[key]?.record.continuation = nil
            }
            conversations[key]?.record.known =
                Int64((messages.lastIndex { $0.message.itemKey == key } ?? -1) + 1)
        case .keepSummary(let text, let bot, let thread, let through):
            let key = ItemKey.thread(bot: bot, thread: thread)
            var kept =
                conversations[key]
                ?? Conversation(
                    record: ConversationRecord(bot: bot, thread: thread), givenAt: Moment(microseconds: 0))
            let isNews = kept.record.since < through && kept.record.summarized < through
            guard isNews || conversations[key] == nil else { return }
            (kept.record.summary, kept.record.summarized) = (text, through)
            conversations[key] = kept
        case .beginSession(let bot):
            for (index, message) in messages.enumerated() where message.message.bot == bot {
                let fresh = Conversation(
                    record: ConversationRecord(bot: bot, thread: message.message.thread),
                    givenAt: Moment(microseconds: 0))
                conversations[message.message.itemKey, default: fresh].record.since = Int64(index + 1)
                conversations[message.message.itemKey]?.record.continuation = nil
                conversations[message.message.itemKey]?.record.summary = nil
                conversations[message.message.itemKey]?.record.summarized = 0
                if let known = conversations[message.message.itemKey]?.record {
                    conversations[message.message.itemKey]?.record.cursor =
                        max(known.cursor, min(known.given, known.since))
                }
            }
        case .react(let reaction):
            guard let index = messages.firstIndex(where: { $0.message.id == reaction.message }),
                !messages[index].reactions.contains(reaction.word)
            else { return }
            messages[index].reactions.append(reaction.word)
            reactions.append(Reaction(record: reaction))
        case .insertAttachment(let id, let note, let content):
            guard files[id] == nil, let index = messages.firstIndex(where: { $0.message.id == id }) else {
                return
            }
            files[id] = content
            messages[index].attachment = note
        default: return
        }
    }
}
