package import Delivery
package import Grouping
package import Ledger

/// What the configuration files say.
package struct Configuration: Sendable {
    /// The zone of schedules that name none.
    package var zone: String
    package var bots: [Bot]
    package var jobs: [Job]
    package var channels: [ChannelSetting]
    package var routing: Routing
    /// What is allowed but perhaps not meant.
    package var warnings: [Problem]

    /// A bot that was described.
    package struct Bot: Hashable, Sendable {
        package var name: String
        package var policy: ThreadPolicy
        package var soundName: String?
        /// `FILE:LINE`.
        package var place: String
    }

    /// A job of a file.
    package struct Job: Hashable, Sendable {
        package var spec: JobSpec
        /// `FILE:LINE`.
        package var place: String
    }

    /// What is in force without a file: one bot, one desktop channel, every route to it.
    package static func standard(zone: String) -> Configuration {
        let desk = ChannelSetting(name: "desk", form: .desktop(DesktopForm()), secrets: [], place: "")
        return Configuration(
            zone: zone, bots: [], jobs: [], channels: [desk],
            routing: Routing(routes: [Route(when: Set(RouteWord.allCases), to: ["desk"])]), warnings: [])
    }
}

/// A channel as described, with its secrets read.
package struct ChannelSetting: Hashable, Sendable {
    package var name: String
    package var form: ChannelForm
    /// The contents of the named secrets, in their order; never shown or logged.
    package var secrets: [String]
    /// `FILE:LINE`.
    package var place: String

    package init(name: String, form: ChannelForm, secrets: [String], place: String) {
        self.name = name
        self.form = form
        self.secrets = secrets
        self.place = place
    }
}
