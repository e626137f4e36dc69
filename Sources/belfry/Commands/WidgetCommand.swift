import API
import APIClient
import ArgumentParser
import Glibc
import Host
import TerminalView
import Timeline
import Tracking

struct WidgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "widget",
        abstract: "Prints a line for a status bar: active runs, progress, open questions.",
        discussion: """
            Prints one line and exits, or with --watch a line at each change. Text is empty while no run is \
            active. With --watch a daemon that is not running is shown as offline until it is back. Widgets of \
            one's own may read live.json beside the daemon's socket, which is replaced at each change.

              belfry widget --format waybar --watch
              belfry widget --format tmux
              belfry widget --format waybar --bots ops,sage --watch
              belfry widget --format json | jq -r .state
              belfry widget --open --bots ops,sage

            A click opens a terminal ($TERMINAL, or the desktop's own): blocks of i3bar and swaybar, of i3blocks with \
            --watch, and what polybar and genmon are sent know that by themselves; the snippets do it for Waybar and tmux.

            Formats: waybar; i3 (a block for i3blocks), i3bar (all of i3bar's and swaybar's protocol); polybar; tmux; \
            genmon (Xfce); json. Snippets for each bar are in config/bars/.
            """)

    @Option(
        help: ArgumentHelp(
            "The bar: waybar, i3, i3bar, polybar, tmux, genmon or json.", valueName: "bar"))
    var format: BarFormat = .json
    @Option(
        help: ArgumentHelp(
            "Show these bots instead: whether each can be asked, unread messages, the last one.",
            valueName: "a,b"))
    var bots: String?
    @Flag(help: "Stay, and print a line at each change.")
    var watch = false
    @Flag(help: "Use ASCII marks.")
    var ascii = false
    @Flag(
        help: """
            Open a terminal with the view of runs, or with a chat with the first of the bots that has something to say: \
            for a click.
            """)
    var open = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let bots, bots.split(separator: ",").isEmpty {
            throw ValidationError("--bots names bots, such as ops,sage")
        }
        if open, watch { throw ValidationError("--open and --watch exclude each other") }
        if format == .i3bar, !watch, !open, !common.json {
            throw ValidationError("--format i3bar is a stream: add --watch, or use --format i3")
        }
    }

    func run() throws {
        let names = bots.map { $0.split(separator: ",").map(String.init) }
        let form = common.json ? BarFormat.json : format
        if open { return try WidgetOpening(bots: names).run(common) }
        if watch {
            try WidgetWatcher(common, form, bots: names, hasGlyphs: !ascii).run()
        }
        // One that listens: a daemon that was killed has left its file behind.
        let client = try DaemonClient.first(of: [common.client().socket], timeout: Patience.wished())
        var reading = WidgetReading(client, bots: names, hasGlyphs: !ascii)
        if !reading.readSnapshot() { try reading.refresh() }
        StandardOutput.print(form.line(reading.content(at: .now)))
    }
}

extension BarFormat: ExpressibleByArgument {}

/// What a widget knows of the daemon, and the content it makes of it.
struct WidgetReading {
    private let client: DaemonClient
    private let bots: [String]?
    private let hasGlyphs: Bool
    private let zone = Zones.local
    private var lives: [String: WireLive] = [:]
    private var known: [BarBot] = []
    private var next: String?
    /// So much of what ended is kept at most.
    private static let endsKept = 50

    init(_ client: DaemonClient, bots: [String]?, hasGlyphs: Bool) {
        (self.client, self.bots, self.hasGlyphs) = (client, bots, hasGlyphs)
    }

    /// Whether what is shown changes as time passes.
    func isMoving(at now: Moment) -> Bool {
        lives.values.contains { !$0.state.isEnded || now - $0.updatedAt.moment < BarContent.endShown }
    }

    /// Reads the file that the daemon keeps for widgets; false: the daemon has to be asked.
    ///
    /// The client has connected, so the daemon is alive; it keeps no file where anybody may put one.
    mutating func readSnapshot() -> Bool {
        let path = WireSnapshot.path(beside: client.socket)
        guard !SmallFile.isInPublicFolder(path), let bytes = try? SmallFile.read(path, limit: 16 << 20),
            let snapshot = try? WireCoding.decode(WireSnapshot.self, from: bytes), snapshot.v == 1
        else { return false }
        if let bots {
            known = bots.compactMap { name in (snapshot.bots?.first { $0.name == name }).map(BarBot.init) }
            // Of one that is new, or does not exist, the daemon has the words.
            return known.count == bots.count
        }
        // A slot in the past that caused no new version was skipped: the daemon knows the next one.
        if let next = snapshot.next, next.at.moment < .now { return false }
        lives = Dictionary(snapshot.tasks.map { ($0.taskId, $0) }) { $1 }
        next = snapshot.next.map { NextSlots.line($0.job, $0.at.moment, in: zone, at: .now) }
        return true
    }

    /// Asks the daemon for all of it.
    mutating func refresh() throws(APIError) {
        if let bots {
            known = try Self.bots(named: bots, client)
            return
        }
        let active = try client.ask(Endpoints.live())
        var states = active
        // What ended a moment ago is looked for only where nothing else is shown.
        if active.isEmpty {
            states = try client.ask(Endpoints.runs(query: Self.recentlyEnded)).compactMap(\.live)
        }
        lives = Dictionary(states.map { ($0.taskId, $0) }) { $1 }
        next = active.isEmpty ? try nextSlot() : nil
    }

    /// Takes a live state that the daemon sent; whether anything else has to be asked again.
    mutating func receive(_ event: ServerSentEvent) throws(APIError) -> Bool {
        guard event.name == "live" else {
            let name = event.name ?? ""
            return bots != nil && (name.hasPrefix("message.") || name.hasPrefix("bot."))
        }
        guard bots == nil else { return false }
        let live = try WireCoding.decode(WireLive.self, from: event.data.utf8)
        lives[live.taskId] = live
        let now = Moment.now
        if lives.count > Self.endsKept {
            lives = lives.filter {
                !$0.value.state.isEnded || now - $0.value.updatedAt.moment < BarContent.endShown
            }
        }
        return live.state.isEnded
    }

    private static var recentlyEnded: RunsQuery {
        var query = RunsQuery()
        query.states = RunState.allCases.filter { $0.isEnded && $0 != .skipped && $0 != .missed }
        query.limit = 10
        return query
    }

    /// What is shown now.
    func content(at now: Moment) -> BarContent {
        guard bots == nil else { return BarContent(bots: known, hasGlyphs: hasGlyphs) }
        return BarContent(
            lives.values.map(LiveState.init), next: next, at: now, zone: zone, hasGlyphs: hasGlyphs)
    }

    /// The bots as they are now, in the order they are named.
    static func bots(named names: [String], _ client: DaemonClient) throws(APIError) -> [BarBot] {
        let all = try client.ask(Endpoints.bots())
        for name in names where !all.contains(where: { $0.name == name }) {
            // The daemon's own words for it, with the name that may have been meant.
            _ = try client.ask(Endpoints.bot(name))
        }
        return names.compactMap { name in
            all.first { $0.name == name }.map {
                BarBot(name: name, status: $0.status, unread: $0.unread, lastMessage: $0.lastMessage?.text)
            }
        }
    }

    /// `next: backup 03:00, in 9 h`.
    private func nextSlot() throws(APIError) -> String? {
        let status = try client.ask(Endpoints.status())
        guard let at = status.nextAt, let job = status.nextJob else { return nil }
        return NextSlots.line(job, at.moment, in: zone, at: .now)
    }
}

extension BarBot {
    /// The bot, as the snapshot shows it.
    fileprivate init(_ bot: WireSnapshot.Bot) {
        self.init(name: bot.name, status: bot.status, unread: bot.unread, lastMessage: bot.lastMessage)
    }
}

/// What a click on a widget opens.
struct WidgetOpening {
    /// Whose widget it is; nil: the runs'.
    var bots: [String]?

    /// Opens a terminal with it.
    func run(_ common: CommonOptions) throws {
        guard let bots, let first = bots.first else {
            // The view opens without a daemon, too, and says that none runs.
            return try TerminalWindow.open(["watch"], client: try? common.client().socket)
        }
        let client = try common.client()
        let known = try WidgetReading.bots(named: bots, client)
        let wanted = known.first { $0.status == "blocked" } ?? known.first { $0.unread > 0 }
        try TerminalWindow.open(["chat", wanted?.name ?? first], client: client.socket)
    }
}

/// The clicks that a bar writes on standard input.
struct WidgetClicks {
    /// What to wait for; nil once the bar has closed it, and where a person tries it at a terminal.
    private(set) var descriptor: Int32? = isatty(STDIN_FILENO) == 1 ? nil : STDIN_FILENO
    private var rest: [UInt8] = []
    private static let longestLine = 65_536

    /// The clicks that have come since the last look.
    mutating func take() -> [BarClick] {
        var clicks: [BarClick] = []
        while let descriptor {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&waiting, 1, 0) == 1 else { break }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = unsafe read(descriptor, &bytes, bytes.count)
            if count <= 0 {
                if count < 0, errno == EINTR { continue }
                self.descriptor = nil
                break
            }
            rest += bytes[..<count]
            while let end = rest.firstIndex(of: 0x0A) {
                if let click = BarClick(String(decoding: rest[..<end], as: UTF8.self)) {
                    clicks.append(click)
                }
                rest.removeFirst(end + 1)
            }
            if rest.count > Self.longestLine { rest = [] }
        }
        return clicks
    }
}

/// Prints a line for a bar whenever it changes, as long as the bar reads them.
final class WidgetWatcher {
    private let common: CommonOptions
    private let format: BarFormat
    private let bots: [String]?
    private let hasGlyphs: Bool
    private var last: String?
    /// Nil: the bar writes none.
    private var clicks: WidgetClicks?
    private let clock = ContinuousClock()
    /// A bar need not be redrawn more often.
    private static let pace = Duration.milliseconds(500)
    private static let retry = Duration.seconds(2)

    init(_ common: CommonOptions, _ format: BarFormat, bots: [String]?, hasGlyphs: Bool) {
        (self.common, self.format, self.bots, self.hasGlyphs) = (common, format, bots, hasGlyphs)
        clicks = format == .i3bar || format == .i3 ? WidgetClicks() : nil
    }

    /// Prints until the reader has closed its end; what the daemon refuses for good ends it.
    func run() throws -> Never {
        // Nobody waits for the end of the windows that clicks open.
        if clicks != nil { signal(SIGCHLD, SIG_IGN) }
        if let header = format.header { StandardOutput.print(header) }
        while true {
            do throws(APIError) {
                try follow()
            } catch {
                guard error.code.row.exitCode == 3 || error.code == .timedOut || error.code == .tooBusy else {
                    throw error
                }
                show(BarContent(.offline, tooltip: ["belfryd does not answer"]))
                usleep(UInt32(Self.retry.milliseconds * 1000))
            }
        }
    }

    /// Prints what happens until the connection breaks.
    private func follow() throws(APIError) {
        let client = try common.client()
        var query = EventsQuery()
        query.live = true
        let feed = try EventFeed(of: client, query: query)
        var reading = WidgetReading(client, bots: bots, hasGlyphs: hasGlyphs)
        var isOld = true
        while true {
            if isOld { try reading.refresh() }
            show(reading.content(at: .now))
            let end = clock.now + Self.pace
            let wait: Duration = reading.isMoving(at: .now) ? .seconds(5) : .seconds(30)
            isOld = try take(feed.next(timeout: wait, or: clicks?.descriptor), &reading)
            open(clicks?.take() ?? [], client.socket)
            // What comes within the pace is one change.
            while clock.now < end {
                let more = try feed.next(timeout: end - clock.now)
                if more != .nothing, try take(more, &reading) { isOld = true }
            }
        }
    }

    /// Opens what was clicked on; an error is printed, and does not end the bar.
    private func open(_ clicked: [BarClick], _ socket: String) {
        for click in clicked {
            let words = click.bot.map { ["chat", $0] } ?? ["watch"]
            do throws(APIError) {
                try TerminalWindow.open(words, client: socket)
            } catch {
                StandardError.print("belfry: \(error.message)")
            }
        }
    }

    private func take(_ arrival: EventFeed.Arrival, _ reading: inout WidgetReading) throws(APIError) -> Bool {
        switch arrival {
        case .event(let event): try reading.receive(event)
        case .nothing: false
        case .broken: throw APIError(.connectionLost)
        }
    }

    private func show(_ content: BarContent) {
        let line = format.line(content)
        guard line != last else { return }
        last = line
        StandardOutput.print(line)
    }
}
