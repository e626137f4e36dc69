import API
import Delivery
import Engine
import Settings

extension EngineConfiguration {
    /// The contents of the files, with their channels.
    init(
        _ configuration: Configuration, path: String?, channels: Channels.Made, edition: String
    ) {
        let bots = configuration.bots.map { bot in
            (
                bot.name,
                BotProfile(
                    name: bot.name, policy: bot.policy,
                    manner: BotManner(soundName: bot.soundName, icon: bot.icon), urgency: bot.urgency,
                    contact: bot.contact, place: bot.place)
            )
        }
        self.init(
            path: path, zone: configuration.zone, bots: Dictionary(uniqueKeysWithValues: bots),
            jobs: configuration.jobs.map { ($0.spec, $0.place) }, routing: configuration.routing,
            channels: channels.channels, versions: channels.versions, edition: edition)
        leftOut = channels.leftOut
    }
}

extension ReloadRefusal {
    /// What is wrong with the files.
    init(_ error: SettingsError) {
        self.init(
            description: error.description,
            faults: error.problems.map {
                WireFault(
                    file: $0.file, line: $0.line, column: $0.column, message: $0.message, hint: $0.hint)
            })
    }
}
