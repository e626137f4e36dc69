import Foundation
import Glibc
import TestSupport
import Testing
import Timeline

/// Jobs whose bot is Claude and asks a person: its process ends meanwhile, and is resumed with the answer.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a job whose bot asks a person` {
    private static let questions =
        #"[{"question":"Which disk?","header":"Disk","options":[{"label":"attic"},{"label":"cellar"}],"multiSelect":false},"#
        + #"{"question":"When?","header":"Time","options":[{"label":"now"},{"label":"later"}],"multiSelect":false}]"#

    /// Does what Claude does: calls its hook before the tool, ends where that puts the call off, and calls it again when
    /// it is resumed.
    private static func claude(_ belfry: String) -> String {
        #"""
        #!/bin/sh
        echo "call $*" >> calls
        cat > prompt
        echo '{"type":"system","subtype":"init","session_id":"s-1"}'
        cat > payload <<'END'
        {"session_id":"s-1","cwd":"/srv/site","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_use_id":"toolu_1","tool_input":{"questions":\#(questions)}}
        END
        out=$(\#(belfry) confirm --hook claude --wait 1ms < payload)
        printf '%s\n' "$out" >> decisions
        case "$out" in *'"defer"'*)
            echo '{"type":"result","subtype":"success","is_error":false,"stop_reason":"tool_deferred","session_id":"s-1","deferred_tool_use":{"id":"toolu_1","name":"AskUserQuestion","input":{}},"result":""}'
            exit 0;;
        esac
        echo '{"type":"result","subtype":"success","is_error":false,"result":"Done."}'
        """#
    }

    private func start(clock: FakeClock? = nil, in folder: TemporaryFolder) async throws -> Belfry {
        let belfry = try Belfry(
            """
            bots:
              cc: { backend: { kind: command, command: [sh, bot.sh], output: claude } }
            jobs:
              backup: { schedule: manual, bot: cc, prompt: "Back up." }
            """, clock: clock, in: folder)
        try belfry.write(Self.claude(BuiltProgram.path("belfry")) + "\n", to: "bot.sh")
        try await belfry.start()
        return belfry
    }

    private static let deferral =
        #"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}"#

    @Test(.enabled("needs libfaketime, of Debian's package faketime") { FakeClock.library != nil })
    func `is resumed once with the answers, after a kill of all and two days`() async throws {
        let folder = try TemporaryFolder()
        let clock = try FakeClock(Moment(iso8601: "2027-01-05T10:00:00Z"), in: folder)
        let belfry = try await start(clock: clock, in: folder)
        try await belfry.run("run", "backup")
        _ = try await belfry.logged("a run waits for a person")
        let run = try await belfry.json("run", "show", "backup#1")
        #expect(run["state"].text == "blocked" && run["live"]["blockedKind"].text == "question")
        #expect(run["waitsFor"]["kind"].text == "question")
        let warden = try #require(try await belfry.json("status")["warden"]["pid"].integer)
        try await belfry.kill()
        kill(pid_t(warden), SIGKILL)
        try clock.set(to: Moment(iso8601: "2027-01-07T10:00:00Z"))
        try await belfry.start()
        #expect(try await belfry.json("run", "show", "backup#1")["state"].text == "blocked")
        let asked = try await belfry.json("questions").list.reversed()
        #expect(asked.map { $0["text"].text } == ["Which disk?", "When?"])
        #expect(asked.map { $0["run"].text } == ["backup#1", "backup#1"])
        for (question, answer) in zip(asked, ["attic", "later"]) {
            #expect(try await belfry.run("answer", question["id"].text ?? "", answer).code == 0)
        }
        #expect(try await belfry.ended("backup#1")["state"].text == "completed")
        #expect(belfry.lines(of: "calls") == ["call ", "call --resume s-1"])
        let decision =
            #"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"questions":"#
            + Self.questions + #","answers":{"Which disk?":"attic","When?":"later"}}}}"#
        #expect(belfry.lines(of: "decisions") == [Self.deferral, decision])
        #expect(try await belfry.json("run", "show", "backup#1")["attempt"].integer == 2)
        #expect(try await belfry.json("messages", "cc").list.map { $0["text"].text } == ["Done."])
    }

    @Test func `withdraws its questions when it is cancelled`() async throws {
        let belfry = try await start(in: try TemporaryFolder())
        try await belfry.run("run", "backup")
        _ = try await belfry.logged("a run waits for a person")
        #expect(try await belfry.run("run", "cancel", "backup#1").code == 0)
        #expect(try await belfry.ended("backup#1")["state"].text == "canceled")
        try await belfry.until { try await belfry.json("questions").list.isEmpty }
        let closed = try await belfry.json("questions", "--all").list
        #expect(closed.map { $0["state"].text } == ["withdrawn", "withdrawn"])
        #expect(belfry.lines(of: "decisions") == [Self.deferral])
    }

    @Test func `is told when a person withdraws its question`() async throws {
        let belfry = try await start(in: try TemporaryFolder())
        try await belfry.run("run", "backup")
        _ = try await belfry.logged("a run waits for a person")
        for question in try await belfry.json("questions").list {
            try await belfry.run("answer", question["id"].text ?? "", "--withdraw")
        }
        #expect(try await belfry.ended("backup#1")["state"].text == "completed")
        let refused =
            #"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The user withdrew this question through Belfry."}}"#
        #expect(belfry.lines(of: "decisions") == [Self.deferral, refused])
    }
}
