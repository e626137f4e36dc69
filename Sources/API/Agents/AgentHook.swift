import Grouping
import Timeline
package import Tracking

/// A coding agent that runs a program at certain points of its work, and reads what it prints.
package enum CodingAgent: String, CaseIterable, Sendable {
    case claude, codex

    /// How long a question waits where nobody says: as long as the agent waits for the hook, which it asks beside its own
    /// dialog; or a moment, where its own dialog appears only afterwards.
    package var standardWait: Duration {
        switch self {
        case .claude: .seconds(595)
        case .codex: .seconds(20)
        }
    }

    /// The agent's own bound of a hook, in seconds.
    package var timeout: Int {
        switch self {
        case .claude: 600
        case .codex: 60
        }
    }

    /// The same of what it only reports.
    package static let reportTimeout = 30

    /// Whether the agent waits for a decision at this point.
    package func decides(_ event: String) -> Bool {
        ["PermissionRequest", "PreToolUse", "Elicitation"].contains(event)
    }

    /// The points at which Belfry is asked, with the tools that matter there (nil: all of them).
    package var points: [(event: String, tools: String?)] {
        switch self {
        case .claude:
            [
                ("PermissionRequest", nil), ("PreToolUse", "AskUserQuestion"), ("Elicitation", nil),
                ("PostToolUse", nil), ("PostToolUseFailure", nil), ("UserPromptSubmit", nil),
                ("Notification", nil), ("Stop", nil), ("StopFailure", nil), ("SessionEnd", nil),
            ]
        case .codex: [("PermissionRequest", nil), ("Stop", nil)]
        }
    }
}

/// What an agent writes to its hook, read with tolerance: what is unknown is left alone.
///
/// - Source: the agents' pages of hooks, August 2026; the schemas of codex-rs/hooks.
package struct AgentHook: Sendable {
    /// Whose hook it is.
    package let agent: CodingAgent
    let payload: JSON

    /// What `agent` wrote.
    package init(agent: CodingAgent, payload: JSON) {
        (self.agent, self.payload) = (agent, payload)
    }

    /// What is to be done; nil: nothing.
    package enum Task {
        case ask([AgentQuestion])
        case say(NotifyRequest)
    }

    /// What is printed to let the agent do what it asks for, for a while without a question.
    package static let trustedFor = Duration.seconds(3600)

    package var task: Task? {
        switch (payload["hook_event_name"]?.text, agent) {
        case ("PermissionRequest", _): permission.map { .ask([$0]) }
        case ("PreToolUse", .claude):
            tool == "AskUserQuestion" ? questions.map { .ask($0) } : permission.map { .ask([$0]) }
        case ("Elicitation", .claude): elicitation.map { .ask($0) }
        case ("Notification", .claude): notification.map { .say($0) }
        case ("Stop", _): said(payload["last_assistant_message"]?.text, urgency: nil).map { .say($0) }
        case ("StopFailure", .claude): failure.map { .say($0) }
        default: nil
        }
    }

    /// What is printed for these answers, in the order of the questions.
    package func output(_ answers: [String]) -> JSON? {
        switch payload["hook_event_name"]?.text {
        case "PermissionRequest": answers.first.flatMap(decision)
        case "PreToolUse": tool == "AskUserQuestion" ? chosen(answers) : answers.first.flatMap(verdict)
        case "Elicitation": elicited(answers)
        default: nil
        }
    }

    // MARK: Who asks

    var tool: String { payload["tool_name"]?.text ?? "" }
    private var folder: String { payload["cwd"]?.text ?? "" }

    /// The bot that the agent is: named after the folder in which it works.
    package var bot: String {
        let last = folder.split(separator: "/").last.map(String.init) ?? ""
        let plain = last.lowercased().unicodeScalars.map { scalar -> Character in
            switch scalar {
            case "a"..."z", "0"..."9", ".", "_": Character(scalar)
            default: "-"
            }
        }
        let name = String(String(plain).drop { !$0.isLetter && !$0.isNumber }.prefix(63))
        return name.isEmpty ? agent.rawValue : name
    }

    /// The thread of the session: several work in one folder.
    private var thread: String {
        let session = payload["session_id"]?.text?.prefix(8) ?? ""
        return session.isEmpty ? agent.rawValue : "\(agent.rawValue) \(CleanText.row(String(session)))"
    }

    /// The agent's own name of the session; nil: it names none.
    package var session: String? { payload["session_id"]?.text }

    /// The call as all of its events name it: what else the agent adds to its input does not count.
    private var about: String? {
        guard !tool.isEmpty, var input = payload["tool_input"] else { return nil }
        input["description"] = nil
        if tool == "AskUserQuestion" { input = input["questions"] ?? input }
        return "\(tool) " + String(decoding: input.bytes, as: UTF8.self)
    }

    /// Which of its open questions nobody needs to answer any more: those about one call, or (`about` is nil) all of the
    /// session; nil: none.
    ///
    /// A person who answers at the terminal is reported by nothing else: the call that was allowed there is made, or the
    /// session goes on, or ends.
    package var settled: (session: String, about: String?)? {
        guard agent == .claude, let session else { return nil }
        switch payload["hook_event_name"]?.text {
        case "PostToolUse", "PostToolUseFailure": return about.map { (session, $0) }
        case "Stop", "StopFailure", "UserPromptSubmit", "SessionEnd": return (session, nil)
        default: return nil
        }
    }

    // MARK: Permissions

    private static let allow = "allow"
    private static let deny = "deny"
    private static let always = "always allow"
    private static var allowForAWhile: String { "allow for \(trustedFor.words)" }

    private var suggestion: JSON? {
        guard agent == .claude, payload["hook_event_name"]?.text == "PermissionRequest" else { return nil }
        return payload["permission_suggestions"]?.elements.first
    }

    private var permission: AgentQuestion? {
        guard !tool.isEmpty, let input = payload["tool_input"], let words = Self.words(of: input) else {
            return nil
        }
        var choices = [Self.allow, Self.deny, Self.allowForAWhile]
        if suggestion != nil { choices.append(Self.always) }
        var question = AgentQuestion(
            text: "\(agent.rawValue) wants to use \(tool):\n\(words)", choices: choices)
        question.trust = AnswerTrust(
            subject: subject(of: input), choice: Self.allowForAWhile,
            forMs: Self.trustedFor.components.seconds * 1000)
        question.about = about
        return question
    }

    /// What exactly is asked for: an answer is never taken for anything that differs by a letter.
    ///
    /// The agent's own description of it does not count: it is worded otherwise each time.
    private func subject(of input: JSON) -> String {
        var input = input
        input["description"] = nil
        let parts = [agent.rawValue, folder, tool].map { JSON.string($0) } + [input]
        return String(decoding: JSON.array(parts).bytes, as: UTF8.self)
    }

    /// What a person must read of a tool's input: the command and what else there is about it, or all of it.
    ///
    /// Nil where a notification would not show it whole, letter for letter: nobody is asked to allow what can't be seen.
    private static func words(of input: JSON) -> String? {
        var rest = input
        // How long it may take, and the agent's own words, allow nothing.
        for name in ["command", "description", "timeout"] { rest[name] = nil }
        let others = rest == .members([]) ? "" : "\n" + String(decoding: rest.bytes, as: UTF8.self)
        let main =
            input["command"]?.text.map { $0 + others } ?? String(decoding: input.bytes, as: UTF8.self)
        let isShown = Preview.shape(main, to: longestShown) == main
        guard isShown, !main.unicodeScalars.contains(where: { $0.properties.generalCategory == .format })
        else {
            return nil
        }
        guard input["command"] != nil, let description = input["description"]?.text else { return main }
        return main + "\n" + CleanText.line(description, limit: 100)
    }

    private static let longestShown = 800

    private func decision(_ answer: String) -> JSON? {
        var decision: JSON
        switch answer {
        case Self.allow, Self.allowForAWhile: decision = .object(["behavior": .string("allow")])
        case Self.always:
            guard let suggestion else { return nil }
            decision = .object(["behavior": .string("allow"), "updatedPermissions": .array([suggestion])])
        case Self.deny:
            decision = .object([
                "behavior": .string("deny"), "message": .string("The user denied this through Belfry."),
                "interrupt": agent == .claude ? .bool(false) : nil,
            ])
        default: return nil
        }
        return Self.specific("PermissionRequest", [.init("decision", decision)])
    }

    /// The same decision about a call that the agent has not judged itself.
    private func verdict(_ answer: String) -> JSON? {
        switch answer {
        case Self.allow, Self.allowForAWhile:
            Self.specific("PreToolUse", [.init("permissionDecision", .string("allow"))])
        case Self.deny: Self.refusal("The user denied this through Belfry.")
        default: nil
        }
    }

    static func specific(_ event: String, _ members: [JSON.Member]) -> JSON {
        .object([
            "hookSpecificOutput": .members([.init("hookEventName", .string(event))] + members)
        ])
    }
}

/// A question of an agent to its user.
package struct AgentQuestion: Hashable, Sendable {
    /// What is asked.
    package var text: String
    /// The answers to choose from.
    package var choices: [String]
    /// Whether any text is an answer, too.
    package var takesText = false
    /// Which earlier answer counts for it; nil: none.
    package var trust: AnswerTrust?
    /// What the call is about, as the agent's later events name it; nil: they do not.
    package var about: String?
    /// The answers after which nothing else is asked.
    package var ends: Set<String> = []

    /// A question with these choices.
    package init(text: String, choices: [String], takesText: Bool = false) {
        (self.text, self.choices, self.takesText) = (text, choices, takesText)
    }
}

// Questions of the agent itself, and of its tool servers.

extension AgentHook {
    /// The most questions of one call, and fields of one form: each question repeats the call, or the form's text.
    static let mostQuestions = 50

    private var asked: [JSON] { payload["tool_input"]?["questions"]?.elements ?? [] }

    /// Nil where one of them can't be asked as it stands: then the agent asks by itself.
    private var questions: [AgentQuestion]? {
        let (asked, about) = (asked, about)
        guard asked.count <= Self.mostQuestions else { return nil }
        let questions = asked.map { question -> AgentQuestion? in
            guard let text = question["question"]?.text, !text.isEmpty,
                let labels = Self.choices(question["options"]?.elements.map { $0["label"]?.text })
            else { return nil }
            let isMany = question["multiSelect"] == .bool(true)
            let several = "\n(several are possible, as \(labels.prefix(2).joined(separator: ",")))"
            // Its own dialog takes other words, too.
            var one = AgentQuestion(
                text: text + (isMany ? several : ""), choices: labels, takesText: true)
            one.about = about
            return one
        }
        let known = questions.compactMap(\.self)
        return known.isEmpty || known.count < questions.count ? nil : known
    }

    /// Labels that can be choices; nil: one of them can't.
    static func choices(_ labels: [String?]?) -> [String]? {
        guard let labels, !labels.isEmpty, labels.count <= ReportedQuestion.mostChoices else { return nil }
        let known = labels.compactMap(\.self).filter {
            !$0.isEmpty && $0.count <= ReportedQuestion.longestChoice
        }
        guard known.count == labels.count, Set(known.map { $0.lowercased() }).count == known.count else {
            return nil
        }
        return known
    }

    private func chosen(_ answers: [String]) -> JSON? {
        let texts = asked.compactMap { $0["question"]?.text }
        guard texts.count == answers.count, var input = payload["tool_input"] else { return nil }
        input["answers"] = .members(zip(texts, answers).map { JSON.Member($0, .string($1)) })
        return Self.specific(
            "PreToolUse", [.init("permissionDecision", .string("allow")), .init("updatedInput", input)])
    }

    // MARK: What it reports

    private var notification: NotifyRequest? {
        // A permission is asked for by a hook of its own.
        guard payload["notification_type"]?.text != "permission_prompt" else { return nil }
        var request = said(payload["message"]?.text, urgency: nil)
        request?.title = payload["title"]?.text
        return request
    }

    private var failure: NotifyRequest? {
        let reason = payload["error"]?.text ?? "unknown"
        let detail = payload["error_details"]?.text.map { ": \($0)" } ?? ""
        return said("\(agent.rawValue) stopped: \(reason)\(detail)", urgency: "critical")
    }

    private func said(_ text: String?, urgency: String?) -> NotifyRequest? {
        guard let text, !text.allSatisfy(\.isWhitespace) else { return nil }
        var request = NotifyRequest(text: String(text.prefix(16_000)))
        (request.bot, request.thread, request.urgency) = (bot, thread, urgency)
        return request
    }
}

// Calls that wait for a person without a process: `claude -p` puts them off, ends, and makes them again when it is resumed.

extension AgentHook {
    /// The run that may wait without its process, and what names the agent's call there; nil: it must go on.
    ///
    /// - Source: Claude Code, "Hooks reference", `permissionDecision: defer`.
    package func parking(in environment: [String: String]) -> (run: String, call: String)? {
        guard agent == .claude, payload["hook_event_name"]?.text == "PreToolUse",
            environment["BELFRY_PARKS"] == "1", let run = environment["BELFRY_RUN_ID"], !run.isEmpty
        else { return nil }
        let input = payload["tool_input"].map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
        return (run, payload["tool_use_id"]?.text ?? "\(tool) \(input)")
    }

    /// What is printed to put the call off.
    package static var deferral: JSON {
        specific("PreToolUse", [.init("permissionDecision", .string("defer"))])
    }

    /// What is printed where somebody closed a question without an answer.
    package static var withdrawal: JSON {
        refusal("The user withdrew this question through Belfry.")
    }

    static func refusal(_ reason: String) -> JSON {
        specific(
            "PreToolUse",
            [
                .init("permissionDecision", .string("deny")),
                .init("permissionDecisionReason", .string(reason)),
            ])
    }
}
