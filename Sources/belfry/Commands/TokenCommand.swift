import API
import APIClient
import ArgumentParser
import Host
import Ledger

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Manages tokens for programs that connect over TCP.",
        discussion: """
            The daemon listens on TCP where the configuration has `listen:`.

              belfry token add phone --scope publish
              curl -u :TOKEN -d "Backup done" http://127.0.0.1:8427/ops
            """,
        subcommands: [TokenAddCommand.self, TokenListCommand.self, TokenRemoveCommand.self])
}

struct TokenAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Makes a token and prints it once; only its hash is kept.",
        discussion: """
            publish posts messages, answer answers questions, read reads everything that
            is shown, admin does everything. With --job it may start that job by
            POST /v1/hooks/JOB; with --signed a service proves that it knows the secret,
            and what it posts is the run's standard input.

              belfry token add phone --scope publish --scope answer
              belfry token add deploy --job deploy
              belfry token add push --job deploy --signed github
            """)

    @Argument(help: "The token's name; must be unique.")
    var name: String
    @Option(
        help: ArgumentHelp("What it allows; repeatable.", valueName: "publish|answer|read|admin"),
        completion: .list(TokenScope.allCases.map(\.rawValue)))
    var scope: [String] = []
    @Option(help: "The job that it may start by /v1/hooks/JOB.", completion: Completions.jobs)
    var job: String?
    @Option(
        help: ArgumentHelp("How hooks are signed.", valueName: "standard|github|gitlab|slack"),
        completion: .list(HookSignature.allCases.map(\.rawValue)))
    var signed: String?
    @Option(help: ArgumentHelp("Read the service's secret from standard input.", valueName: "-"))
    var secret: String?
    @OptionGroup var common: CommonOptions

    private var scopes: [TokenScope] {
        get throws {
            try scope.flatMap { $0.split(separator: ",") }.map { word in
                guard let scope = TokenScope(rawValue: String(word)) else {
                    let known = TokenScope.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ValidationError("--scope takes \(known), not \(Quoted.of(String(word)))")
                }
                return scope
            }
        }
    }

    func validate() throws {
        if let signed, HookSignature(rawValue: signed) == nil {
            let known = HookSignature.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--signed takes \(known), not \(Quoted.of(signed))")
        }
        if let secret, secret != "-" {
            throw ValidationError(
                "a secret on the command line can be seen by others; pipe it in: --secret - < FILE")
        }
        if try scopes.isEmpty, job == nil {
            throw ValidationError("name what the token allows: --scope publish, or --job JOB")
        }
    }

    func run() throws {
        var draft = TokenDraft(name: name, scopes: try scopes, job: job)
        draft.signed = signed.flatMap(HookSignature.init)
        if secret != nil { draft.secret = String(try StandardInput.text(limit: 4096).prefix { $0 != "\n" }) }
        let made = try common.client().ask(Endpoints.addToken(body: draft))
        if common.json { return try StandardOutput.print(json: made) }
        // Alone on its line, for a script to read.
        StandardOutput.print(made.secret)
        StandardError.write("Keep it: it is not shown again.\n")
    }
}

struct TokenListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the tokens by name, without their values.",
        discussion: """
              belfry token list
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        let tokens = try common.client().ask(Endpoints.tokens())
        try common.screen.list(tokens, asJSON: common.json) { screen in
            var table = TextTable(["TOKEN", "ALLOWS", "JOB", "SIGNED", "MADE", "USED"])
            for token in tokens {
                let scopes = token.scopes.map(\.rawValue).joined(separator: ",")
                table.add([
                    "\(token.name)", "\(scopes.isEmpty ? "-" : scopes)", "\(token.job ?? "-")",
                    "\(token.signed?.rawValue ?? "-")",
                    "\(screen.time(token.createdAt))",
                    "\(token.lastUsedAt.map { screen.time($0) } ?? "never")",
                ])
            }
            screen.print(table, empty: "No tokens.")
        }
    }
}

struct TokenRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Removes a token; requests that use it are rejected from then on.",
        discussion: """
              belfry token rm phone
            """)

    @Argument(help: "The token's name.")
    var name: String
    @OptionGroup var common: CommonOptions

    func run() throws {
        try common.client().ask(Endpoints.removeToken(name))
        if !common.json { StandardOutput.print("Removed \(name).") }
    }
}
