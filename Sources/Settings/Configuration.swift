package import Delivery
package import Grouping
package import Ledger
package import Prompting

/// What the configuration files say.
package struct Configuration: Sendable {
    /// The zone of schedules that name none.
    package var zone: String
    package var bots: [Bot]
    package var jobs: [Job]
    package var channels: [ChannelSetting]
    package var routing: Routing
    /// Whose failure explains others.
    package var inhibitions: [Inhibition] = []
    /// What is allowed but perhaps not meant.
    package var warnings: [Problem]
    /// How parts of the files are understood that people read in two ways.
    package var notes: [Problem] = []
    /// The channels whose secrets can't be read, each with its ``ChannelSetting/fault``.
    package var leftOut: [ChannelSetting] = []
    /// Where the API is served over TCP; nil: nowhere.
    package var listen: DoorSetting?

    /// A bot that was described.
    package struct Bot: Hashable, Sendable {
        package var name: String
        package var policy: ThreadPolicy
        package var soundName: String?
        /// The icon of its messages.
        package var icon: String?
        /// How much its messages, and failures of its jobs, disturb; nil: the defaults of each.
        package var urgency: Urgency?
        /// Its sounds by the kind of news.
        package var sounds: [SoundKind: String] = [:]
        /// Whether its notices say only that there is something.
        package var hidesText = false
        /// When, and how often, it may disturb.
        package var restraint = Restraint()
        /// How it is asked; nil: it has no provider.
        package var contact: BotInUse?
        /// Where its key is read from.
        package var keySources: [SecretSource] = []
        /// `FILE:LINE`.
        package var place: String
    }

    /// A job of a file.
    package struct Job: Hashable, Sendable {
        package var spec: JobSpec
        /// `FILE:LINE`.
        package var place: String
    }

    /// The defaults without a file: one bot, one desktop channel, every route to it.
    package static func standard(zone: String) -> Configuration {
        Configuration(
            zone: zone, bots: [], jobs: [], channels: standardChannels,
            routing: .standard(to: standardChannels.map(\.name)), warnings: [])
    }

    /// The channels where none is described: the desktop, called `desk`.
    static var standardChannels: [ChannelSetting] {
        [ChannelSetting(name: "desk", form: DesktopForm(), place: "")]
    }
}

/// A channel as described, with its secrets read.
package struct ChannelSetting: Sendable {
    package var name: String
    package var form: any ChannelForm
    /// The contents of the named secrets; never shown or logged.
    package var secrets: FormSecrets
    /// Where the secrets are read from, by the key that names them.
    package var sources: [String: [SecretSource]] = [:]
    /// `FILE:LINE`.
    package var place: String
    /// What keeps it from failing unnoticed.
    package var safety = ChannelSafety()
    /// Why its secrets can't be read; nil: they were read.
    package var fault: String?

    package init(name: String, form: any ChannelForm, secrets: FormSecrets = FormSecrets(), place: String) {
        self.name = name
        self.form = form
        self.secrets = secrets
        self.place = place
    }

    /// Whether a channel made of the one serves for the other: its line in the file does not matter.
    package func makesTheSame(as other: ChannelSetting) -> Bool {
        name == other.name && AnyHashable(form) == AnyHashable(other.form) && secrets == other.secrets
    }
}
