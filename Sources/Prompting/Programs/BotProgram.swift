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

/// How a bot that is a program is given its tools: an MCP server that the program starts by itself.
package struct ToolServer: Hashable, Sendable {
    /// The name that programs know it by.
    private static let name = "belfry"

    /// The program and its arguments.
    package var command: [String]
    /// The variables that it needs.
    package var environment: [String: String]
    /// The names of the tools that the bot may call.
    package var tools: [String]

    /// A server; `command` has a program at least.
    package init(command: [String], environment: [String: String], tools: [String]) {
        (self.command, self.environment, self.tools) = (command, environment, tools)
    }

    /// The arguments by which a program of that kind has it; none where it can't be given it so.
    ///
    /// - Source: Claude Code, "CLI reference", `--mcp-config` and `--allowedTools`; Codex CLI, "Configuration",
    ///   `mcp_servers`.
    func words(for dialect: ProgramDialect) -> [String] {
        switch dialect {
        case .claude:
            let servers = JSON.object([Self.name: server(["type": .string("stdio")])])
            let names = tools.map { "mcp__\(Self.name)__\($0)" }
            return ["--mcp-config", Self.text(.object(["mcpServers": servers]))]
                + (names.isEmpty ? [] : ["--allowedTools", names.joined(separator: ",")])
        case .codex:
            let (program, arguments) = (command.first ?? "", Array(command.dropFirst()))
            let variables = environment.sorted { $0.key < $1.key }
                .map { "\($0.key) = \(Self.toml(.string($0.value)))" }
            return [
                "command=" + Self.toml(.string(program)),
                "args=" + Self.toml(.array(arguments.map { .string($0) })),
                "env={ \(variables.joined(separator: ", ")) }",
            ].flatMap { ["-c", "mcp_servers.\(Self.name)." + $0] }
        case .gemini, .text: return []
        }
    }

    private func server(_ kind: KeyValuePairs<String, JSON?>) -> JSON {
        var json = JSON.object(kind)
        json["command"] = .string(command.first ?? "")
        json["args"] = .array(command.dropFirst().map { .string($0) })
        json["env"] = .members(
            environment.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })
        return json
    }

    /// TOML's basic strings, and lists of them, are written as those of JSON, which need no escape for a delete character.
    private static func toml(_ json: JSON) -> String { text(json).replacing("\u{7F}", with: "\\u007F") }

    private static func text(_ json: JSON) -> String { String(decoding: json.bytes, as: UTF8.self) }
}

/// What a program may reach: the system's programs, the folders named here, and nothing else of its user's.
///
/// Bubblewrap makes it: new namespaces, an empty home and an empty `/tmp`, no capabilities, no terminal. What the program
/// opens is looked up inside of it, so that its symbolic links and `..` lead nowhere that is not named. The named paths
/// themselves are looked up outside, where a link leads anywhere: none of them may be where the program can put one.
///
/// - Source: bwrap(1), 0.8.
package struct Sandbox: Hashable, Sendable {
    /// Absolute paths that it may read.
    package var read: [String]
    /// Absolute paths that it may also write.
    package var write: [String]
    /// Whether it has the machine's network; else it has none, not even this machine.
    package var hasNetwork: Bool

    /// The program that makes it.
    package static let program = "bwrap"

    /// A sandbox with these paths.
    package init(read: [String] = [], write: [String] = [], hasNetwork: Bool = false) {
        self.read = read
        self.write = write
        self.hasNetwork = hasNetwork
    }

    /// Why a path can't be one of these; nil: it can.
    package static func fault(in path: String) -> String? {
        if !path.hasPrefix("/") { return "is not an absolute path" }
        let parts = path.split(separator: "/")
        return parts.contains("..") || parts.contains(".") ? "must be written without . and .." : nil
    }

    /// The first path inside of another one that may be written; nil: there is none.
    ///
    /// The program could rename a folder on the way to it and put a link there, which the next run would follow.
    package var nested: (path: String, inside: String)? {
        func parts(_ path: String) -> [Substring] { path.split(separator: "/") }
        for path in read + write {
            let inner = parts(path)
            for outer in write where inner.count > parts(outer).count && inner.starts(with: parts(outer)) {
                return (path, outer)
            }
        }
        return nil
    }

    /// The command that runs `words` inside, in `folder` (nil: in `home`); `home` is empty there.
    package func words(of words: [String], home: String?, folder: String? = nil) -> [String] {
        var all = [Self.program, "--unshare-all"]
        if hasNetwork { all.append("--share-net") }
        all += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        for path in Self.system { all += ["--ro-bind-try", path, path] }
        all += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
        if let home, home.hasPrefix("/"), home != "/" { all += ["--tmpfs", home] }
        // A folder before those inside of it, which would be hidden by it else.
        let paths = read.map { ($0, false) } + write.map { ($0, true) }
        for (path, mayWrite) in paths.sorted(by: { $0.0 == $1.0 ? !$0.1 : $0.0 < $1.0 }) {
            all += [mayWrite ? "--bind" : "--ro-bind", path, path]
        }
        // What is left of the root is in memory, and need not be written.
        all += ["--remount-ro", "/"]
        if let folder = folder ?? home { all += ["--chdir", folder] }
        return all + ["--"] + words
    }

    /// What every program needs of the system, and holds no secret.
    private static let system =
        ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"]
        + [
            "alternatives", "ca-certificates", "group", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d",
            "localtime", "nsswitch.conf", "passwd", "pki", "resolv.conf", "ssl/certs", "ssl/openssl.cnf",
        ].map { "/etc/" + $0 }
}
