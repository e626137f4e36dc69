import API
import ArgumentParser
import Cron
import Curl
import Delivery
import DesktopChannel
import Engine
import Glibc
import Grouping
import Host
import LedgerSQLite
import Logging
import Performing
import ProgramChannel
import Settings
import Timeline
import Tracking
import WardenProtocol

/// Sends a text over a channel, without a daemon.
struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send a text over a channel once, without a daemon.",
        discussion: """
            Makes one attempt and stores nothing: exits 0 if it was delivered, and 1 with
            the answer if it failed. It does not use a running daemon; belfry notify --to
            does, with its outbox and its retries. Use - to read the text from standard
            input.

            Examples:
              belfryd send --to phone "The daemon did not start"
              systemctl status belfryd | belfryd send --system --to ops -
            """)

    @Option(help: ArgumentHelp("The channel's name.", valueName: "channel"))
    var to: String

    @Option(help: ArgumentHelp("The title.", valueName: "text"))
    var title: String?

    @OptionGroup var places: Places

    @Argument(help: ArgumentHelp("The text; - reads it from standard input.", valueName: "text"))
    var text: String

    func run() async throws {
        umask(0o077)
        Signals.ignoreBrokenPipes()
        let text = try text == "-" ? Self.input() : text
        guard !Preview.isEmpty(text) else { throw Failure("belfryd send: the text is empty", code: 2) }
        let setting = try setting(in: places.paths)
        if let fault = setting.fault {
            throw Failure("belfryd send: channel \"\(to)\" can't be used: \(fault)", code: 2)
        }
        let sending = try await Sending(setting, logger: Log.make(level: "error"))
        let result = await sending.send(notice(text))
        await sending.end()
        switch result {
        case .success(let detail):
            StandardOutput.print(detail.isEmpty ? "delivered" : "delivered: \(detail)")
        case .failure(let error): throw Failure("belfryd send: channel \"\(to)\": \(error.sentence)")
        }
    }

    private static func input() throws -> String {
        let bytes = try SmallFile.readWaiting("/dev/stdin", limit: 64 * 1024)
        return SmallFile.text(of: bytes)
    }

    /// The channel of the files, or else of the ledger, which is only read.
    private func setting(in paths: Paths) throws -> ChannelSetting {
        var configuration: Configuration
        do {
            configuration = try ConfigurationFiles(path: paths.config).read { reader in
                // A bot or another channel that can't be used is no reason to send nothing.
                reader.isOtherBot = { _ in true }
                reader.leavesOutBots = true
                reader.leavesOutChannel = { _, _ in true }
            }
        } catch let error as SettingsError {
            throw Failure("\(error)", code: 2)
        }
        let ledger = LedgerChoice(state: paths.state).path
        if unsafe access(ledger, F_OK) == 0 {
            let entries = try LedgerFile(path: ledger).channelEntries()
            _ = OwnChannels(entries, in: paths.state, zones: ZoneCache()).join(&configuration)
        }
        let all = configuration.channels + configuration.leftOut
        guard let setting = all.first(where: { $0.name == to }) else {
            throw Failure(
                "belfryd send: no channel \"\(to)\"", hint: NearestName.hint(to, among: all.map(\.name)),
                code: 4)
        }
        return setting
    }

    private func notice(_ text: String) -> ItemSnapshot {
        let now = Moment.now
        let thread = DirectThread.name(of: to)
        var message = Message(id: UniqueID.v7(at: now), bot: "belfry", thread: thread, text: text, at: now)
        message.title = title
        return ItemSnapshot(
            key: .thread(bot: "belfry", thread: thread), revision: 1, bot: "belfry", urgency: .normal,
            reason: .first, at: now, content: .messages(count: 1, last: [message]))
    }
}

/// One attempt over a channel, with all that it needs.
private struct Sending {
    private let channel: any Channel
    private let curl: CurlMulti
    private let clock: SystemClock
    /// What runs a channel that is a program.
    private let programs: ProgramRunner?

    init(_ setting: ChannelSetting, logger: Logger) async throws {
        clock = try SystemClock()
        curl = try CurlMulti()
        let isProgram = if case .program = setting.form.carrier { true } else { false }
        programs = isProgram ? try await ProgramRunner() : nil
        let desk = programs?.desk ?? ProgramDesk(folder: "/nonexistent")
        let agents = AgentHub(path: "", logger: logger)
        (channel, _) = try await Channels(
            curl: curl, programs: desk, socket: "", agents: agents, clock: clock, logger: logger
        ).add(
            setting)
    }

    /// What the far end answered, in a line.
    func send(_ item: ItemSnapshot) async -> Result<String, DeliveryError> {
        do throws(DeliveryError) {
            switch channel {
            case let channel as any EdgeChannel: return .success(try await send(item, over: channel))
            case let channel as any LevelChannel: return .success(try await show(item, on: channel))
            default: throw .giveUp(.unsendable)
            }
        } catch {
            return .failure(error)
        }
    }

    func end() async {
        await programs?.end()
        curl.close()
    }

    private func send(
        _ item: ItemSnapshot, over channel: any EdgeChannel
    ) async throws(DeliveryError) -> String {
        guard let form = channel.form as? any EdgeForm else { throw .giveUp(.unsendable) }
        let matter = Matter(item, only: [channel.name])
        var objects: [JSON.Member] = []
        if case .messages(_, let last) = item.content,
            let object = try? JSON(encoding: WireItem(item, messages: last.map { WireMessage($0) }))
        {
            objects = [JSON.Member("item", object)]
        }
        let body = form.render(
            Bulletin(matter, at: item.at, notice: NoticeComposer.compose(item), objects: objects))
        let parcel = Parcel(
            id: UniqueID.v7(at: clock.now), type: matter.type, timestamp: item.at, body: body, attempt: 1)
        let receipt = try await channel.deliver(parcel, at: clock.now)
        let parts = [receipt.status.map { "status \($0)" }, channel.lastProtocol, receipt.detail]
        return parts.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "; ")
    }

    /// Shows it once somebody is there.
    private func show(
        _ item: ItemSnapshot, on channel: any LevelChannel
    ) async throws(DeliveryError) -> String {
        let service = Task { try await channel.run() }
        defer { service.cancel() }
        for await signal in channel.signals {
            switch signal {
            case .available:
                _ = try await channel.show(NoticeComposer.compose(item), replacing: nil)
                return ""
            case .unavailable(let reason), .absent(let reason):
                throw .unreachable(.noServer, detail: reason)
            case .closed, .answered, .action, .reply: continue
            }
        }
        throw .unreachable(.stopping)
    }
}

/// A warden of its own, for the one program that is run.
private struct ProgramRunner {
    let desk: ProgramDesk
    private let folder: String
    private let warden: WardenClient
    private let pid: Int32?
    private let events: Task<Void, Never>

    init() async throws {
        var template = Array("/tmp/belfry-send-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw Failure("belfryd send: a folder in /tmp can't be made: \(HostError.last("mkdtemp").reason)")
        }
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        desk = ProgramDesk(folder: folder + "/notices")
        try PrivateFolder.make(folder + "/notices", within: folder)
        warden = try WardenClient(
            directory: folder,
            launching: WardenLaunch(
                executable: try InstalledWarden.path(), state: folder, tiedTo: getpid()))
        let performer = desk.share(warden)
        pid = try await performer.connect()
        events = Task {
            while await performer.waitForEvents() { _ = performer.takeEvents() }
        }
    }

    /// Ends the warden, which runs nothing any more, and removes its folder.
    func end() async {
        events.cancel()
        warden.close()
        _ = await events.value
        if let pid {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
        }
        FolderTree.remove(folder)
    }
}
