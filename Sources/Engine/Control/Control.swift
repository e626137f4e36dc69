package import Delivery
package import Grouping
package import Ledger
package import Logging
package import Performing
package import Prompting
package import Timeline

/// What people and programs may ask of the running daemon; the API's handlers are thin over it.
///
/// Reads go to ``ledger`` and ``board`` directly. Everything that changes something is a method here, and each is
/// refused with an ``EngineError`` that says why.
package struct Control: Sendable {
    package let ledger: any Ledger
    package let clock: any WallClock
    package let board: LiveBoard
    package let slots: SlotKeeper
    package let runs: RunKeeper
    package let activeConfiguration: ActiveConfiguration
    package let channels: ChannelBoard
    package let files: ConfigurationAccess
    package let host: HostFacts
    /// What is known of the bots.
    package let desk: BotDesk
    /// Makes bots of the ledger.
    let bots: BotMaking
    /// Makes channels of the ledger.
    let ownChannels: ChannelMaking
    /// Tests a bot.
    let testBot: BotTest
    /// What gateways can be asked.
    package let gateways: GatewayAccess
    /// A fresh UUIDv7 at each call.
    package let makeID: @Sendable () -> String
    /// Who waits for the answers to questions.
    package let askers: QuestionAskers
    /// Whether the jobs of the files are loaded.
    package let loading: Loading
    package let logger: Logger
    /// When this daemon started.
    let startedAt: ClockReading

    package init(
        ledger: any Ledger, clock: any WallClock, board: LiveBoard, slots: SlotKeeper, runs: RunKeeper,
        activeConfiguration: ActiveConfiguration, channels: ChannelBoard, configurationPath: String,
        zones: @escaping ZoneLookup, makeID: @escaping @Sendable () -> String,
        readConfiguration: @escaping @Sendable () async throws -> EngineConfiguration,
        houseFacts: @escaping @Sendable () -> [EngineProblem] = { [] },
        reopenChannel: @escaping @Sendable (String) async -> (any Channel, version: Int)? = { _ in nil },
        reopenBot: @escaping @Sendable (String) async -> BotInUse? = { _ in nil }, desk: BotDesk? = nil,
        bots: BotMaking = .none, ownChannels: ChannelMaking = .none,
        testBot: @escaping BotTest = { _, _, _ in BotTestResult() }, gateways: GatewayAccess = .none,
        machine: MachineLook = MachineLook(), askers: QuestionAskers = QuestionAskers(),
        loading: Loading = Loading(), logger: Logger
    ) {
        self.askers = askers
        self.ledger = ledger
        self.clock = clock
        self.board = board
        self.slots = slots
        self.runs = runs
        self.activeConfiguration = activeConfiguration
        self.channels = channels
        files = ConfigurationAccess(
            path: configurationPath, read: readConfiguration, reopenChannel: reopenChannel,
            reopenBot: reopenBot)
        self.testBot = testBot
        self.gateways = gateways
        self.bots = bots
        self.ownChannels = ownChannels
        self.desk =
            desk
            ?? BotDesk(ledger: ledger, activeConfiguration: activeConfiguration, zones: zones, clock: clock)
        host = HostFacts(zones: zones, machine: machine, problems: houseFacts)
        self.makeID = makeID
        self.loading = loading
        self.logger = logger
        startedAt = ClockReading(of: clock)
    }
}

/// Tests a bot of a name, and has it reply where that is wanted.
package typealias BotTest = @Sendable (_ name: String, _ bot: BotInUse, _ asks: Bool) async -> BotTestResult

/// The files of the configuration, as far as the engine needs them.
package struct ConfigurationAccess: Sendable {
    /// Where the configuration is expected.
    package let path: String
    /// Reads the configuration again; throws what is wrong with it, whole, for a person to read.
    let read: @Sendable () async throws -> EngineConfiguration
    /// Makes a channel that was left out, with its version; nil: it still can't be made.
    let reopenChannel: @Sendable (String) async -> (any Channel, version: Int)?
    /// The provider of a bot whose key could not be read, with the key; nil: it still can't be read.
    let reopenBot: @Sendable (String) async -> BotInUse?
}

/// What is known of the machine that the daemon and its jobs run on.
package struct HostFacts: Sendable {
    package let zones: ZoneLookup
    /// What jobs need of it.
    let machine: MachineLook
    /// What of it, and of the daemon's files, may need attention.
    let problems: @Sendable () -> [EngineProblem]
}

/// Why the engine refused a request.
package enum EngineError: Error, Hashable, Sendable {
    case noSuchJob(String)
    case noSuchZone(String)
    /// No run of that name; the text is as it was asked for.
    case noSuchRun(String)
    case noSuchMessage(String)
    case noSuchEntry(String)
    case noSuchChannel(String)
    case noSuchBot(String)
    case noSuchQuestion(String)
    case noSuchSilence(String)
    /// The silence ended at this moment.
    case silenceEnded(String, Moment)
    /// A condition of a silence is refused.
    case badMatcher(MatcherError)
    /// The gateway has no job of that id, or none that was taken over.
    case noSuchGatewayJob(String)
    /// The gateway's job is run here already, under this name.
    case gatewayJobTaken(String, as: String)
    /// A gateway did not do what it was asked; the text says why.
    case gateway(String, hint: String?)
    /// The question was closed before, in this way.
    case questionClosed(String, QuestionEnd)
    /// No answer that the question accepts.
    case noAnswer(String, choices: [String])
    /// The bot only speaks for its jobs: nobody would answer.
    case silentBot(String)
    /// The short id is that of several things; each is named by its id and what it is.
    case ambiguousID(String, candidates: [String])
    /// Nothing that could ring has this name.
    case nothingToExplain(String)
    /// The job belongs to a file, named with its line: only an edit of the file changes it.
    case ownedByFile(job: String, place: String)
    /// Runs of the job have not ended, and its overlap policy is to skip.
    case busy(job: String, runs: [String])
    /// The run has ended already, in this state.
    case ended(run: String, state: String)
    /// The run can't be paused or resumed now.
    case notPausable(run: String, PauseFault)
    /// The run has not ended, so it can't be repeated.
    case notEnded(run: String)
    /// The run was a wrapped command, whose environment and terminal are not kept.
    case notRepeatable(run: String)
    /// The run answered what people said to a bot.
    case answered(run: String, bot: String)
    /// The entry is in a state that does not allow it; the channel is named when trying that one helps.
    case notAllowed(entry: String, state: String, channel: String? = nil)
    /// The entry waits for a channel that is not in the configuration.
    case channelMissing(entry: String, channel: String)
    /// Entries of several missing channels could be meant; one of them must be named.
    case severalMissing(channels: [String], newChannel: String)
    /// What was asked for is malformed; the text says where and how.
    case invalid(String)
    /// A schedule is malformed; the text draws it, with marks under the places at fault.
    case badSchedule(drawing: String)
    /// A job of that name is there already; the place is that of a job of a file.
    case nameTaken(String, place: String? = nil)
    /// A bot of that name is there already; the place is that of a bot of a file.
    case botExists(String, place: String?)
    /// The bot belongs to a file, named with its line: only an edit of the file changes it.
    case botOfFile(String, place: String)
    /// A channel of that name is there already, of a file or made on the command line.
    case channelExists(String, isOfFile: Bool)
    /// The channel belongs to a file, or to the defaults where there is none: only an edit of the file changes it.
    case channelOfFile(String, path: String?)
    /// These jobs belong to the bot.
    case botInUse(String, jobs: [String])
    /// What was asked for is done, but the file of a secret is not as it should be; the text says why.
    case keyFile(String)
    /// A command that belongs to no job can't be filed under the name of one.
    case jobsName(String)
    /// Somebody else changed the job at the same time.
    case changedMeanwhile(String)
    case ledger(LedgerError)
    case noSuchToken(String)
    case noSuchExpectation(String)
    /// A token of that name is there already.
    case tokenExists(String)
    /// The jobs of the files are not loaded yet.
    case starting
    /// The daemon is ending.
    case stopping
}

// The one place where ids are looked up that a person may have shortened; see `ShortID`.

extension Control {
    /// How many things an ambiguous id is explained by.
    private static let candidatesShown = 5

    /// The message of that id, which may be shortened.
    package func message(_ id: String) async throws(EngineError) -> MessageRecord {
        let message = try await find(.message, id) { id async throws(LedgerError) in
            try await ledger.message(id: id)
        }
        guard let message else { throw .noSuchMessage(id) }
        return message
    }

    /// The outbox entry of that id, which may be shortened.
    package func entry(_ id: String) async throws(EngineError) -> OutboxRecord {
        let entry = try await find(.outbox, id) { id async throws(LedgerError) in
            try await ledger.outbox(id: id)
        }
        guard let entry else { throw .noSuchEntry(id) }
        return entry
    }

    /// The question of that id, which may be shortened.
    package func question(_ id: String) async throws(EngineError) -> QuestionRecord {
        let record = try await find(.question, id) { id async throws(LedgerError) in
            try await ledger.question(id: id)
        }
        guard let record else { throw .noSuchQuestion(id) }
        return record
    }

    private func find<Record>(
        _ kind: IDKind, _ id: String, _ fetch: (String) async throws(LedgerError) -> Record?
    ) async throws(EngineError) -> Record? {
        let exact = try await read { () async throws(LedgerError) -> Record? in try await fetch(id) }
        guard exact == nil, let whole = try await whole(id, among: [kind]) else { return exact }
        return try await read { () async throws(LedgerError) -> Record? in try await fetch(whole.id) }
    }

    /// The whole id of the one thing among `kinds` that `id` is short for; nil: there is none.
    ///
    /// - Throws: ``EngineError/ambiguousID(_:candidates:)`` when there are several.
    func whole(
        _ id: String, among kinds: [IDKind]
    ) async throws(EngineError) -> (kind: IDKind, id: String)? {
        guard let short = ShortID(id) else { return nil }
        return try await read {
            () async throws(LedgerError) -> Result<(kind: IDKind, id: String)?, EngineError> in
            var found: [(kind: IDKind, id: String)] = []
            for kind in kinds {
                let limit = Self.candidatesShown + 1 - found.count
                found += try await ledger.ids(of: kind, matching: short, limit: limit).map { (kind, $0) }
            }
            guard found.count > 1 else { return .success(found.first) }
            var candidates: [String] = []
            for (kind, id) in found.prefix(Self.candidatesShown) {
                candidates.append("\(id)  \(try await words(of: kind, id))")
            }
            if found.count > Self.candidatesShown { candidates.append("and more") }
            return .failure(.ambiguousID(id, candidates: candidates))
        }.get()
    }

    /// What a person knows a thing by.
    private func words(of kind: IDKind, _ id: String) async throws(LedgerError) -> String {
        switch kind {
        case .run: return try await ledger.run(id: id).map { "run \($0.name)" } ?? "a run"
        case .message:
            let message = try await ledger.message(id: id)?.message
            return message.map { "message of \($0.bot): \(Preview.cut($0.text, to: 40))" } ?? "a message"
        case .outbox:
            let entry = try await ledger.outbox(id: id)
            return entry.map { "outbox entry for \($0.channel), \($0.type)" } ?? "an outbox entry"
        case .question:
            let question = try await ledger.question(id: id)?.question
            return question.map { "question: \(Preview.cut($0.text, to: 40))" } ?? "a question"
        }
    }
}
