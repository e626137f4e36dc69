import Foundation
import Testing

/// Issue 10, 1: what is printed and can't be written is a failure with a sentence, wherever it is printed.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `output that can't be written` {
    private static let sentence = "standard output can't be written: No space left on device"

    @Test func `fails every command, with the reason`() async throws {
        let belfry = try await Belfry.start(
            "jobs: { talk: { schedule: manual, shell: 'echo something' } }")
        #expect(try await belfry.run("run", "talk", "--follow").code == 0)
        for words in [
            "run logs talk#1", "run logs -f talk#1", "job list --json", "job list", "status",
            "status --json",
            "runs", "events --since 0", "events --since 0 --json", "watch talk#1", "watch talk#1 --json",
            "run talk", "run talk --follow", "job show talk", "channel list", "outbox", "doctor",
            "config show",
            "--help", "run --help", "--generate-completion-script bash", "--version",
        ] {
            let answer = try await belfry.shell("belfry \(words) >/dev/full")
            #expect(answer.code == 1, "\(words): \(answer)")
            #expect(answer.errors.contains(Self.sentence), "\(words): \(answer)")
        }
        let json = try await belfry.shell("belfry job list --json >/dev/full")
        #expect(try JSON(json.errors)["error"]["kind"].text == "outputLost")
    }

    @Test func `fails commands that need no daemon`() async throws {
        let belfry = try Belfry()
        for words in [
            "belfry cron next '0 3 * * *'", "belfry cron explain '0 3 * * *'",
            "belfry cron words 'every day at 3'", "belfry cron check '0 3 * * *' --json",
            #"echo '{"id":"a","expr":"0 3 * * *"}' | belfry cron next --stdin"#,
            "belfryd --check --config belfry.yaml", "belfryd --help", "belfryd --version", "belfryd listen",
        ] {
            let answer = try await belfry.shell("\(words) >/dev/full")
            #expect(answer.code == 1, "\(words): \(answer)")
            #expect(answer.errors.contains(Self.sentence), "\(words): \(answer)")
        }
    }

    @Test func `is a failure with a sentence also where the stream is closed`() async throws {
        let belfry = try await Belfry.start()
        for words in ["belfry status", "belfry cron next '0 3 * * *'", "belfryd --version"] {
            let answer = try await belfry.shell("\(words) >&-")
            #expect(answer.code == 1, "\(words): \(answer)")
            #expect(
                answer.errors.contains("standard output can't be written: Bad file descriptor"),
                "\(words): \(answer)")
        }
    }

    @Test func `is no fault when nobody reads it any more, and ends the command`() async throws {
        let belfry = try await Belfry.start()
        let answer = try await belfry.shell(
            """
            mkfifo gone; trap '' PIPE
            { read line <gone; belfry status --json; echo $? >code; } | { exec <&-; echo >gone; }; cat code
            """)
        #expect(answer.lines == ["141"] && answer.errors.isEmpty, "\(answer)")
    }
}
