import API
import Curl
import Delivery
import DesktopChannel
import Engine
import Glibc
import Host
import Logging
import ProgramChannel
import Prompting
import Settings
import Timeline
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
