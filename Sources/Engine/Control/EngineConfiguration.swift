package import Delivery
package import Grouping
package import Ledger
package import Prompting
import Synchronization
import Timeline

/// What the configuration says, as values the keepers use.
///
/// Replaced whole by a reload.
package struct EngineConfiguration: Sendable {
    /// Where it was read; nil: there is no file and the defaults apply.
    package var path: String?
    /// The zone of schedules that name none.
    package var zone: String
    package var bots: [String: BotProfile]
    /// The jobs of the files, with `FILE:LINE`.
    package var jobs: [(spec: JobSpec, place: String)]
    package var routing: Routing
    package var channels: [any Channel]
    /// Rises for a channel whenever it was made again; one that is the same keeps its connections.
    package var versions: [String: Int]
    /// What keeps channels from failing unnoticed, by their names; those that have nothing of it are not in it.
    package var safety: [String: ChannelSafety] = [:]
    /// Which edition of the files it was read from; differs as soon as one of them is changed.
    package var edition: String
    /// The names of the channels that were made on the command line.
    package var ownChannels: Set<String> = []
    /// Whose failure explains others.
    package var inhibitions: [Inhibition] = []
    /// What people silenced: kept in the ledger, not in the files.
    package var silences: [Silence] {
        get { silenced.all }
        set { silenced = Silences(newValue) }
    }
    private var silenced = Silences()
    /// What of it could not be used.
    package var leftOut: [LeftOut] = []
    /// Where the API is served over TCP; nil: nowhere.
    package var listen: DoorSetting?
    /// The page where a question of that id can be answered; nil: there is none.
    package var questionLink: (@Sendable (_ id: String) -> String)?

    package init(
        path: String?, zone: String, bots: [String: BotProfile], jobs: [(spec: JobSpec, place: String)],
        routing: Routing, channels: [any Channel], versions: [String: Int] = [:],
        edition: String = ""
    ) {
        self.path = path
        self.zone = zone
        self.bots = bots
        self.jobs = jobs
        self.routing = routing
        self.channels = channels
        self.versions = versions
        self.edition = edition
    }

    /// What dispatch decides by.
    ///
    /// Also of channels that were left out: what is for them waits until they are back.
    package var rules: DispatchRules {
        func channel(
            _ name: String, _ kind: ChannelKind, _ form: (any ChannelForm)?
        ) -> DispatchRules.Channel {
            DispatchRules.Channel(
                name, isLevel: kind.isLevel, isNear: kind == DesktopForm.kind,
                audience: form.map { type(of: $0).audience },
                takesProgress: form.map { type(of: $0).takesProgress })
        }
        let present = channels.map { channel($0.name, $0.kind, $0.form) }
        let missing = leftOut.compactMap { left in
            left.channel.map { channel($0.name, $0.kind, left.form) }
        }
        var rules = DispatchRules(routing: routing, channels: present + missing)
        rules.silenced = silenced
        rules.inhibitions = inhibitions
        for (name, bot) in bots where bot.restraint != Restraint() { rules.restraints[name] = bot.restraint }
        return rules
    }

    /// The bytes that are queued for the channel of that name, also where it was left out; nil: it is a level, or none.
    package func render(_ bulletin: Bulletin, for channel: String) -> [UInt8]? {
        edgeForm(of: channel)?.render(bulletin)
    }

    /// Whether the channel of that name is sent messages as they were posted.
    func showsWholeMessages(_ channel: String) -> Bool {
        edgeForm(of: channel).map { type(of: $0).showsWholeMessages } ?? false
    }

    /// The form of a channel that sends each thing once, also of one that was left out.
    private func edgeForm(of channel: String) -> (any EdgeForm)? {
        let form =
            channels.first { $0.name == channel }?.form
            ?? leftOut.first { $0.channel?.name == channel }?.form
        return form as? any EdgeForm
    }

    /// Whether a job belongs to a bot that is none of the files.
    package var hasStrangers: Bool {
        jobs.contains { $0.spec.bot != "belfry" && bots[$0.spec.bot] == nil }
    }

    /// The bot of that name; one that nobody described has the defaults.
    package func bot(_ name: String) -> BotProfile { bots[name] ?? BotProfile(name: name) }
}

/// A bot, as far as its notices need to know it.
package struct BotProfile: Hashable, Sendable {
    package var name: String
    package var policy: ThreadPolicy
    /// How its notices look and sound.
    package var manner: BotManner
    /// How much its messages, and failures of its jobs, disturb; nil: normal, and critical for failures.
    package var urgency: Urgency?
    /// When, and how often, it may disturb.
    package var restraint = Restraint()
    /// How it is asked; nil: it only speaks for its jobs.
    package var contact: BotInUse? {
        get { shared?.value }
        set { shared = newValue.map(SharedContact.init) }
    }
    /// The same as one object, shared by all that keep it.
    private(set) var shared: SharedContact?
    /// `FILE:LINE`; nil: nobody described it.
    package var place: String?
    /// Whether it was made on the command line.
    package var isOfLedger: Bool { place == Self.commandLine }

    /// The place of bots that were made on the command line.
    package static let commandLine = "belfry bot add"

    package init(
        name: String, policy: ThreadPolicy = ThreadPolicy(), manner: BotManner = BotManner(),
        urgency: Urgency? = nil, contact: BotInUse? = nil, place: String? = nil
    ) {
        self.name = name
        self.policy = policy
        self.manner = manner
        self.urgency = urgency
        shared = contact.map(SharedContact.init)
        self.place = place
    }

    /// What answers its prompts; `command` where it only speaks for its jobs.
    package var kind: String {
        contact?.backend?.dialect.rawValue ?? contact?.program?.kind
            ?? (contact?.gateway == nil ? "command" : BotGateway.kind)
    }

    /// The model it is; nil: it has no provider.
    package var model: String? { contact?.backend?.model ?? contact?.program?.model }

    /// Whether they differ at most in their place in the file.
    package func isSame(as other: BotProfile) -> Bool {
        var other = other
        other.place = place
        return self == other
    }
}

/// How a bot is asked, kept once for all who know it: it is large, and there may be a thousand bots.
final class SharedContact: Hashable, Sendable {
    let value: BotInUse

    init(_ value: BotInUse) { self.value = value }

    static func == (one: SharedContact, other: SharedContact) -> Bool {
        one === other || one.value == other.value
    }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// The active configuration, shared by the keepers; a reload replaces it in one step and wakes them.
package final class ActiveConfiguration: Sendable {
    private struct State {
        var configuration: EngineConfiguration
        /// What was derived from it; nil: nobody has asked yet.
        var rules: ActiveRules?
    }

    private let current: Mutex<State>
    private let lastRefusal = Mutex<String?>(nil)
    private let lastDoorFault = Mutex<String?>(nil)
    private let changes = Broadcast<Void>()
    /// Whether a person asked to see what quiet hours and budgets keep back.
    let isReleaseAsked = Flag(false)
    /// Callers that change what is active pass one by one.
    let turnstile = Turnstile()
    /// What the keeper of items and those who send for the channels must agree on.
    package let inHand = EntriesInHand()

    package init(_ configuration: EngineConfiguration) {
        current = Mutex(State(configuration: configuration))
    }

    /// The configuration now.
    package var configuration: EngineConfiguration { current.withLock(\.configuration) }

    /// The same with what turns of the items decide by.
    var rules: ActiveRules {
        current.withLock { state in
            if let rules = state.rules { return rules }
            let rules = ActiveRules(state.configuration)
            state.rules = rules
            return rules
        }
    }

    /// Why the last reload was refused; nil: it was not.
    package var refusal: String? {
        get { lastRefusal.withLock { $0 } }
        set { lastRefusal.withLock { $0 = newValue } }
    }

    /// Why the API is not served over TCP although it should be; nil: it is, or need not be.
    package var doorFault: String? {
        get { lastDoorFault.withLock { $0 } }
        set { lastDoorFault.withLock { $0 = newValue } }
    }

    /// Makes another one active.
    package func replace(with configuration: EngineConfiguration) {
        current.withLock { $0 = State(configuration: configuration) }
        changes.publish(())
    }

    /// Changes a part of it in one step.
    @discardableResult
    package func change<Result: Sendable>(_ body: (inout EngineConfiguration) -> Result) -> Result {
        let result = current.withLock { state in
            state.rules = nil
            return body(&state.configuration)
        }
        changes.publish(())
        return result
    }

    /// Has the keeper of items show what quiet hours and budgets keep back.
    func askForRelease() {
        isReleaseAsked.set(true)
        changes.publish(())
    }

    /// An element at once, and after each reload.
    package func taps() -> AsyncStream<Void> { changes.values(first: ()) }

    /// The channels that have an outbox.
    package var edges: [any EdgeChannel] { configuration.channels.compactMap { $0 as? any EdgeChannel } }

    /// The channel of that name; nil: it was removed, or never was.
    package func channel(_ name: String) -> (any Channel)? {
        configuration.channels.first { $0.name == name }
    }
}

/// Whether the jobs of the files are loaded: a request that needs jobs waits for it after a start.
package final class Loading: Sendable {
    /// How long a request waits.
    let timeout: Duration
    private let done: Mutex<Bool>
    private let changes = Broadcast<Void>()

    /// Done already unless the daemon is only starting; a request waits less long than clients do.
    package init(isDone: Bool = true, timeout: Duration = .seconds(4)) {
        done = Mutex(isDone)
        self.timeout = timeout
    }

    package var isDone: Bool { done.withLock { $0 } }

    /// The jobs are loaded from now on.
    func finish() {
        done.withLock { $0 = true }
        changes.publish(())
    }

    /// Returns once the jobs are loaded, or the task is cancelled.
    func wait() async {
        for await _ in changes.values(first: ()) where isDone { return }
    }
}

extension Control {
    /// Returns once the jobs of the files are loaded.
    ///
    /// - Throws: ``EngineError/starting`` when they are not after ``Loading/timeout`` of waiting.
    package func whenLoaded() async throws(EngineError) {
        guard !loading.isDone else { return }
        let limit = clock.now + loading.timeout
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await loading.wait() }
            group.addTask { [clock] in try? await clock.sleep(until: limit) }
            await group.next()
            group.cancelAll()
        }
        guard loading.isDone else { throw .starting }
    }
}

/// Lets one caller through at a time, in the order in which they come.
///
/// For steps that await and must not be cut into by others of their kind, such as two reloads.
final class Turnstile: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Runs `body` once nobody else is inside; a caller that is cancelled waits all the same.
    func pass<Value, Failure: Error>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await enter()
        defer { leave() }
        return try await body()
    }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
