import API
import TestSupport
import Testing
import Timeline

@testable import belfry

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

@Suite struct `a duration on the command line` {
    @Test(
        arguments: [
            ("5", "m", "5m"), ("10", "s", "10s"), ("5 min", "m", "5m"), ("5MINUTES", "m", "5m"),
            ("1.5h", "m", "1h30m"),
            ("90 seconds", "m", "1m30s"), ("2 days", "m", "2d"), ("0.5", "m", "30s"), ("1 week", "s", "7d"),
            ("soon", "m", nil), ("", "m", nil), ("5x", "m", nil), ("-5", "m", nil), ("1e3", "m", nil),
            ("0", "m", nil),
            (".", "m", nil), ("99999999999999999999", "m", nil), ("5m5", "m", nil), ("1.2.3h", "m", nil),
        ] as [(String, String, String?)])
    func `that has no unit, or another way to say it, is answered with the right one`(
        text: String, unit: String, meant: String?
    ) {
        #expect(DurationArgument.meant(by: text, unit: unit) == meant)
        #expect(meant.map { (try? Duration(text: $0)) != nil } ?? true)
    }

    @Test(arguments: [
        ("job add a --every 5 -- true", "belfry: the value '5' is invalid for '--every': write 5m"),
        ("job add a --after 1.5h -- true", "belfry: the value '1.5h' is invalid for '--after': write 1h30m"),
        ("job add a --timeout 30 -- true", "belfry: the value '30' is invalid for '--timeout': write 30m"),
        (
            "job edit a --spread soon",
            "belfry: the value 'soon' is invalid for '--spread': write one such as 90s, 15m, 2h or 7d"
        ),
        ("status --wait 10", "belfry: the value '10' is invalid for '--wait': write 10s"),
        (
            "job add a --at 'tomorrow 8:00' -- true",
            "belfry: the value 'tomorrow 8:00' is invalid for '--at': "
        ),
        ("job add a --every 1h --from noon -- true", "belfry: the value 'noon' is invalid for '--from': "),
        ("runs --since yesterday", "belfry: the value 'yesterday' is invalid for '--since': "),
        ("job history a --at soon", "belfry: the value 'soon' is invalid for '--at': "),
        ("cron next '0 3 * * *' --from soon", "belfry: the value 'soon' is invalid for '--from': "),
    ])
    func `or a time that is refused is answered with what to write`(words: String, sentence: String)
        async throws
    {
        let answer = try await CommandRun().belfry(words)
        #expect(answer.status == 2)
        #expect(answer.errors.hasPrefix(sentence), "\(answer.errors)")
    }

    @Test func `of a time that a phrase can say is answered with the phrase`() async throws {
        let answer = try await CommandRun().belfry("job add a --at 'tomorrow 8:00' -- true")
        #expect(answer.errors.contains("--words 'tomorrow 8:00'"))
    }
}

@Suite struct `the numbers of lines` {
    @Test(arguments: [
        ([], ""), ([4], "4"), ([1, 2, 3, 7, 9, 10], "1-3, 7, 9-10"), (Array(1...5000), "1-5000"),
    ])
    func `are ranges where they are neighbours`(numbers: [Int], text: String) {
        #expect(LineNumbers.text(numbers) == text)
    }

    @Test func `are not listed without end`() {
        let text = LineNumbers.text((0..<500).map { $0 * 2 + 1 })
        #expect(text.hasPrefix("1, 3, 5, ") && text.hasSuffix(", 39 and 480 more"))
    }
}
