import API
import Curl
import Delivery
import DesktopChannel
import Engine
import Glibc
import Host
import Ledger
import Logging
import ProgramChannel
import Prompting
import Settings
import Timeline
import Tracking
import WebhookChannel

/// Makes channels of their settings, and keeps those whose settings a reload left as they are.
actor Channels {
    private let curl: CurlMulti
    /// For mails alone; made when there is a channel that needs it.
    private var mailCurl: CurlMulti?
    private let programs: ProgramDesk
    /// Where the daemon is reached.
    private let socket: String
    /// Where agents of users connect.
    private let agents: AgentHub
    private let clock: any WallClock
    private let logger: Logger
    private var made: [String: (setting: ChannelSetting, channel: any Channel, version: Int)] = [:]
    private var versions = 0
    /// What was left out at the start, by name.
    private var waiting: [String: ChannelSetting] = [:]

    init(
        curl: CurlMulti, programs: ProgramDesk, socket: String, agents: AgentHub, clock: any WallClock,
        logger: Logger
    ) {
        self.agents = agents
        self.curl = curl
        self.programs = programs
        self.socket = socket
        self.clock = clock
        self.logger = logger
    }

    /// Channels as they were made of their settings.
    struct Made {
        var channels: [any Channel]
        /// Their versions by name.
        var versions: [String: Int]
        /// Those that can't be made yet.
        var leftOut: [LeftOut] = []
    }

    /// As ``channels(_:)``, without those that were `closed` when they were read, or can't be made for want of a secret
    /// and may be left out by that fault; they can be tried again.
    func channels(
        leavingOutOf settings: [ChannelSetting], _ closed: [ChannelSetting],
        where mayLeave: @Sendable (_ channel: String, _ fault: String) -> Bool
    ) throws -> Made {
        var (good, faulty): ([ChannelSetting], [ChannelSetting]) = ([], closed)
        for var setting in settings {
            do throws(WebhookSecretError) {
                if case .http(let form) = setting.form.carrier {
                    _ = try HTTPSender.signingSecrets(of: form, in: setting.secrets)
                }
                good.append(setting)
            } catch  where mayLeave(setting.name, "\(error)") {
                setting.fault = "\(error)"
                faulty.append(setting)
            } catch {
                // Making it is refused with its place.
                good.append(setting)
            }
        }
        var made = try channels(good)
        made.leftOut = leave(faulty)
        return made
    }

    /// Leaves these out, which have a fault; they can be tried again.
    func leave(_ closed: [ChannelSetting]) -> [LeftOut] {
        closed.map { setting in
            waiting[setting.name] = setting
            return LeftOut(
                .channel(setting.name, setting.form), place: setting.place,
                reason: setting.fault ?? "it can't be used")
        }
    }

    /// Makes a channel that was left out, if its secrets can be read now.
    func reopen(_ name: String) -> (any Channel, version: Int)? {
        guard var setting = waiting[name] else { return nil }
        do {
            setting.secrets = FormSecrets(
                try setting.sources.mapValues { try $0.map { try Secrets.read($0) } })
            setting.fault = nil
            let channel = try make(setting)
            versions += 1
            made[name] = (setting, channel, versions)
            waiting[name] = nil
            return (channel, versions)
        } catch {
            return nil
        }
    }

    /// Makes one more channel.
    ///
    /// - Throws: a sentence that names the channel.
    func add(_ setting: ChannelSetting) throws -> (any Channel, version: Int) {
        if let fault = setting.fault { throw Failure(fault) }
        let channel = try make(setting)
        versions += 1
        made[setting.name] = (setting, channel, versions)
        return (channel, versions)
    }

    /// The channels of these settings.
    ///
    /// - Throws: a sentence that names the channel and its line.
    func channels(_ settings: [ChannelSetting]) throws -> Made {
        var next: [String: (setting: ChannelSetting, channel: any Channel, version: Int)] = [:]
        for setting in settings {
            if let old = made[setting.name], old.setting.makesTheSame(as: setting) {
                next[setting.name] = old
            } else {
                versions += 1
                next[setting.name] = (setting, try make(setting), versions)
            }
        }
        made = next
        return Made(
            channels: settings.compactMap { next[$0.name]?.channel }, versions: next.mapValues(\.version))
    }

    private func make(_ setting: ChannelSetting) throws -> any Channel {
        do {
            return try sender(for: setting)
        } catch {
            throw Failure("\(setting.place): channel \"\(setting.name)\": \(error)", code: 2)
        }
    }

    private func sender(for setting: ChannelSetting) throws -> any Channel {
        let userAgent = "Belfry/\(Version.text)"
        switch setting.form.carrier {
        case .desktop(let form):
            if let user = form.user {
                return AgentDesktop(name: setting.name, form: form, user: user, hub: agents, clock: clock)
            }
            return Desktop(
                name: setting.name, form: form,
                bus: SessionBus(environment: Machine.environment, userID: geteuid()),
                terminal: Terminal(on: programs, socket: socket), clock: clock, logger: logger)
        case .http(let form):
            return try HTTPSender(
                name: setting.name, form: form, secrets: setting.secrets, userAgent: userAgent, curl: curl)
        case .httpLevel(let form):
            return try HTTPEditor(
                name: setting.name, form: form, secrets: setting.secrets, userAgent: userAgent, curl: curl,
                clock: clock, logger: logger)
        case .mail(let form, let server):
            let mailCurl = try mailCurl ?? CurlMulti()
            self.mailCurl = mailCurl
            return MailSender(
                name: setting.name, form: form, to: server, secrets: setting.secrets, curl: mailCurl)
        case .program(let form): return ProgramSender(name: setting.name, form: form, desk: programs)
        }
    }
}

extension EngineConfiguration {
    /// The contents of the files, with their channels.
    init(
        _ configuration: Configuration, path: String?, channels: Channels.Made, edition: String
    ) {
        let bots = configuration.bots.map { ($0.name, BotProfile($0)) }
        self.init(
            path: path, zone: configuration.zone, bots: Dictionary(uniqueKeysWithValues: bots),
            jobs: configuration.jobs.map { ($0.spec, $0.place) }, routing: configuration.routing,
            channels: channels.channels, versions: channels.versions, edition: edition)
        inhibitions = configuration.inhibitions
        for setting in configuration.channels + configuration.leftOut where setting.safety != ChannelSafety()
        {
            safety[setting.name] = setting.safety
        }
        listen = configuration.listen
        leftOut =
            channels.leftOut
            + configuration.bots.compactMap { bot in
                bot.contact?.fault.map { LeftOut(.bot(bot.name), place: bot.place, reason: $0) }
            }
    }
}

extension BotProfile {
    /// The bot as it was read.
    init(_ bot: Configuration.Bot) {
        self.init(
            name: bot.name, policy: bot.policy,
            manner: BotManner(soundName: bot.soundName, icon: bot.icon), urgency: bot.urgency,
            contact: bot.contact, place: bot.place)
        (manner.sounds, manner.hidesText, restraint) = (bot.sounds, bot.hidesText, bot.restraint)
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

/// Channels of the ledger: read as those of a file, with their secrets in `secrets/channel-NAME.KEY`.
struct OwnChannels: Sendable {
    private let entries: [ChannelEntry]
    private let state: String
    private let zones: ZoneCache

    /// Those of the ledger in this state folder.
    init(_ entries: [ChannelEntry], in state: String, zones: ZoneCache) {
        self.entries = entries
        self.state = state
        self.zones = zones
    }

    /// The file of a secret in this state folder.
    static func secretPath(_ state: String, _ name: String, _ key: String) -> String {
        "\(state)/secrets/channel-\(name).\(key)"
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Adds them to what the files say, where no channel of the files has their name.
    ///
    /// One whose secrets can't be read, or whose settings this version refuses, is left out with the reason.
    func join(_ configuration: inout Configuration) -> [ChannelEntry] {
        let taken = Set((configuration.channels + configuration.leftOut).map(\.name))
        var joined: [ChannelEntry] = []
        for entry in entries where !taken.contains(entry.name) {
            guard let setting = try? Self.setting(of: entry, in: state, leavesOut: true, zones) else {
                continue
            }
            if setting.fault == nil {
                configuration.channels.append(setting)
            } else {
                configuration.leftOut.append(setting)
            }
            joined.append(entry)
        }
        return joined
    }

    /// The channel that an entry describes.
    ///
    /// - Throws: sentences that a person reads, without the line of a text that nobody wrote.
    static func setting(
        of entry: ChannelEntry, in state: String, leavesOut: Bool, _ zones: ZoneCache
    ) throws -> ChannelSetting {
        var reader = ConfigurationReader(
            hostZone: zones.hostName, zone: { zones.rules(of: $0) }, readSecret: Secrets.read)
        reader.isOtherChannel = { _ in true }
        reader.leavesOutChannel = { _, _ in leavesOut }
        reader.programFault = { MachineLook.programFault($0) }
        let described = entry.settings { secretPath(state, $0, $1) }
        let text = JSON.object(["channels": .members([.init(entry.name, described)])])
        do throws(SettingsError) {
            let read = try reader.read(
                SourceText(name: entry.name, text: String(decoding: text.bytes, as: UTF8.self)))
            guard var setting = (read.channels + read.leftOut).first else {
                throw SettingsError(problems: [])
            }
            setting.place = EngineConfiguration.channelCommand
            return setting
        } catch {
            let fields = ChannelDraft.fields(ofKind: entry.settings["kind"]?.text ?? "")
            let sentences = error.problems.map {
                inFlags([$0.message, $0.hint].compactMap(\.self).joined(separator: "; "), fields)
            }
            throw Failure(
                sentences.isEmpty ? "it describes no channel" : sentences.joined(separator: ". And "))
        }
    }

    /// A sentence about the configuration file for whoever wrote flags of `channel add`.
    private static func inFlags(_ sentence: String, _ fields: [FormField]) -> String {
        fields.reduce(sentence) { sentence, field in
            let value = field.example.filter { !"[]".contains($0) }.replacing(", ", with: ",")
            let flag =
                field.shape == .secrets ? "pipe it in: --secret - < FILE" : "add --set \(field.name)=\(value)"
            return sentence.replacing(field.hint, with: flag)
                .replacing("under `\(field.name):`", with: "named by --set \(field.name)=")
                .replacing("`\(field.name):`", with: "--set \(field.name)=")
        }
    }
}

extension ChannelMaking {
    /// Channels whose secrets are kept in this state folder.
    static func inState(_ state: String, zones: ZoneCache, channels: Channels) -> ChannelMaking {
        let folder = state + "/secrets"
        return ChannelMaking(
            make: { entry in
                let setting = try OwnChannels.setting(of: entry, in: state, leavesOut: false, zones)
                let (channel, version) = try await channels.add(setting)
                return Made(channel, version: version, safety: setting.safety)
            },
            secretPath: { OwnChannels.secretPath(state, $0, $1) },
            keepSecret: { secret, path in
                try PrivateFolder.make(folder, within: state)
                try SmallFile.replace(path, with: Array((secret + "\n").utf8), isDurable: true)
            },
            removeSecret: { path in
                guard unsafe unlink(path) == 0 || errno == ENOENT else {
                    throw Failure(HostError.last("unlink", path).reason)
                }
            })
    }
}
