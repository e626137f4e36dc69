import API
import Glibc
import Host
import Tracking

/// The hooks in an agent's own settings: Belfry's are added to them, and taken out again; all else stays as it is.
struct HookSettings {
    let agent: CodingAgent
    /// Where the agent reads them.
    let path: String
    private let before: JSON

    private static let longest = 4 << 20

    /// The settings of this user.
    ///
    /// - Throws: why they can't be read, or are not what the agent would take.
    init(of agent: CodingAgent) throws(APIError) {
        self.agent = agent
        path = try Self.path(of: agent)
        let bytes: [UInt8]
        do throws(HostError) {
            bytes = try SmallFile.read(path, limit: Self.longest)
        } catch {
            guard error.isMissing else { throw APIError(.badRequest, "\(path) can't be read: \(error)") }
            bytes = Array("{}".utf8)
        }
        guard let json = JSON(parsing: bytes[...]), case .members = json else {
            throw APIError(
                .badRequest, "\(path) is not valid JSON", hint: "Fix it first; nothing was changed.")
        }
        before = json
    }

    /// `~/.claude/settings.json`, `~/.codex/hooks.json`, or where the agent's own variable leads.
    private static func path(of agent: CodingAgent) throws(APIError) -> String {
        let environment = Machine.environment
        let (variable, folder, file) =
            switch agent {
            case .claude: ("CLAUDE_CONFIG_DIR", ".claude", "settings.json")
            case .codex: ("CODEX_HOME", ".codex", "hooks.json")
            }
        if let named = environment[variable], named.hasPrefix("/") { return named + "/" + file }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw APIError(
                .badRequest, "$HOME is not set, so the settings of \(agent.rawValue) can't be found")
        }
        return home + "/" + folder + "/" + file
    }

    // MARK: What they become

    private var command: String { "belfry confirm --hook \(agent.rawValue)" }

    /// With Belfry's hooks, each once.
    var installed: JSON {
        var json = removed
        var hooks = json["hooks"] ?? .members([])
        for (event, tools) in agent.points {
            let own = JSON.object([
                "matcher": tools.map(JSON.string),
                "hooks": .array([
                    .object([
                        "type": .string("command"), "command": .string(command),
                        "timeout": .int(agent.timeout),
                    ])
                ]),
            ])
            hooks[event] = .array((hooks[event]?.elements ?? []) + [own])
        }
        json["hooks"] = hooks
        return json
    }

    /// Without them; what held nothing else leaves, too.
    var removed: JSON {
        var json = before
        guard case .members(let events)? = json["hooks"] else { return json }
        var hooks = JSON.members([])
        for event in events {
            let groups = event.value.elements.compactMap(withoutOwn)
            // What is no list is not ours to judge.
            guard case .array(let all) = event.value else {
                hooks[event.name] = event.value
                continue
            }
            if !groups.isEmpty || all.isEmpty { hooks[event.name] = .array(groups) }
        }
        json["hooks"] = hooks == .members([]) && !events.isEmpty ? nil : hooks
        return json
    }

    private func withoutOwn(_ group: JSON) -> JSON? {
        guard case .array(let hooks)? = group["hooks"] else { return group }
        let others = hooks.filter { !isOwn($0) }
        guard others.count < hooks.count else { return group }
        guard !others.isEmpty else { return nil }
        var group = group
        group["hooks"] = .array(others)
        return group
    }

    /// Also one that a person gave options, or a path.
    private func isOwn(_ hook: JSON) -> Bool {
        guard let words = hook["command"]?.text?.split(separator: " "), let program = words.first else {
            return false
        }
        return program.split(separator: "/").last == "belfry" && words.dropFirst().first == "confirm"
            && words.contains("--hook")
    }

    // MARK: Writing

    /// Whether `json` differs from what stands in the file.
    func isNews(_ json: JSON) -> Bool { json != before }

    /// The rights of the file that is replaced; those of a private one where there is none.
    private static func mode(of path: String) -> UInt32 {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return 0o600 }
        return status.st_mode & 0o777
    }

    /// Puts `json` into the file.
    func write(_ json: JSON) throws(APIError) {
        do throws(HostError) {
            // A link of somebody who keeps settings elsewhere stays one.
            let target = FilePath.resolved(path)
            let folder = target.split(separator: "/").dropLast().joined(separator: "/")
            if PathContent(at: "/" + folder) == .nothing { try PrivateFolder.make("/" + folder) }
            try SmallFile.replace(
                target, with: Array((Self.text(of: json) + "\n").utf8), mode: Self.mode(of: target))
        } catch {
            throw APIError(.internalFault, "\(path) can't be written: \(error)")
        }
    }

    /// The file's text: two spaces a level, as the agents write it.
    static func text(of json: JSON) -> String {
        var text = ""
        write(json, level: 0, to: &text)
        return text
    }

    private static func write(_ json: JSON, level: Int, to text: inout String) {
        let inner = String(repeating: "  ", count: level + 1)
        let outer = String(repeating: "  ", count: level)
        switch json {
        case .array(let values) where !values.isEmpty:
            text += "[\n"
            for (index, value) in values.enumerated() {
                text += inner
                write(value, level: level + 1, to: &text)
                text += index + 1 < values.count ? ",\n" : "\n"
            }
            text += outer + "]"
        case .members(let members) where !members.isEmpty:
            text += "{\n"
            for (index, member) in members.enumerated() {
                text += inner + String(decoding: JSON.string(member.name).bytes, as: UTF8.self) + ": "
                write(member.value, level: level + 1, to: &text)
                text += index + 1 < members.count ? ",\n" : "\n"
            }
            text += outer + "}"
        default: text += String(decoding: json.bytes, as: UTF8.self)
        }
    }
}
