import API
import APIClient
import ArgumentParser
import Glibc
import Host
import TerminalView
import Timeline
import Tracking

struct ChatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat", abstract: "Talks with a bot, line by line.",
        discussion: """
            Replies are shown while they come. Ctrl-C cancels the reply, and with an empty line it leaves; so do \
            /quit and Ctrl-D. The arrows up and down recall earlier lines. Where there is no terminal it reads \
            lines and prints each reply.

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
