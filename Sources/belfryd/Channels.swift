import Curl
import Delivery
import DesktopChannel
import Glibc
import Host
import Logging
import Settings
import Timeline
import WebhookChannel

/// Makes channels of their settings, and keeps those whose settings a reload left as they are.
actor Channels {
    private let curl: CurlMulti
    private let clock: any WallClock
    private let logger: Logger
    private var made: [String: (setting: ChannelSetting, channel: any Channel, version: Int)] = [:]
    private var versions = 0

    init(curl: CurlMulti, clock: any WallClock, logger: Logger) {
        self.curl = curl
        self.clock = clock
        self.logger = logger
    }

    /// The channels of these settings, with their versions by name.
    ///
    /// - Throws: a sentence that names the channel and its line.
    func channels(_ settings: [ChannelSetting]) throws -> (channels: [any Channel], versions: [String: Int]) {
        var next: [String: (setting: ChannelSetting, channel: any Channel, version: Int)] = [:]
        for setting in settings {
            if let old = made[setting.name], old.setting.isSame(as: setting) {
                next[setting.name] = old
            } else {
                versions += 1
                next[setting.name] = (setting, try make(setting), versions)
            }
        }
        made = next
        return (settings.compactMap { next[$0.name]?.channel }, next.mapValues(\.version))
    }

    private func make(_ setting: ChannelSetting) throws -> any Channel {
        switch setting.form {
        case .desktop(let form):
            return Desktop(
                name: setting.name, form: form,
                bus: SessionBus(environment: Machine.environment, userID: geteuid()), clock: clock,
                logger: logger)
        case .webhook(let form):
            do {
                return WebhookChannel(
                    name: setting.name, target: try WebhookTarget(form),
                    secrets: try setting.secrets.flatMap { try WebhookSecret.list($0) },
                    userAgent: "Belfry/\(Version.text)", curl: curl)
            } catch {
                throw Failure("\(setting.place): channel \"\(setting.name)\": \(error)", code: 2)
            }
        }
    }
}

extension ChannelSetting {
    /// Whether a channel made of the one serves for the other: its line in the file does not matter.
    fileprivate func isSame(as other: ChannelSetting) -> Bool {
        name == other.name && form == other.form && secrets == other.secrets
    }
}
