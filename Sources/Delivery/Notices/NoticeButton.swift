package import Grouping
import Tracking

/// A button of a notice by what it does; the raw value is its key.
package enum NoticeButton: String, Hashable, Sendable, CaseIterable {
    /// Opens a terminal in which the item's bot can be talked to.
    case open
    /// The same, where a server takes no typed replies.
    case reply
    /// Opens a terminal that shows what the run printed.
    case log
    /// Runs the job once more.
    case runAgain = "run-again"
    /// Ends the run.
    case cancel
    /// Stops the processes of the run.
    case pause
    /// Has the processes of the run go on.
    case resume
    /// Puts the item away for ``snoozeTime``, after which it rings again unless it was read.
    case snooze
    /// Silences the bot on this channel.
    case mute
    /// Reads the item, everywhere.
    case markRead = "mark-read"

    /// How long a snoozed item stays away.
    package static let snoozeTime = Duration.seconds(3600)
    /// How long a muted bot stays silent: as long as a silence can be.
    package static let muteTime = Duration.seconds(366 * 86_400)

    /// What it says on a notice of that bot.
    func label(_ bot: String) -> String {
        switch self {
        case .open: "Open"
        case .reply: "Reply"
        case .log: "Log"
        case .runAgain: "Run again"
        case .cancel: "Cancel"
        case .pause: "Pause"
        case .resume: "Resume"
        case .snooze: "Snooze 1 h"
        case .mute: "Mute \(Preview.cut(bot, to: 20))"
        case .markRead: "Mark read"
        }
    }
}

/// What can be done about an item from where it is shown.
package struct NoticeOffer: Hashable, Sendable {
    /// Whether a terminal can be opened there.
    package var hasTerminal = false
    /// Whether the job can be run again: it is described somewhere.
    package var isRepeatable = false
    /// Whether the bot answers what is said to it.
    package var answers = false

    /// An offer of what needs neither a terminal nor a job.
    package init() {}
}

extension NoticeComposer {
    /// Adds the buttons that fit the kind of the item, the most useful first.
    ///
    /// A question has those of its choices already, and a notice of Belfry itself has nobody to mute.
    package static func addButtons(
        to notice: inout Notice, of item: ItemSnapshot, offering offer: NoticeOffer
    ) {
        let buttons = buttons(of: item, offer).filter { $0 != .mute || item.bot != belfry }
        notice.actions += buttons.map { NoticeAction(key: $0.rawValue, label: $0.label(item.bot)) }
    }

    private static func buttons(of item: ItemSnapshot, _ offer: NoticeOffer) -> [NoticeButton] {
        let log: [NoticeButton] = offer.hasTerminal ? [.log] : []
        let again: [NoticeButton] = offer.isRepeatable ? [.runAgain] : []
        switch item.content {
        case .question: return []
        case .storm: return [.markRead]
        case .messages:
            let talk: [NoticeButton] = offer.answers && offer.hasTerminal ? [.reply, .open] : []
            return talk + [.markRead, .snooze, .mute]
        case .job(let report):
            switch report.news {
            case .started, .progress, .blocked:
                return [.cancel] + (report.fact.state == .paused ? [.resume] : []) + log
            case .failed, .lost: return log + again + [.snooze, .markRead, .mute]
            case .missed: return again + [.markRead]
            case .completed, .recovered, .canceled, .skipped: return log + again
            }
        }
    }
}

extension NoticeAction {
    private static let more = "more-"

    /// The button behind which those are for which a server has no room, from that place on.
    static func more(from place: Int) -> NoticeAction { NoticeAction(key: more + "\(place)", label: "More…") }

    /// The place of the first button that is to be shown when the button of this key was pressed; nil: it is another.
    package static func place(behind key: String) -> Int? {
        guard key.hasPrefix(more), let place = Int(key.dropFirst(more.count)), place > 0 else { return nil }
        return place
    }

    /// The buttons that a server shows which has room for `room`, from a place on; a click on the body is none.
    static func page(of actions: [NoticeAction], from place: Int, room: Int?) -> [NoticeAction] {
        let bodies = actions.filter { $0.key == defaultKey }
        let rest = actions.filter { $0.key != defaultKey }.dropFirst(max(0, place))
        guard let room, rest.count > room else { return bodies + rest }
        return bodies + rest.prefix(room - 1) + [more(from: max(0, place) + room - 1)]
    }
}
