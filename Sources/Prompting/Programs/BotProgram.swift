package import Tracking

/// How a bot that is a program is asked: what is run, how it prints its reply, and what it may reach.
package struct BotProgram: Hashable, Sendable {
    /// How it prints its reply.
    package var dialect: ProgramDialect
    /// The program and its first arguments; ``promptWord`` among them stands for the prompt.
    package var command: [String]
    /// The model, as the program calls it; nil: the program's own choice.
    package var model: String?
    /// Who the bot is and how it behaves; nil for nothing.
    package var system: String?
    /// The path of a file that it is shown with each prompt; nil for none.
    package var memory: String?
    /// The variables that it gets from Belfry's own environment beside ``ProgramDialect/inherited``.
    package var inherited: [String]
    /// What it may reach; nil: whatever its user may.
    package var sandbox: Sandbox?
    /// Whether it knows what was said before: by its own session where it keeps one, else by being shown it.
    package var keepsSession = true
    /// What tokens cost where it does not report what it cost; nil: nobody said.
    package var price: TokenPrice?
    /// What the bot may cost; nil: there is no limit.
    package var budget: Budget?

    /// The argument that is replaced by the prompt; without one the prompt is on standard input.
    package static let promptWord = "{prompt}"

    /// A program without a model, a system text and a sandbox, unless they are set.
    package init(_ dialect: ProgramDialect, command: [String], inherited: [String] = []) {
        self.dialect = dialect
        self.command = command
        self.inherited = inherited
    }

    /// What people call it: the name of its file.
    package var name: String {
        let path = command.first ?? ""
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    /// What replies, as the bot's listing names it.
    package var kind: String { dialect == .text ? "command" : dialect.rawValue }

    /// One run of the program.
    package struct Call: Hashable, Sendable {
        /// The program and its arguments.
        package var words: [String]
        /// What it reads on standard input; nil: nothing.
        package var input: String?

        /// A run of these words.
        package init(words: [String], input: String?) {
            self.words = words
            self.input = input
        }
    }

    /// What is run to ask it `prompt`, in `folder` (nil: `home`), which its user starts in.
    ///
    /// With a `session` of its own provider it resumes that; `memory` is what its memory file says, and `tools` serves
    /// its tools. Where it `goesOn` with a call that it put off in that session, it is asked nothing new.
    package func call(
        _ prompt: String, home: String?, folder: String? = nil, session: Continuation? = nil,
        memory: String? = nil, tools: ToolServer? = nil, goesOn: Bool = false
    ) -> Call {
        var words = command
        let session = session.flatMap { $0.provider == dialect.rawValue && $0.isSafe ? $0.id : nil }
        if let model { words += ["--model", model] }
        var text = [MemoryFile.section(memory), prompt].compactMap(\.self).joined(separator: "\n\n")
        if let system {
            if dialect == .claude {
                words += ["--append-system-prompt", system]
            } else if session == nil {
                text = system + "\n\n" + text
            }
        }
        if let tools { words += tools.words(for: dialect) }
        if let session { words = self.words(words, resuming: session) }
        if goesOn {
            words.removeAll { $0 == Self.promptWord }
            if let sandbox { words = sandbox.words(of: words, home: home, folder: folder) }
            return Call(words: words, input: nil)
        }
        let isArgument = words.contains(Self.promptWord)
        // A prompt is never an option of the program.
        let argument = text.hasPrefix("-") ? " " + text : text
        if isArgument { words = words.map { $0 == Self.promptWord ? argument : $0 } }
        if let sandbox { words = sandbox.words(of: words, home: home, folder: folder) }
        return Call(words: words, input: isArgument ? nil : text)
    }

    /// The names of the variables that it gets from Belfry's own environment; see `ProcessOrder.inherited`.
    package var variables: [String] { ProgramDialect.everyProgram + dialect.inherited + inherited }
}

// What Belfry knows of the programs.
extension ProgramDialect {
    /// The command where none is configured; nil: one must be.
    ///
    /// Each reads its prompt on standard input.
    ///
    /// - Source: Claude Code, "Headless mode"; Codex CLI, "Non-interactive mode"; Gemini CLI, "Headless mode".
    package var standardCommand: [String]? {
        switch self {
        case .claude:
            ["claude", "-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"]
        case .codex: ["codex", "exec", "--json", "--skip-git-repo-check"]
        case .gemini: ["gemini", "--output-format", "stream-json"]
        case .text: nil
        }
    }

    /// The variable in which it expects its provider's key; nil: Belfry knows none.
    package var keyVariable: String? {
        switch self {
        case .claude: "ANTHROPIC_API_KEY"
        case .codex: "CODEX_API_KEY"
        case .gemini: "GEMINI_API_KEY"
        case .text: nil
        }
    }

    /// The settings of its own that it gets from Belfry's own environment.
    package var inherited: [String] {
        switch self {
        case .claude: ["ANTHROPIC_*", "CLAUDE_*"]
        case .codex: ["CODEX_*", "OPENAI_*"]
        case .gemini: ["GEMINI_*", "GOOGLE_*"]
        case .text: []
        }
    }

    /// What every program gets: who and where it is, and how it reaches the network.
    ///
    /// All else may be a secret of another program.
    static let everyProgram = [
        "HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TERM",
        "XDG_*",
        "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy",
        "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
    ]
}
