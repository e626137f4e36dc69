import Delivery
import Grouping
import Ledger

/// A configuration with what the turns of the items decide by, derived once: turns come with every event.
final class ActiveRules: Sendable {
    let configuration: EngineConfiguration
    /// What dispatch decides by.
    let dispatch: DispatchRules
    /// Whether a rule asks for the labels of jobs.
    let needsLabels: Bool
    /// The channels that edit in place.
    let levels: [String]
    /// What those want to hear of jobs, all together.
    let jobPolicy: JobPolicy
    /// The same, and each by itself.
    let jobPolicies: ChannelInterests
    /// Where the digests of those are written.
    let digests: [ItemKey]
    /// The channels that get groups of messages as outbox entries.
    let groupChannels: [String]
    /// Whether some channel gets the starts of runs as outbox entries.
    let sendsStarts: Bool
    /// Whether some channel gets the failures of runs as outbox entries.
    let sendsFailures: Bool

    init(_ configuration: EngineConfiguration) {
        self.configuration = configuration
        dispatch = configuration.rules
        needsLabels = dispatch.needsLabels
        let levels = dispatch.channels.filter(\.isLevel).map(\.name)
        let routing = configuration.routing
        func entryChannels(for type: EventType) -> [String] {
            routing.channels(for: type.rawValue).filter { !levels.contains($0) }
        }
        self.levels = levels
        jobPolicy = JobPolicy(hears: routing.hears(Set(levels)))
        jobPolicies = ChannelInterests(routing, levels: levels)
        digests = levels.map { OwnThread.digest($0).key }
        groupChannels = entryChannels(for: .messageGroup)
        sendsStarts = !entryChannels(for: .runStarted).isEmpty
        sendsFailures = !entryChannels(for: .runFailed).isEmpty
    }

    /// How a bot notifies; one that nobody described has the defaults.
    func bot(_ name: String) -> BotProfile { configuration.bot(name) }
}
