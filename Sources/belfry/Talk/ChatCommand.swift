import API
import APIClient
import ArgumentParser
import Glibc
import Host
import TerminalView
import Tracking

struct ChatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat", abstract: "Talks with a bot, line by line.",
        discussion: """
            Replies are shown as they arrive. Ctrl-C cancels the reply; on an empty line it
            exits, as /quit and Ctrl-D do. The up and down arrows recall earlier lines.
            Without a terminal it reads lines and prints each reply.

              belfry chat sage
              belfry chat sage --thread news
              printf '%s\\n' "What is new?" "And then?" | belfry chat sage
            """)

    @Argument(help: "The bot's name.", completion: Completions.bots)
    var bot: String
    @Option(help: ArgumentHelp("The bot's thread that it belongs to (default: main).", valueName: "thread"))
    var thread: String?
    @Option(
        help: ArgumentHelp(
            "The message that the first line replies to; it also names the thread.", valueName: "id"))
    var replyTo: String?
    @OptionGroup var common: CommonOptions

    func run() throws {
        let client = try common.client()
        let known = try client.ask(Endpoints.bot(bot))
        if isatty(STDIN_FILENO) == 1, StandardOutput.isTerminal, !common.json {
            var of: WireMessage?
            if let replyTo { of = try client.ask(Endpoints.message(replyTo)) }
            try ChatSession(
                client, known, thread: thread ?? of?.thread ?? "main", replyTo: of?.id, common.screen
            ).run()
        } else {
            try readLines(client)
        }
    }

    /// Says each line, and prints its reply before the next.
    private func readLines(_ client: DaemonClient) throws {
        var input = LineInput(limit: 256 * 1024)
        var (hasFailed, replied) = (false, replyTo)
        while let block = try input.nextBlock() {
            for line in block.split(separator: UInt8(ascii: "\n")) {
                let text = String(decoding: line, as: UTF8.self)
                guard !text.allSatisfy(\.isWhitespace) else { continue }
                var request = SayRequest(text: text)
                request.id = UniqueID.v7(at: .now)
                (request.thread, request.replyTo) = (thread, replied)
                replied = nil
                var follower = ReplyFollower(
                    client, try Self.say(request, to: bot, client), isShown: !common.json)
                follower.isPatient = true
                let reply = try follower.follow()
                if common.json { try StandardOutput.print(json: reply) }
                if let run = reply.run, run.state != .completed {
                    hasFailed = true
                    if !common.json { StandardError.print("belfry: " + ChatText.failure(run, of: bot)) }
                }
            }
        }
        if hasFailed { throw ExitCode(1) }
    }

    /// Says it, also where the daemon is away for a while: by its id it is said once.
    private static func say(
        _ request: SayRequest, to bot: String, _ client: DaemonClient
    ) throws(APIError) -> WireMessage {
        var reconnection = Reconnection(note: ChatText.away)
        while true {
            do throws(APIError) {
                return try client.ask(Endpoints.say(bot, body: request))
            } catch {
                guard error.code.row.exitCode == 3 else { throw error }
                try reconnection.wait()
            }
        }
    }
}

/// What a chat shows besides what was said.
enum ChatText {
    static let help = [
        "/help   this list", "/quit   leaves, as Ctrl-D does", "/reset  starts a new session",
        "/last   shows the last messages", "Ctrl-C  cancels the reply; with an empty line it leaves",
    ]

    /// What is printed where a daemon that was there stays away.
    static let away = "belfry: the daemon does not answer; waiting until it does"

    /// Why there is no reply.
    static func failure(_ run: WireRun, of bot: String) -> String {
        var why = RunText.why(run) ?? RunText.detail(run) ?? run.state.rawValue
        if why.hasPrefix(bot + ": ") { why.removeFirst(bot.count + 2) }
        return run.state == .canceled ? "cancelled" : "\(bot) did not reply: \(why)"
    }
}

/// The screen of a chat: what was said scrolls up, and below it stand the reply that comes, what the bot is doing, and
/// the line that is typed.
final class ChatScreen {
    private let traits: TerminalTraits
    private var painter: TerminalPainter
    private var flow = FlowingText()
    private var permanent: [FrameLine] = []
    /// The cells of the line that is typed, as it is drawn, and the cell of its cursor; nil: it is not drawn.
    private var drawn: (cells: Int, cursor: Int)?
    /// What the bot is doing.
    var phase: String?

    init(_ traits: TerminalTraits) {
        self.traits = traits
        painter = TerminalPainter(traits)
    }

    private var size: TerminalSize { TerminalSize(of: STDOUT_FILENO) }
    private var columns: Int { max(8, size.columns - 1) }

    /// Adds what a person said.
    func add(said text: String) {
        var lines = PlainText.lines(text)[...]
        add("> \(lines.popFirst() ?? "")", .cyan)
        for line in lines { add("  \(line)", .cyan) }
    }

    /// Adds lines of one colour.
    func add(_ text: String, _ color: TerminalColor = .normal) {
        var flow = FlowingText()
        let rows = flow.receive(text, columns: columns) + flow.finish()
        permanent += (rows.isEmpty ? [""] : rows).map { line($0, color) }
    }

    /// Adds the next piece of a reply.
    func stream(_ text: String) {
        permanent += flow.receive(text, columns: columns).map { line($0) }
    }

    /// The reply is complete: an empty line follows it.
    func endStream() {
        permanent += flow.finish().filter { !$0.allSatisfy(\.isWhitespace) }.map { line($0) }
        permanent.append(line(""))
    }

    private func line(_ text: String, _ color: TerminalColor = .normal) -> FrameLine {
        var line = FrameLine(traits)
        let isColored = traits.usesColor && color != .normal
        if isColored { line.color(color) }
        line.add(text, limit: columns)
        if isColored { line.color(.normal) }
        return line
    }

    /// Draws everything with `editor` as the line that is typed; nothing while another job has the terminal.
    func draw(_ editor: LineEditor) {
        guard tcgetpgrp(STDOUT_FILENO) == getpgrp() else { return }
        let size = size
        var frame = Frame([], size: size, traits: traits)
        if !flow.tail.isEmpty { frame.lines.append(line(flow.tail)) }
        if let phase { frame.lines.append(line("\(phase) …", .dim)) }
        let window = editor.window(cells: columns - 2)
        let typed = line("> \(window.text)")
        frame.lines.append(typed)
        let bytes = raise(at: size) + painter.paint(frame, after: permanent, size: size)
        permanent = []
        drawn = (typed.cells, window.cursor + 2)
        StandardOutput.write(bytes + Array("\u{1B}[1A\r\u{1B}[\(window.cursor + 2)C".utf8))
    }

    /// Takes the line that is typed away, and what the bot is doing; what was said stays.
    func close() {
        let bytes = raise(at: size) + painter.erase(leaving: permanent, size: size)
        permanent = []
        StandardOutput.write(bytes)
    }

    /// Clears the terminal; the next draw shows everything again.
    func clear() {
        painter = TerminalPainter(traits)
        drawn = nil
        StandardOutput.write(Array("\u{1B}[H\u{1B}[2J".utf8))
    }

    /// Takes the cursor from the line that is typed to the empty one below it, where the painter expects it.
    private func raise(at size: TerminalSize) -> [UInt8] {
        guard let drawn else { return [] }
        self.drawn = nil
        guard traits.reflows else { return Array("\r\u{1B}[1B".utf8) }
        // A terminal that became narrower wrapped the line.
        let below = max(0, drawn.cells - 1) / size.columns - drawn.cursor / size.columns
        return Array("\r\u{1B}[\(max(0, below) + 1)B".utf8)
    }
}
