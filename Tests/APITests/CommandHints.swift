import API
import TestSupport
import Testing

@Suite struct `a mistake on the command line` {
    @Test(arguments: [
        (
            "job add 'My Job' -- true",
            "\"My Job\" is not a valid job name: a name begins with a-z or 0-9. Write my-job."
        ),
        (
            "job add new --cron 'every day at 9' -- true",
            "the value 'every day at 9' of --cron is a phrase, not an expression. Write --words 'every day at 9'."
        ),
        (
            "job add new --notify success -- true",
            "\"success\" is not known here; did you mean \"completed\"?"
        ),
        ("job add new --overlap skp -- true", "\"skp\" is not known here; did you mean \"skip\"?"),
        ("exec --name 'My Job' -- true", "a name begins with a-z or 0-9; write my-job"),
    ]) func `is shown with what to write instead`(words: String, text: String) async throws {
        let answer = try await CommandRun().belfry("\(words)")
        #expect(answer.status != 0 && answer.errors.contains(text), "\(answer.errors)")
    }

    @Test func `prints nothing that acts on a terminal`() async throws {
        for words in [
            "job add \"$(printf '\\033[31mMy \\007Job')\" -- true",
            "exec --name \"$(printf '\\033[31mMy Job')\" -- true",
            "\"$(printf '\\033[31mzz')\"", "status \"$(printf '\\033[31mzz')\"",
        ] {
            let answer = try await CommandRun().belfry(words)
            #expect(answer.status != 0 && !answer.errors.isEmpty)
            #expect(
                !answer.errors.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" }, "\(answer.errors)")
            #expect(!answer.errors.contains("[31m"), "\(answer.errors)")
        }
    }

    @Test func `names the job that begins with what was typed`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "check.sh", "--", "true")
            for words in [["job", "export", "check"], ["job", "show", "check"]] {
                let answer = try await house.belfry(words)
                #expect(answer.errors == "belfry: no job \"check\". Did you mean \"check.sh\"?\n")
            }
        }
    }

    @Test func `needs four runs to show where the time of a job goes`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "quick", "--", "true")
            for count in 1...4 {
                _ = try await house.belfry("run", "quick", "--follow")
                let words = try await house.belfry("job", "history", "quick", "--profile").output
                let few = count == 1 ? "1 completed run is" : "\(count) completed runs are"
                #expect(words.hasPrefix(few) == (count < 4), "\(words)")
                guard count == 4 else { continue }
                #expect(words.contains("\nall    under 1 s  under 1 s"), "\(words)")
            }
            let answer = try await house.belfry("job", "history", "quick", "--profile", "--json")
            let profile = try WireCoding.decode(WireProfile.self, from: answer.output.utf8)
            #expect(profile.runs == 4 && profile.parts.isEmpty && profile.slow == nil)
            #expect(profile.usualMs != nil)
        }
    }

    @Test func `is no short -n where a list has --limit`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "quick", "--", "true")
            for _ in 1...2 { _ = try await house.belfry("run", "quick", "--follow") }
            let runs = try await house.belfry("runs", "-n", "1", "--json")
            #expect(try WireCoding.decode([WireRun].self, from: runs.output.utf8).map(\.name) == ["quick#2"])
            #expect(try await house.belfry("job", "history", "quick", "-n", "1").status == 0)
        }
    }
}
