package import Grouping
package import Timeline

/// What was decided about one matter for one channel, and by which stage.
package struct Verdict: Hashable, Sendable {
    /// The decision for that channel.
    package enum Action: Hashable, Sendable {
        /// It is sent, or shown, now.
        case send(Dispatch)
        /// It is held until that moment.
        case hold(Dispatch, until: Moment, DispatchReason)
        /// It is not sent.
        case suppress(DispatchReason)
    }

    /// The channel's name.
    package var channel: String
    /// The stage that decided.
    package var stage: StageName
    /// What it decided.
    package var action: Action

    /// A verdict.
    package init(channel: String, stage: StageName, action: Action) {
        self.channel = channel
        self.stage = stage
        self.action = action
    }
}

/// What goes to a channel.
package struct Dispatch: Hashable, Sendable {
    /// The type it is sent as, as `run.failed` or `message.group`.
    package var type: String
    /// Why, as an enum's text: that of the event, or why the item rings or does not.
    package var reason: String
    /// Whether it takes the place of what waits for the channel of the same item and was never tried.
    package var takesPlace = false

    /// What goes to a channel, as something new.
    package init(type: String, reason: String) {
        self.type = type
        self.reason = reason
    }
}

/// Why something was held or not sent: shown to people, stored, and the metric label.
package enum DispatchReason: String, Hashable, Codable, Sendable, CaseIterable {
    /// No route names it.
    case noRoute
    /// The job, or whoever ran `belfry exec`, asks not to hear of it.
    case notWished
    /// A run has only just started.
    case justStarted
    /// A run was too short for the default route.
    case shortRun
    /// A scheduled run completed, and nobody wrote routes.
    case scheduledSuccess
    /// The default route leaves it out.
    case routine
    /// The failure that is over was not sent to this channel.
    case failureNotSent
    /// It is listed with other jobs that failed alike.
    case listed
    /// A person put the item away, and this is no news.
    case dismissed
    /// A person read it before it was shown.
    case read
    /// The channel rests at this time of day.
    case quietHours

    /// The reason as the fragment of a sentence.
    package var words: String {
        switch self {
        case .noRoute: "no route names it"
        case .notWished: "the notify setting of its job excludes it"
        case .justStarted: "the run has only just started"
        case .shortRun: "the run was short, and no route asks for short runs"
        case .scheduledSuccess: "a scheduled run completed, and no route asks for that"
        case .routine: "no route asks for it"
        case .failureNotSent: "the failure was not sent to this channel"
        case .listed: "it is listed in one notice with other jobs that failed alike"
        case .dismissed: "you dismissed it"
        case .read: "it was read before it was shown"
        case .quietHours: "quiet hours"
        }
    }
}

/// What is dispatched: an event, or a version of an item.
package struct Matter: Sendable {
    /// What it is about.
    package enum Subject: Sendable {
        /// Something happened. Channels without surfaces are sent it; others show the item that heard of it.
        case fact(Fact)
        /// An item has something new to show.
        case version(ItemSnapshot)
        /// A person read a thread before its news was shown.
        case read(ItemKey)
        /// A run was over before it was shown.
        case brief(ItemKey)
    }

    /// What it is about.
    package var subject: Subject
    /// What routes name it by.
    package var type: String
    /// Why, as an enum's text.
    package var reason: String
    /// The channel that it is about, which never hears of its own trouble.
    package var troubled: String?
    /// The channels it may go to, whatever the routes say; `nil`: those of the routes.
    package var only: [String]?
    /// What the job, or whoever ran it by `belfry exec`, asks for.
    package var wish: NotifyWish?
    /// Whether the run that it is about has ended.
    package var isEnd = false
    /// Whether the item of a storm lists it.
    package var isListed = false
    /// The run that it is about, as far as the default route asks.
    package var run: RoutineRun?

    /// An event.
    package init(_ fact: Fact) {
        let columns = fact.columns
        subject = .fact(fact)
        type = fact.type.rawValue
        reason = columns.reason ?? type.split(separator: ".").last.map(String.init) ?? type
        troubled = columns.channel
    }

    /// A version of an item, on the channels that may show it.
    package init(_ version: ItemSnapshot, only: [String]?) {
        subject = .version(version)
        reason = version.reason.rawValue
        switch version.content {
        case .messages: type = EventType.messageGroup.rawValue
        case .job(let report): type = "run.\(report.news.rawValue)"
        // Also when it is over: that replaces what was shown of it.
        case .storm: type = EventType.runFailed.rawValue
        case .question: type = EventType.questionAsked.rawValue
        }
        self.only = only
    }

    /// That a thread was read before its news was shown on the channels that may show it.
    package init(readBeforeShown item: ItemKey, only: [String]?) {
        subject = .read(item)
        type = EventType.messageGroup.rawValue
        reason = DispatchReason.read.rawValue
        self.only = only
    }

    /// That a run was over before it was shown on the channels that may show it.
    package init(overBeforeShown item: ItemKey, only: [String]?) {
        subject = .brief(item)
        type = EventType.runStarted.rawValue
        reason = DispatchReason.shortRun.rawValue
        self.only = only
    }
}

/// What dispatch decides by.
package struct DispatchRules: Hashable, Sendable {
    /// A channel, and what is its own of the rules.
    package struct Channel: Hashable, Sendable {
        /// Its name.
        package var name: String
        /// Whether it edits items in place; others are sent entries.
        package var isLevel: Bool

        /// A channel.
        package init(_ name: String, isLevel: Bool) {
            self.name = name
            self.isLevel = isLevel
        }
    }

    /// Who is named for what.
    package var routing: Routing
    /// The channels there are.
    package var channels: [Channel]

    /// Rules for channels.
    package init(routing: Routing, channels: [Channel]) {
        self.routing = routing
        self.channels = channels
    }
}
