import Testing
import Tracking

@testable import API

/// What coding agents write to their hooks and what they are answered, without a process or a daemon.
@Suite struct `what an agent asks` {
    private func hook(_ agent: CodingAgent, _ text: String) throws -> AgentHook {
        AgentHook(agent: agent, payload: try #require(JSON(parsing: Array(text.utf8)[...]), "\(text)"))
    }

    private func text(_ json: JSON?) -> String {
        json.map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
    }

    /// Asks all of it, with these answers; what was asked and what is printed, nothing where not all was answered.
    private func run(
        _ agent: CodingAgent, _ payload: String, _ answers: [String]
    ) throws -> (asked: [AgentQuestion], output: String) {
        let hook = try hook(agent, payload)
        guard case .ask(let questions)? = hook.task else { return ([], "") }
        var (all, asked, left) = (AgentAnswers(hook, questions), [AgentQuestion](), answers[...])
        while let question = all.next {
            asked.append(question)
            guard let answer = left.popFirst() else { return (asked, "") }
            all.add(answer)
        }
        #expect(left.isEmpty, "too many answers")
        return (asked, text(hook.output(all.given)))
    }

    // MARK: Permissions

    private static let suggestion =
        #"{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test"}],"behavior":"allow","destination":"localSettings"}"#

    /// As recorded, with fields that nobody here knows.
    private static func permission(_ event: String) -> String {
        #"{"session_id":"1f2e3d4c-aaaa","transcript_path":null,"cwd":"/home/me/site","permission_mode":"default","#
            + #""hook_event_name":"\#(event)","turn_id":"t1","model":"m","effort":{"level":"high"},"tool_use_id":"toolu_1","#
            + #""tool_name":"Bash","tool_input":{"command":"npm test","description":"Runs the tests"},"#
            + #""permission_suggestions":[\#(suggestion)]}"#
    }

    private static func decision(_ text: String) -> String {
        #"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":"# + text + "}}"
    }

    private static func verdict(_ text: String) -> String {
        #"{"hookSpecificOutput":{"hookEventName":"PreToolUse","# + text + "}}"
    }

    private static let table: [(CodingAgent, String, String?, String)] = [
        (.claude, "PermissionRequest", "allow", decision(#"{"behavior":"allow"}"#)),
        (.claude, "PermissionRequest", "allow for 1 h", decision(#"{"behavior":"allow"}"#)),
        (
            .claude, "PermissionRequest", "always allow",
            decision(#"{"behavior":"allow","updatedPermissions":["# + suggestion + "]}")
        ),
        (
            .claude, "PermissionRequest", "deny",
            decision(
                #"{"behavior":"deny","message":"The user denied this through Belfry.","interrupt":false}"#)
        ),
        (.claude, "PermissionRequest", nil, ""),
        (.claude, "PreToolUse", "allow", verdict(#""permissionDecision":"allow""#)),
        (.claude, "PreToolUse", "allow for 1 h", verdict(#""permissionDecision":"allow""#)),
        (
            .claude, "PreToolUse", "deny",
            verdict(
                #""permissionDecision":"deny","permissionDecisionReason":"The user denied this through Belfry.""#
            )
        ),
        (.claude, "PreToolUse", nil, ""),
        (.codex, "PermissionRequest", "allow", decision(#"{"behavior":"allow"}"#)),
        (.codex, "PermissionRequest", "allow for 1 h", decision(#"{"behavior":"allow"}"#)),
        (.codex, "PermissionRequest", "always allow", ""),
        (
            .codex, "PermissionRequest", "deny",
            decision(#"{"behavior":"deny","message":"The user denied this through Belfry."}"#)
        ),
        (.codex, "PermissionRequest", nil, ""),
    ]

    @Test(arguments: table.indices) func `is answered byte for byte, or not at all`(index: Int) throws {
        let (agent, event, answer, output) = Self.table[index]
        let run = try run(agent, Self.permission(event), answer.map { [$0] } ?? [])
        #expect(run.output == output)
        #expect(run.asked.count == 1)
        let hasSuggestions = agent == .claude && event == "PermissionRequest"
        #expect(
            run.asked.first?.choices
                == ["allow", "deny", "allow for 1 h"] + (hasSuggestions ? ["always allow"] : []))
    }

    @Test func `shows all that is allowed by the answer`() throws {
        let payload = Self.permission("PermissionRequest").replacing(
            #""command":"npm test","#,
            with: #""command":"npm test","timeout":60000,"dangerouslyDisableSandbox":true,"#)
        let asked = try run(.claude, payload, ["deny"]).asked
        #expect(
            asked.map(\.text) == [
                "claude wants to use Bash:\nnpm test\n{\"dangerouslyDisableSandbox\":true}\nRuns the tests"
            ])
    }

    @Test func `is put off only in a run that may wait`() throws {
        let call = try hook(.claude, Self.permission("PreToolUse"))
        let environment = ["BELFRY_PARKS": "1", "BELFRY_RUN_ID": "r-1"]
        let place = try #require(call.parking(in: environment))
        #expect(place.run == "r-1" && place.call == "toolu_1")
        #expect(call.parking(in: ["BELFRY_RUN_ID": "r-1"]) == nil)
        #expect(call.parking(in: ["BELFRY_PARKS": "1"]) == nil)
        #expect(try hook(.claude, Self.permission("PermissionRequest")).parking(in: environment) == nil)
        #expect(try hook(.codex, Self.permission("PreToolUse")).parking(in: environment) == nil)
        #expect(text(AgentHook.deferral) == Self.verdict(#""permissionDecision":"defer""#))
    }

    // MARK: Answers given elsewhere

    @Test func `is settled by the call that was allowed at the terminal, and by what ends the turn`() throws {
        let asked = try #require(try run(.claude, Self.permission("PermissionRequest"), []).asked.first)
        func settled(_ event: String, _ agent: CodingAgent = .claude) throws -> (String, String?)? {
            try hook(agent, Self.permission(event).replacing("Runs the tests", with: "Tests")).settled
        }
        for event in ["PostToolUse", "PostToolUseFailure"] {
            let call = try #require(try settled(event))
            #expect(call.0 == "1f2e3d4c-aaaa" && call.1 == asked.about, "\(event)")
        }
        for event in ["Stop", "StopFailure", "UserPromptSubmit", "SessionEnd"] {
            let all = try #require(try settled(event))
            #expect(all.0 == "1f2e3d4c-aaaa" && all.1 == nil, "\(event)")
        }
        for event in ["PermissionRequest", "PreToolUse", "Notification", "SubagentStop"] {
            #expect(try settled(event) == nil, "\(event)")
        }
        #expect(try settled("Stop", .codex) == nil)
        let other = try hook(.claude, Self.permission("PostToolUse").replacing("npm test", with: "npm  test"))
        #expect(other.settled?.about != asked.about)
    }

    @Test func `names its own questions without the answers that they got`() throws {
        func about(_ event: String, _ answers: String) throws -> String? {
            let payload =
                #"{"hook_event_name":"\#(event)","session_id":"s","tool_name":"AskUserQuestion","tool_input":"#
                + #"{"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"b"}]}]\#(answers)}}"#
            if case .ask(let questions)? = try hook(.claude, payload).task { return questions.first?.about }
            return try hook(.claude, payload).settled?.about
        }
        let asked = try about("PreToolUse", "")
        #expect(asked != nil)
        #expect(try about("PostToolUse", #","answers":{"Which?":"a"}"#) == asked)
    }

    @Test func `is left to the agent where it asks more than anybody answers`() throws {
        func list(_ count: Int, _ one: (Int) -> String) -> String {
            (0..<count).map(one).joined(separator: ",")
        }
        func form(_ count: Int) -> String {
            Self.form("{\"properties\":{\(list(count) { #""f\#($0)":{"type":"string"}"# })}}")
        }
        func call(_ count: Int) -> String {
            let asked = list(count) { #"{"question":"\#($0)?","options":[{"label":"a"},{"label":"b"}]}"# }
            return
                #"{"hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_input":{"questions":[\#(asked)]}}"#
        }
        #expect(try hook(.claude, form(50)).task != nil && hook(.claude, call(50)).task != nil)
        #expect(try hook(.claude, form(51)).task == nil && hook(.claude, call(51)).task == nil)
    }

    // MARK: Forms

    private static func form(_ schema: String, _ more: String = "") -> String {
        #"{"hook_event_name":"Elicitation","mcp_server_name":"db","message":"Connect","mode":"form"\#(more),"#
            + #""requested_schema":\#(schema)}"#
    }

    private static func answered(_ action: String, _ content: String = "{}") -> String {
        #"{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"\#(action)","content":\#(content)}}"#
    }

    private static let several = form(
        #"{"type":"object","properties":{"#
            + #""host":{"type":"string","title":"Host","description":"Where it runs","minLength":2,"maxLength":20},"#
            + #""port":{"type":"integer","minimum":1,"maximum":65535},"#
            + #""ratio":{"type":"number"},"#
            + #""mode":{"type":"string","enum":["ro","rw"],"enumNames":["read","write"]},"#
            + #""parts":{"type":"array","items":{"anyOf":[{"const":"a","title":"Alpha"},{"const":"b","title":"Beta"}]},"minItems":1},"#
            + #""sure":{"type":"boolean"}},"required":["host","port","mode","sure"]}"#)

    @Test func `of several fields is one question after another, each with its kind`() throws {
        let run = try run(
            .claude, Self.several, ["db1", "5432", "skip", "write", "Beta, alpha", "no"])
        #expect(
            run.output
                == Self.answered(
                    "accept", #"{"host":"db1","port":5432,"mode":"rw","parts":["b","a"],"sure":false}"#))
        #expect(
            run.asked.map(\.text) == [
                "db: Connect\n1 of 6: Host\nWhere it runs", "db: Connect\n2 of 6: port",
                "db: Connect\n3 of 6: ratio", "db: Connect\n4 of 6: mode",
                "db: Connect\n5 of 6: parts\n(several are possible, as Alpha,Beta)",
                "db: Connect\n6 of 6: sure",
            ])
        let ends = ["decline", "cancel"]
        #expect(
            run.asked.map(\.choices) == [
                ends, ends, ["skip"] + ends, ["read", "write"] + ends, ["Alpha", "Beta", "skip"] + ends,
                ["yes", "no"] + ends,
            ])
        #expect(run.asked.map(\.takesText) == [true, true, true, false, true, false])
    }

    @Test(arguments: [
        (["d"], "Host: \"d\" is too short: it has at least 2 characters"),
        ([String(repeating: "d", count: 21)], "Host: it has at most 20 characters"),
        (["db1", "many"], "port: \"many\" is no whole number"),
        (["db1", "1.5"], "port: \"1.5\" is no whole number"),
        (["db1", "0"], "port: 0 is less than 1"), (["db1", "65536"], "port: 65536 is more than 65535"),
        (["db1", "1", "inf"], "ratio: \"inf\" is no number"),
        (["db1", "1", "0.5", "read", "Gamma"], "parts: \"Gamma\" is not one of the choices"),
        (["db1", "1", "0.5", "read", ","], "parts: choose 1 to 2 of them"),
    ])
    func `asks again, with a sentence, what was answered badly`(answers: [String], sentence: String) throws {
        let run = try run(.claude, Self.several, answers)
        let last = try #require(run.asked.last)
        #expect(last.text.hasPrefix("Not accepted: \(sentence).\ndb: Connect\n"), "\(last.text)")
        #expect(run.asked.count == answers.count + 1 && run.output.isEmpty)
    }

    @Test(arguments: [
        (#""format":"email""#, "ops@example.org", "ops", "is no mail address, such as ops@example.org"),
        (#""format":"email""#, "a@b", "a@b..c", "is no mail address, such as ops@example.org"),
        (
            #""format":"uri""#, "https://example.org/a?b", "example.org",
            "is no address, such as https://example.org/a"
        ),
        (#""format":"date""#, "2028-02-29", "2026-02-29", "is no date, such as 2026-03-29"),
        (
            #""format":"date-time""#, "2026-03-29T03:00:00+02:00", "2026-03-29",
            "is no date with a time and an offset, such as 2026-03-29T03:00:00Z"
        ),
        (#""pattern":"^[A-Z]{3}-[0-9]+$""#, "OPS-17", "ops-17", "does not match ^[A-Z]{3}-[0-9]+$"),
    ])
    func `of a text takes what has its shape alone`(
        _ rule: String, fits: String, other: String, sentence: String
    ) throws {
        let payload = Self.form(
            #"{"properties":{"to":{"type":"string","title":"To",\#(rule)}},"required":["to"]}"#)
        #expect(try run(.claude, payload, [fits]).output == Self.answered("accept", #"{"to":"\#(fits)"}"#))
        let refused = try run(.claude, payload, [other])
        #expect(refused.output.isEmpty)
        let text = refused.asked.last?.text ?? ""
        #expect(text.hasPrefix("Not accepted: To: \"\(other)\" \(sentence).\n"), "\(text)")
    }

    @Test func `is asked again also where the question is as long as one may be`() throws {
        let title = String(repeating: "t", count: 2000), about = String(repeating: "a", count: 1987)
        let payload = Self.form(
            #"{"properties":{"n":{"type":"integer","title":"\#(title)","description":"\#(about)"}}}"#)
        let run = try run(.claude, payload, ["many"])
        #expect(run.asked.map(\.text.count) == [4000, 4000])
        #expect(run.asked[1].text.hasPrefix("Not accepted: ttt"))
        #expect(run.asked[1].text.contains("\"many\" is no whole number.\ndb: Connect\n"))
    }

    @Test func `leaves a pattern that is not known here to whoever asks`() throws {
        let payload = Self.form(
            #"{"properties":{"to":{"type":"string","pattern":"(?=a)b","format":"ipv6"}}}"#)
        #expect(try run(.claude, payload, ["x"]).output == Self.answered("accept", #"{"to":"x"}"#))
    }

    @Test func `ends where it is declined or cancelled, and asks nothing else`() throws {
        for action in ["decline", "cancel"] {
            let run = try run(.claude, Self.several, ["db1", action])
            #expect(run.asked.count == 2 && run.output == Self.answered(action))
        }
    }

    @Test func `of one field or none is one question`() throws {
        let flag = #"{"type":"object","properties":{"sure":{"type":"boolean"}}}"#
        #expect(
            try run(.claude, Self.form(flag), ["yes"]).output == Self.answered("accept", #"{"sure":true}"#))
        let empty = try run(.claude, Self.form(#"{"type":"object","properties":{}}"#), ["accept"])
        #expect(empty.output == Self.answered("accept"))
        #expect(empty.asked.map(\.choices) == [["accept", "decline", "cancel"]])
        let name = #"{"type":"object","properties":{"n":{"type":"string","title":"Name"}}}"#
        let text = try run(.claude, Self.form(name), [#"a "b""#])
        #expect(text.output == Self.answered("accept", #"{"n":"a \"b\""}"#))
        #expect(text.asked.map(\.text) == ["db: Connect\nName"])
    }

    @Test(arguments: [
        form(#"{"properties":{"a":{"type":"object"}}}"#), form(#"{"properties":[]}"#),
        form(#"{"properties":{"a":{"type":"string","enum":["decline","b"]}}}"#),
        form(#"{"properties":{"a":{"enum":["x","X"]}}}"#), form(#"{"properties":{"a":{"enum":[1,2]}}}"#),
        form(#"{"properties":{"a":{"type":"string"}}}"#).replacing("\"form\"", with: "\"url\""),
        form(#"{"properties":{"a":{"enum":["1","2","3","4","5","6","7","8","9"]}}}"#),
    ])
    func `is left to the agent where it can't be asked as it stands`(payload: String) throws {
        #expect(try hook(.claude, payload).task == nil)
    }
}
