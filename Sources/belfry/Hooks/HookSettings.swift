import API
import APIClient
import ArgumentParser
import Glibc
import Host
import Timeline
import Tracking

extension CodingAgent: ExpressibleByArgument {}

/// One call of a hook by an agent: what it wrote is asked or reported, and the decision is printed in its dialect.
///
/// Nothing else is printed, and the exit code is 0 in any case: of other codes an agent makes a decision of its own.
/// Without a decision (nobody answered in time, no daemon, a payload that says something new) the agent goes on by itself.
struct AgentHookRun {
    let agent: CodingAgent
    let client: DaemonClient
    /// How long each question waits; nil: as long as is usual.
    let wait: Duration?
    /// How long only the desktop asks.
    let grace: Duration

    /// Long enough for whoever sits at the desktop.
    static let standardGrace = Duration.seconds(10)
    /// How long a run keeps its process while a person is asked.
    private static let parkingWait = Duration.seconds(60)
    private static let longestPayload = 4 << 20

    func run() {
        guard let text = try? StandardInput.text(limit: Self.longestPayload),
            let payload = JSON(parsing: Array(text.utf8)[...])
        else { return }
        let hook = AgentHook(agent: agent, payload: payload)
        if let settled = hook.settled {
            let request = SettleRequest(session: settled.session, about: settled.about)
            _ = try? client.ask(Endpoints.settleQuestions(body: request))
        }
        switch hook.task {
        case .ask(let questions):
            if let place = hook.parking(in: Machine.environment) {
                return print(park(questions, of: hook, in: place.run, call: place.call))
            }
            let end = Duration.sinceBoot + (wait ?? agent.standardWait)
            var answers = AgentAnswers(hook, questions)
            while let question = answers.next {
                guard let answer = answer(to: question, of: hook, until: end) else { return }
                answers.add(answer)
            }
            print(hook.output(answers.given))
        case .say(let request): _ = try? client.ask(Endpoints.notify(body: request))
        case .none: return
        }
    }

    private func print(_ output: JSON?) {
        guard let output else { return }
        StandardOutput.print(String(decoding: output.bytes, as: UTF8.self))
    }

    private func request(_ question: AgentQuestion, id: String, of hook: AgentHook) -> AskRequest {
        var request = AskRequest(id: id, text: question.text)
        request.choices = question.choices
        request.reply = question.takesText ? true : nil
        request.graceMs = DurationArgument(duration: grace).milliseconds
        request.trust = question.trust
        request.bot = hook.bot
        (request.session, request.about) = (hook.session, question.about)
        return request
    }

    /// What a person answered; nil: nobody did in time, or nobody could be asked.
    private func answer(to question: AgentQuestion, of hook: AgentHook, until end: Duration) -> String? {
        var request = request(question, id: UniqueID.v7(at: .now), of: hook)
        request.afterMs = max(1, (end - .sinceBoot).milliseconds)
        var waiter = QuestionWaiter(client: client, request: request)
        waiter.isPatient = false
        return (try? waiter.wait())?.answer
    }

    /// What the call is answered, after it was put off or at once; it is put off while a question is open.
    ///
    /// The agent makes the same call again when it is resumed, and finds the same questions by their ids.
    private func park(_ questions: [AgentQuestion], of hook: AgentHook, in run: String, call: String) -> JSON?
    {
        let end = Duration.sinceBoot + (wait ?? Self.parkingWait)
        var (answers, isOpen, isWithdrawn) = ([String](), false, false)
        for (place, question) in questions.enumerated() {
            let id = NamedID.of("question \(run) \(call) \(place)")
            var request = request(question, id: id, of: hook)
            (request.keep, request.run) = (true, run)
            let waiter = QuestionWaiter(client: client, request: request)
            guard let asked = try? waiter.look(until: end) else { return nil }
            if let answer = asked.answer {
                answers.append(answer)
            } else if asked.state == "open" {
                isOpen = true
            } else {
                isWithdrawn = true
            }
        }
        if isWithdrawn { return AgentHook.withdrawal }
        return isOpen ? AgentHook.deferral : hook.output(answers)
    }
}

/// The hooks in an agent's own settings: Belfry's are added to them, and taken out again; all else stays as it is.
struct HookSettings {
    let agent: CodingAgent
    /// Where the agent reads them.
    let path: String
    /// How the agent calls Belfry.
    let call: Call
    /// What stands in the file; nil: there is none.
    private let bytes: [UInt8]?
    private let before: JSON

    /// How an agent calls Belfry.
    enum Call: Hashable {
        /// It runs a program for each event.
        case program
        /// It sends each event to the daemon itself, with the token that this variable holds.
        case address(url: String, token: String)
    }

    private static let longest = 4 << 20

    /// The settings of this user.
    ///
    /// - Throws: why they can't be read, or are not what the agent would take.
    init(of agent: CodingAgent, call: Call = .program) throws(APIError) {
        (self.agent, self.call) = (agent, call)
        path = try Self.path(of: agent)
        do throws(HostError) {
            bytes = try SmallFile.read(path, limit: Self.longest)
        } catch {
            guard error.isMissing else { throw APIError(.badRequest, "\(path) can't be read: \(error)") }
            bytes = nil
        }
        before = try Self.settings(bytes, at: path)
    }

    /// Settings that are what `bytes` says.
    private init(_ other: HookSettings, _ bytes: [UInt8]?, _ call: Call) throws(APIError) {
        (agent, path, self.call, self.bytes) = (other.agent, other.path, call, bytes)
        before = try Self.settings(bytes, at: path)
    }

    private static func settings(_ bytes: [UInt8]?, at path: String) throws(APIError) -> JSON {
        guard let json = JSON(parsing: (bytes ?? Array("{}".utf8))[...]), case .members = json else {
            throw APIError(
                .badRequest, "\(path) is not valid JSON", hint: "Fix it first; nothing was changed.")
        }
        return json
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

    /// Where the daemon answers agents.
    static let addressPath = "/v1/agents/"

    private var command: String { "belfry confirm --hook \(agent.rawValue)" }

    /// With Belfry's hooks, each once.
    var installed: JSON {
        var json = removed
        var hooks = json["hooks"] ?? .members([])
        for (event, tools) in agent.points {
            let own = JSON.object(["matcher": tools.map(JSON.string), "hooks": .array([hook(on: event)])])
            hooks[event] = .array((hooks[event]?.elements ?? []) + [own])
        }
        json["hooks"] = hooks
        return json
    }

    private func hook(on event: String) -> JSON {
        let timeout = JSON.int(agent.decides(event) ? agent.timeout : CodingAgent.reportTimeout)
        switch call {
        case .program:
            return .object(["type": .string("command"), "command": .string(command), "timeout": timeout])
        case .address(let url, let token):
            return .object([
                "type": .string("http"), "url": .string(url),
                "headers": .object(["Authorization": .string("Bearer $\(token)")]),
                "allowedEnvVars": .array([.string(token)]), "timeout": timeout,
            ])
        }
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
        if hook["type"]?.text == "http", let url = hook["url"]?.text {
            return url.hasSuffix(Self.addressPath + agent.rawValue)
        }
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

    /// Adds Belfry's hooks; what stood there before is kept beside the file, for ``remove()``.
    func install() throws(APIError) {
        // Hooks of an older version are no part of what is restored.
        let others = removed == before ? bytes : Array((Self.text(of: removed) + "\n").utf8)
        try replace(kept, with: try original() ?? others ?? [])
        try replace(path, with: Array((Self.text(of: installed) + "\n").utf8))
    }

    /// Takes Belfry's hooks out: byte for byte where nothing else was changed since they were added.
    func remove() throws(APIError) {
        if let original = try original() {
            if original.isEmpty {
                try drop(path)
            } else {
                try replace(path, with: original)
            }
        } else {
            try replace(path, with: Array((Self.text(of: removed) + "\n").utf8))
        }
        try drop(kept)
    }

    /// Where what stood there before is kept; an empty file: there was none.
    private var kept: String { path + ".before-belfry" }

    /// What stood in the file before Belfry's hooks were added to exactly that; nil: it is not known, or was changed since.
    private func original() throws(APIError) -> [UInt8]? {
        guard let bytes, let old = try? SmallFile.read(kept, limit: Self.longest) else { return nil }
        for call in [call, installedCall] {
            let settings = try? HookSettings(self, old.isEmpty ? nil : old, call)
            guard let settings else { continue }
            if Array((Self.text(of: settings.installed) + "\n").utf8) == bytes { return old }
        }
        return nil
    }

    /// How the hooks that stand in the file call Belfry.
    private var installedCall: Call {
        for point in agent.points {
            for group in before["hooks"]?[point.event]?.elements ?? [] {
                for hook in group["hooks"]?.elements ?? [] where isOwn(hook) {
                    guard let url = hook["url"]?.text,
                        let token = hook["allowedEnvVars"]?.elements.first?.text
                    else { continue }
                    return .address(url: url, token: token)
                }
            }
        }
        return .program
    }

    private func replace(_ path: String, with bytes: [UInt8]) throws(APIError) {
        do throws(HostError) {
            // A link of somebody who keeps settings elsewhere stays one.
            let target = FilePath.resolved(path)
            let folder = target.split(separator: "/").dropLast().joined(separator: "/")
            if PathContent(at: "/" + folder) == .nothing { try PrivateFolder.make("/" + folder) }
            try SmallFile.replace(target, with: bytes, mode: Self.mode(of: target))
        } catch {
            throw APIError(.internalFault, "\(path) can't be written: \(error)")
        }
    }

    private func drop(_ path: String) throws(APIError) {
        guard unsafe unlink(FilePath.resolved(path)) == 0 || errno == ENOENT else {
            throw APIError(.internalFault, "\(path) can't be removed: \(HostError.last("unlink").reason)")
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
