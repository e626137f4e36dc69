import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

// What was kept back for a while, in one notice.

/// What is kept back of an item from a channel.
struct HeldBack: Sendable {
    let channel: String
    let version: ItemSnapshot

    /// The most relevant first: by urgency, then questions, failures and messages, then the newest.
    static func isBefore(_ one: HeldBack, _ other: HeldBack) -> Bool {
        (one.version.urgency, one.version.content.relevance, one.version.at)
            > (other.version.urgency, other.version.content.relevance, other.version.at)
    }
}

extension KeptItem {
    /// What quiet hours or a budget keep back until that moment.
    func digestible(at now: Moment) -> [HeldBack] {
        held.compactMap { channel, until in
            guard until <= now, let reason = heldBy[channel], [.quietHours, .overBudget].contains(reason),
                let version = version(on: channel), !version.isDismissed
            else { return nil }
            return HeldBack(channel: channel, version: version)
        }
    }
}

extension ItemTurn {
    static let digestLines = 10

    /// Sums up in one notice for each channel what these items show there now, where it is more than one thing.
    ///
    /// The items themselves come without a sound then.
    mutating func sendDigests(of keys: [ItemKey], at moment: Moment) {
        var byChannel: [String: [HeldBack]] = [:]
        for key in keys {
            for held in item(key, bot: OwnThread.bot).digestible(at: moment) {
                byChannel[held.channel, default: []].append(held)
            }
        }
        for (channel, held) in byChannel.sorted(by: { $0.key < $1.key }) where held.count > 1 {
            digested.insert(channel)
            sendDigest(of: held.sorted(by: HeldBack.isBefore), on: channel)
        }
    }

    private mutating func sendDigest(of held: [HeldBack], on channel: String) {
        let shown = held.prefix(Self.digestLines).map { line(of: notice(of: $0.version)) }
        let rest = held.count - shown.count
        let lines = shown + (rest > 0 ? ["and \(rest) more"] : [])
        var message = Message(
            id: tools.makeID(), bot: OwnThread.bot, thread: OwnThread.digest(channel).name,
            text: lines.joined(separator: "\n"), at: now)
        message.title = "While it was quiet: \(held.count) things"
        let (now, policy) = (now, ThreadPolicy(wait: .zero, previewCharacters: 500))
        update(message.itemKey, bot: OwnThread.bot) { item in
            item.only = [channel]
            return item.receive(message, at: now, policy: policy)
        }
    }

    /// `ops: Disk is full`, `backup failed`.
    func line(of notice: Notice) -> String {
        let first = notice.body.split(separator: "\n").last.map(String.init) ?? ""
        return Preview.cut(first.isEmpty ? notice.title : "\(notice.title): \(first)", to: 100)
    }
}

extension ItemSnapshot.Content {
    /// How much it matters among things of the same urgency.
    var relevance: Int {
        switch self {
        case .question: 3
        case .storm: 2
        case .job(let report): report.fact.state.isFailure ? 2 : 0
        case .messages: 1
        }
    }
}
