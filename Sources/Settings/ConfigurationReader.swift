package import Cron
package import Delivery
package import Grouping
package import Ledger
package import Prompting
package import Timeline

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

/// Reads the configuration files, all of them and to the end, so that every fault is reported at once.
package struct ConfigurationReader {
    /// The zone where the files name none.
    package var hostZone: String
    /// Finds a zone by name.
    package var zone: (String) -> ZoneRules?
    /// Reads a secret; throws a sentence with the reason why it can't be read, without the secret.
    package var readSecret: (SecretSource) throws -> String
    /// The zones that a phrase may name by their cities, and a misspelt name is compared with.
    package var phraseZones = PhraseZones.none
    /// Whether a bot whose key can't be read is left out, instead of being a fault.
    package var leavesOutBots = false
    /// Whether a channel whose secret can't be used, by this fault, is left out, as at a start, instead of being one.
    package var leavesOutChannel: (_ name: String, _ fault: String) -> Bool = { _, _ in false }
    /// The kinds of channel there are.
    package var forms = ChannelForms.all
    /// What a job may hold.
    package var fields = JobFields.standard
    /// Why a good job may never work on this machine: the key at fault, a sentence, and what to do.
    package var doubts: (JobSpec) -> [(key: String, message: String, hint: String?)] = { _ in [] }
    /// Why a program can't be run on this machine; nil: it can, as far as anybody knows.
    package var programFault: (_ word: String) -> String? = { _ in nil }
    /// What bots may be allowed to call.
    package var tools: [String] = []
    /// Whether there is a bot of that name beside those of the files: one that was made on the command line.
    package var isOtherBot: (_ name: String) -> Bool = { _ in false }
    /// Whether there is a channel of that name beside those of the files.
    package var isOtherChannel: (_ name: String) -> Bool = { _ in false }
    /// Names of jobs that a running daemon has from elsewhere than its files.
    package var takenNames: Set<String> = []
    /// Whether one of ``takenNames`` in the files is a fault; else it is a warning.
    package var refusesTaken = true

    package init(
        hostZone: String, zone: @escaping (String) -> ZoneRules?,
        readSecret: @escaping (SecretSource) throws -> String
    ) {
        self.hostZone = hostZone
        self.zone = zone
        self.readSecret = readSecret
    }

    /// Reads the main file and the files beside it that hold only `jobs:`.
    ///
    /// - Throws: every fault of every file.
    package func read(_ main: SourceText, jobs others: [SourceText] = []) throws(SettingsError)
        -> Configuration
    {
        let faults = Faults()
        var parts = Parts()
        if let root = Document(source: main, faults: faults).root() {
            readMain(root, into: &parts)
        }
        for other in others {
            guard let root = Document(source: other, faults: faults).root() else { continue }
            if let jobs = root.record(keys: ["jobs"])?["jobs"] { parts.jobFields += jobEntries(jobs) ?? [] }
        }
        let configuration = assemble(parts, faults)
        guard faults.problems.isEmpty else {
            throw SettingsError(
                problems: sorted(faults.cleaned(faults.problems), files: [main] + others),
                warnings: configuration.warnings, notes: configuration.notes)
        }
        return configuration
    }

    /// What was found, before one part is held against the others.
    struct Parts {
        var zone: String?
        var botNames: Set<String> = ["belfry"]
        var bots: [Configuration.Bot] = []
        /// The names of bots where they are described.
        var botFields: [String: Field] = [:]
        var jobFields: [(key: Field, value: Field)] = []
        /// Also of channels that are at fault, so that a route to one is not another fault.
        var channelNames: Set<String> = []
        var channelKeys: [String: Field] = [:]
        var channels: [ChannelSetting] = []
        var routes: [RouteField]?
        var inhibitions: [Inhibition] = []
        var listen: DoorSetting?
    }

    private func readMain(_ root: Field, into parts: inout Parts) {
        guard
            let fields = root.record(
                keys: ["zone", "bots", "jobs", "channels", "routes", "inhibit", "listen"],
                later: ["silences", "calendars", "retention", "limits"],
                instead: CommonMistakes.file)
        else { return }
        if let field = fields["listen"] { parts.listen = readDoor(field) }
        if let field = fields["zone"] { parts.zone = zoneName(field) }
        for (key, value) in fields["bots"]?.entries(
            of: "bot", inner: ["backend", "notifications"] + BotFields.backend.map(\.key)) ?? []
        {
            parts.botNames.insert(key.scalar ?? "")
            parts.botFields[key.scalar ?? ""] = key
            if let bot = readBot(key, value, in: parts.zone) { parts.bots.append(bot) }
        }
        parts.jobFields = fields["jobs"].flatMap(jobEntries) ?? []
        let described = forms.flatMap { $0.fields } + ChannelSafety.fields
        let inner = ["kind"] + described.map { $0.name }
        for (key, value) in fields["channels"]?.entries(of: "channel", inner: inner) ?? [] {
            parts.channelNames.insert(key.scalar ?? "")
            parts.channelKeys[key.scalar ?? ""] = key
            if let channel = readChannel(key, value) { parts.channels.append(channel) }
        }
        if let field = fields["routes"], !field.isEmpty {
            parts.routes = readRoutes(field, in: parts.zone ?? hostZone)
        }
        if let field = fields["inhibit"] { parts.inhibitions = readInhibitions(field) }
    }

    private func jobEntries(_ field: Field) -> [(key: Field, value: Field)]? {
        field.entries(of: "job", inner: fields.keys)
    }

    private func assemble(_ parts: Parts, _ faults: Faults) -> Configuration {
        var jobs: [Configuration.Job] = []
        var places: [String: String] = [:]
        for (key, value) in parts.jobFields {
            let name = key.scalar ?? ""
            if let first = places[name] {
                key.fault(
                    "there is a job \"\(name)\" already, at \(first)", hint: "give one of them another name")
                continue
            }
            places[name] = key.place
            if takenNames.contains(name) { reportTaken(name, key) }
            let job = readJob(key, value, zone: parts.zone ?? hostZone, bots: parts.botNames)
            if let job {
                checkAnswers(job.spec, key.naming(value), parts)
                jobs.append(job)
            }
        }
        checkTeams(parts.bots, parts.botFields, known: parts.botNames)
        // Who describes no channel has the one that needs no description.
        let all = parts.channelNames.isEmpty ? Configuration.standardChannels : parts.channels
        let names = parts.channelNames.union(all.map(\.name))
        checkFallbacks(of: all, parts.channelKeys, channels: names)
        let routing = checkRoutes(parts.routes, of: all, channels: names)
        var configuration = Configuration(
            zone: parts.zone ?? hostZone, bots: parts.bots, jobs: jobs,
            channels: all.filter { $0.fault == nil }, routing: routing, inhibitions: parts.inhibitions,
            warnings: faults.cleaned(faults.warnings), notes: faults.cleaned(faults.notes),
            leftOut: all.filter { $0.fault != nil })
        configuration.listen = parts.listen
        return configuration
    }

    /// A prompt needs a bot that answers; one that is described nowhere here, or badly, is another fault.
    private func checkAnswers(_ spec: JobSpec, _ key: Field, _ parts: Parts) {
        guard case .prompt = spec.action else { return }
        let bot = parts.bots.first { $0.name == spec.bot }
        let isUndescribed = spec.bot == "belfry" && !isOtherBot(spec.bot)
        guard bot.map({ $0.contact == nil }) ?? isUndescribed else { return }
        key.fault(
            "bot \"\(spec.bot)\" answers nobody: it has no backend",
            hint: "give it one: bots.\(spec.bot).backend, or write bot: and the name of one that has")
    }

    private func reportTaken(_ name: String, _ key: Field) {
        let message = "the running daemon has a job \"\(name)\" that was made by `belfry job add`"
        let hint = "remove that one (belfry job rm \(name)), or give this one another name"
        refusesTaken ? key.fault(message, hint: hint) : key.warn(message, hint: hint)
    }

    /// The name of a zone that exists.
    func zoneName(_ field: Field) -> String? {
        guard let name = field.word() else { return nil }
        guard zone(name) != nil else {
            field.fault(
                "there is no time zone \"\(name)\"",
                hint: phraseZones.nearest(name).map { "did you mean \"\($0)\"?" }
                    ?? "write a name such as Europe/Berlin or UTC")
            return nil
        }
        return name
    }

    /// In the order in which a person reads the files; stable within a place.
    private func sorted(_ problems: [Problem], files: [SourceText]) -> [Problem] {
        var order: [String: Int] = [:]
        for (index, file) in files.enumerated() where order[file.name] == nil { order[file.name] = index }
        return problems.enumerated().sorted { left, right in
            let (first, second) = (left.element, right.element)
            return (order[first.file] ?? 0, first.line, first.column, left.offset)
                < (order[second.file] ?? 0, second.line, second.column, right.offset)
        }.map(\.element)
    }
}
