import API
import APIClient
import ArgumentParser
import Glibc
import Host
import Ledger
import Tracking

/// What is said to a bot, and where.
struct SayingOptions: ParsableArguments {
    @Argument(help: "The bot's name.", completion: Completions.bots)
    var bot: String
    @Argument(help: "The text; - reads it from standard input.")
    var text: String
    /// What a shell makes of a text without quotes.
    @Argument(help: .hidden) var rest: [String] = []
    @Option(help: ArgumentHelp("The bot's thread that it belongs to (default: main).", valueName: "thread"))
    var thread: String?
    @Option(help: ArgumentHelp("The id of the message that it replies to.", valueName: "id"))
    var replyTo: String?
    @Option(
        help: ArgumentHelp(
            "Send this file with it, at most 5 MiB; the bot is shown the first 64 KiB of a text.",
            valueName: "path"), completion: .file())
    var file: String?

    func validate() throws {
        guard !rest.isEmpty else { return }
        let whole = JobText.quoted(([text] + rest).joined(separator: " "))
        throw ValidationError("the text is one argument; quote it: \(whole)")
    }

    /// The request, under an id of its own: sent again it is said once.
    func request() throws -> SayRequest {
        let text = text == "-" ? try StandardInput.text(limit: 256 * 1024) : text
        var request = SayRequest(text: text)
        request.id = UniqueID.v7(at: .now)
        request.thread = thread
        request.replyTo = replyTo
        if let file { try AttachedFile(path: file).add(to: &request) }
        return request
    }
}

/// A file that is sent with a message.
struct AttachedFile {
    let path: String

    /// Reads the file into the request.
    ///
    /// - Throws: ``APIError`` where it can't be read, or is too large.
    func add(to request: inout SayRequest) throws(APIError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(unsafe String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw unreadable("it is no regular file")
        }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while content.count <= AttachmentNote.limit {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(unsafe String(cString: strerror(errno))) }
            if count == 0 { break }
            content += buffer[..<count]
        }
        guard content.count <= AttachmentNote.limit else {
            throw APIError(
                .tooLarge, "\(path) is larger than \(AttachmentNote.limit / 1024 / 1024) MiB",
                hint: "Send a part of it, or where it is.")
        }
        request.fileName = path.split(separator: "/").last.map(String.init)
        request.fileContent = Base64.encode(content)
        if content.prefix(AttachmentNote.shownLimit).contains(0) {
            StandardError.print("belfry: \(path) is no text; the bot is shown its name only")
        } else if content.count > AttachmentNote.shownLimit {
            StandardError.print("belfry: the bot is shown the first 64 KiB of \(path)")
        }
    }

    private func unreadable(_ reason: String) -> APIError {
        APIError(.badValue, "\(path) can't be read: \(reason)")
    }
}

struct SendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Sends a message to a bot without waiting for its reply.",
        discussion: """
            The bot replies when its turn comes; the reply is a message in the thread and
            notifies you. While its provider can't be reached, the message waits for up to
            a day.

              belfry send sage "Summarize this log" --file build.log
              belfry send sage "And in German?" --reply-to 2f1b7a11
            """)

    @OptionGroup var saying: SayingOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let client = try common.client()
        let message = try client.ask(Endpoints.say(saying.bot, body: try saying.request()))
        if common.json { return try StandardOutput.print(json: message) }
        StandardOutput.print("Sent as \(ShortID.shown([message.id])[0]).")
    }
}

struct AskCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ask", abstract: "Asks a bot and prints its reply as it arrives.",
        discussion: """
            Exits 0 if the bot replied, 1 if it failed to, and 6 if --wait ran out. The
            reply then arrives later as a message in the thread, as it does after Ctrl-C.

              belfry ask sage "What changed in the last backup?"
              git diff | belfry ask sage - --wait 60s
            """)

    @OptionGroup var saying: SayingOptions
    @Option(
        help: ArgumentHelp("Wait at most this long for the reply.", valueName: "duration"),
        transform: DurationArgument.readSeconds)
    var wait: DurationArgument?
    @OptionGroup var common: CommonOptions

    func run() throws {
        let client = try common.client()
        let message = try client.ask(Endpoints.say(saying.bot, body: try saying.request()))
        var follower = ReplyFollower(client, message, isShown: !common.json)
        follower.deadline = wait.map { ContinuousClock().now + $0.duration }
        let reply = try follower.follow()
        if common.json { try StandardOutput.print(json: reply) }
        guard let run = reply.run, run.state != .completed else { return }
        if !common.json {
            StandardError.print("belfry: \(ChatText.failure(run, of: message.bot))")
        }
        throw ExitCode(1)
    }
}

struct ReactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "react", abstract: "Reacts to a message with a word or an emoji.",
        discussion: """
            The reaction is shown with the message; its bot sees it with the next prompt.

              belfry react 2f1b7a11 👍
            """)

    @OptionGroup var message: MessageArgument
    @Argument(help: "A word or an emoji.")
    var word: String
    @OptionGroup var common: CommonOptions

    func run() throws {
        let message = try common.client().ask(
            Endpoints.react(message.id, body: ReactionRequest(word: word)))
        if common.json { return try StandardOutput.print(json: message) }
        StandardOutput.print("Noted.")
    }
}

struct BotResetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Starts a new session with a bot.",
        discussion: """
            The bot no longer sees earlier messages, and prompts that it has not answered
            are dropped. The messages are kept.

              belfry bot reset sage
            """)

    @Argument(help: "The bot's name.", completion: Completions.bots)
    var name: String
    @OptionGroup var common: CommonOptions

    func run() throws {
        try common.client().ask(Endpoints.resetBot(name))
        if !common.json { StandardOutput.print("\(PlainText.oneLine(name)) started a new session.") }
    }
}
