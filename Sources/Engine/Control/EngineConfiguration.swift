package import Delivery
package import Grouping
package import Ledger
package import Prompting

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
    package var contact: BotInUse?
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
        self.contact = contact
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
