import Tracking

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
