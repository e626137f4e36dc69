import API
import APIClient
import ArgumentParser
import Host
import Ledger
import Tracking

/// The flags of `bot add` and `bot edit`: the settings of a bot in the configuration file.
struct BotOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What answers its prompts: anthropic, openai, openclaw, claude, codex, gemini or command.",
            valueName: "kind"),
        completion: .list(["anthropic", "openai", "openclaw", "claude", "codex", "gemini", "command"]))
    var backend: String?
    @Option(help: ArgumentHelp("The model, as its provider calls it.", valueName: "name"))
    var model: String?
    @Option(help: ArgumentHelp("The address of the API (not needed for anthropic).", valueName: "url"))
    var url: String?
    @Option(
        help: ArgumentHelp("Read the provider's key from standard input; kept by the daemon.", valueName: "-")
    )
    var key: String?
    @Option(
        help: ArgumentHelp("A file with the provider's key, read when the daemon starts.", valueName: "path"),
        completion: .file())
    var keyFile: String?
    @Option(help: ArgumentHelp("A variable of the daemon's environment with the key.", valueName: "name"))
    var keyEnv: String?
    @Option(help: ArgumentHelp("A systemd credential of the daemon with the key.", valueName: "name"))
    var keyCredential: String?
    @Option(
        help: ArgumentHelp("A secret of the session's keyring with the key (belfry=name).", valueName: "name")
    )
    var keyService: String?
    @Option(help: ArgumentHelp("The agent's id in its OpenClaw gateway.", valueName: "id"))
    var agent: String?
    @Option(help: ArgumentHelp("Who the bot is and how it behaves.", valueName: "text"))
    var systemPrompt: String?
    @Option(
        help: ArgumentHelp(
            "History sent with a prompt: bot (the whole thread) or run (none); of a gateway synced, direct or isolated.",
            valueName: "word"),
        completion: .list(["bot", "run", "synced", "direct", "isolated"]))
    var session: String?
    @Option(
        help: ArgumentHelp("Show it this file with each prompt; none removes it.", valueName: "path"),
        completion: .file())
    var memory: String?
    @Option(
        parsing: .remaining,
        help: ArgumentHelp(
            "The program that replies, with its arguments; must come last.", valueName: "program"))
    var command: [String] = []
    @Option(
        help: ArgumentHelp(
            "How that program prints its reply: text, claude, codex or gemini.", valueName: "word"),
        completion: .list(["text", "claude", "codex", "gemini"]))
    var output: String?
    @Option(
        help: ArgumentHelp(
            "Run the program in a sandbox that can read this folder; none empties the list.",
            valueName: "path"),
        completion: .directory)
    var read: [String] = []
    @Option(
        help: ArgumentHelp("Like --read, and the program may also write there.", valueName: "path"),
        completion: .directory)
    var write: [String] = []
    @Option(
        help: ArgumentHelp("Whether the sandbox has the network: yes or no.", valueName: "word"),
        completion: .list(["yes", "no"]))
    var network: String?
    @Option(
        help: ArgumentHelp("Remove the sandbox of the program: none.", valueName: "none"),
        completion: .list(["none"]))
    var sandbox: String?
    @Option(
        help: ArgumentHelp(
            "Pass this variable of the daemon's environment to the program; none empties the list.",
            valueName: "name"))
    var inherit: [String] = []
    @Option(help: ArgumentHelp("The most tokens of a reply.", valueName: "n"))
    var maxTokens: String?
    @Option(
        help: ArgumentHelp(
            "Summarize what was said before the model has read this many tokens.", valueName: "n"))
    var context: String?
    @Option(help: ArgumentHelp("Price per million input tokens, in USD.", valueName: "usd"))
    var priceInput: String?
    @Option(help: ArgumentHelp("Price per million output tokens, in USD.", valueName: "usd"))
    var priceOutput: String?
    @Option(help: ArgumentHelp("Monthly budget in USD; none removes it.", valueName: "usd"))
    var budgetUsd: String?
    @Option(help: ArgumentHelp("Monthly budget in tokens; none removes it.", valueName: "n"))
    var budgetTokens: String?
    @Option(
        help: ArgumentHelp(
            "Allow requests to this private host or network.", valueName: "host"))
    var allow: [String] = []
    @Option(help: ArgumentHelp("The icon of its notifications.", valueName: "icon"))
    var icon: String?
    @Option(help: ArgumentHelp("The sound of its notifications.", valueName: "name"))
    var sound: String?
    @Option(
        help: ArgumentHelp("The urgency of its notifications.", valueName: "urgency"),
        completion: .list(["low", "normal", "critical"]))
    var urgency: String?

    func validate() throws {
        if let key, key != "-" {
            throw ValidationError(
                "a key on the command line can be seen by others; pipe it in: --key - < FILE, or name --key-file FILE"
            )
        }
        let places = [key, keyFile, keyEnv, keyCredential, keyService].compactMap(\.self)
        if places.count > 1 { throw ValidationError("a key comes from one place") }
        if let sandbox, sandbox != "none" {
            throw ValidationError("--sandbox is none; --read, --write and --network make a sandbox")
        }
        if sandbox != nil, !read.isEmpty || !write.isEmpty || network != nil {
            throw ValidationError("--sandbox none and --read, --write or --network exclude each other")
        }
    }

    /// What the flags say, in the form of the configuration file; the key itself is read from standard input.
    func draft() throws(APIError) -> BotDraft {
        var draft = BotDraft(settings: .members([]))
        let words = [
            ("backend", backend), ("model", model), ("url", url), ("system", systemPrompt),
            ("session", session), ("agent", agent), ("maxTokens", maxTokens), ("context", context),
            ("price.input", priceInput), ("price.output", priceOutput), ("budget.usd", budgetUsd),
            ("budget.tokens", budgetTokens), ("notifications.icon", icon), ("notifications.sound", sound),
            ("notifications.urgency", urgency), ("key.file", keyFile.map(Self.absolute)), ("key.env", keyEnv),
            ("key.credential", keyCredential), ("key.service", keyService), ("output", output),
            ("memory", memory == "none" ? memory : memory.map(Self.absolute)),
        ]
        for case (let path, let word?) in words {
            draft.settings[path: path] = word == "none" ? .null : .string(word)
        }
        if !command.isEmpty { draft.settings["command"] = command.json }
        if sandbox != nil { draft.settings["sandbox"] = .null }
        if let network { draft.settings[path: "sandbox.network"] = .string(network) }
        // Without paths a sandbox is still one: an empty list takes nothing of it away.
        let lists = [
            ("sandbox.read", read.map(Self.path)), ("sandbox.write", write.map(Self.path)),
            ("inherit", inherit),
        ]
        for (path, words) in lists where !words.isEmpty {
            draft.settings[path: path] = .array(words == ["none"] ? [] : words.map { .string($0) })
        }
        if !allow.isEmpty { draft.settings["allow"] = .array(allow.map { .string($0) }) }
        if key != nil { draft.key = try StandardInput.text(limit: 64 * 1024) }
        return draft
    }

    private static func path(_ word: String) -> String { word == "none" ? word : absolute(word) }

    /// The daemon has another folder.
    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : Machine.currentFolder + "/" + path
    }
}

struct BotAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Adds a bot.",
        discussion: """
            The settings are those of bots: in the configuration file; its manual
            describes each of them.

              belfry bot add sage --backend anthropic --model NAME --key - < key.txt
              belfry bot add local --backend openai --model small \\
                --url http://127.0.0.1:11434/v1 --allow 127.0.0.1/32
              belfry bot add opta --backend openclaw \\
                --url ws://127.0.0.1:18789 --key - < token
              belfry bot add porter --backend command --command my-program --brief
              belfry bot add cc --backend claude --write ~/.claude --network yes
            """)

    @Argument(help: "The bot's name.")
    var name: String
    @OptionGroup var options: BotOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if options.backend == "command", options.command.allSatisfy(\.isEmpty) {
            throw ValidationError("--backend command needs --command PROGRAM, as the last flag")
        }
    }

    func run() throws {
        var draft = try options.draft()
        draft.name = name
        let bot = try common.client().ask(Endpoints.addBot(body: draft))
        if common.json { return try StandardOutput.print(json: bot) }
        StandardOutput.print("Added \(bot.name). Try it: belfry bot test \(bot.name)")
    }
}

struct BotEditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Changes a bot that was made by bot add.",
        discussion: """
              belfry bot edit sage --model NAME
              belfry bot edit sage --price-input 3 --price-output 15 --budget-usd 20
              belfry bot edit sage --budget-usd none
            """)

    @Argument(help: "The bot's name.", completion: Completions.bots)
    var name: String
    @OptionGroup var options: BotOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let draft = try options.draft()
        if draft.settings == .members([]), draft.key == nil {
            throw ValidationError("nothing to change: name a flag, such as --model NAME")
        }
        let bot = try common.client().ask(Endpoints.editBot(name, body: draft))
        if common.json { return try StandardOutput.print(json: bot) }
        StandardOutput.print("Changed \(bot.name).")
    }
}

struct BotRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Removes a bot that was made by bot add.",
        discussion: """
            Keeps its messages and usage; deletes its key.

              belfry bot rm sage
            """,
        aliases: ["remove", "delete"])

    @Argument(help: "The bot's name.", completion: Completions.bots)
    var name: String
    @Flag(help: "Remove it even if jobs belong to it.")
    var force = false
    @OptionGroup var common: CommonOptions

    func run() throws {
        var query = RemoveBotQuery()
        query.force = force
        try common.client().ask(Endpoints.removeBot(name, query: query))
        if !common.json { StandardOutput.print("Removed \(name).") }
    }
}
