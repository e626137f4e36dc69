import Testing

/// The commands that need no daemon.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `the cron commands` {
    private let inBerlin = ["30 2 * * *", "--zone", "Europe/Berlin"]

    @Test func `look ahead and back over a change of the clock`() async throws {
        let belfry = try Belfry()
        let next = try await belfry.run(
            "belfry", ["cron", "next"] + inBerlin + ["--from", "2026-03-28T00:00Z", "-n", "3", "--json"])
        #expect(try next.json().keys == ["expression", "zone", "occurrences", "warnings"])
        #expect(
            try next.json()["occurrences"].list.map(\.text) == [
                "2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00",
            ])
        let back = try await belfry.run(
            "belfry", ["cron", "prev"] + inBerlin + ["--from", "2026-03-30T00:00Z", "-n", "2"])
        #expect(back.lines == ["2026-03-29T03:00:00+02:00", "2026-03-28T02:30:00+01:00"])
        let never = try await belfry.json("cron", "next", "0 0 30 2 *", "--zone", "UTC")
        #expect(never["occurrences"].list.isEmpty)
    }

    @Test func `draw what is wrong under the text`() async throws {
        let belfry = try Belfry()
        #expect(try await belfry.run("cron", "check", "*/5 * * * *").code == 0)
        let bad = try await belfry.run("cron", "check", "0 25 * * *")
        #expect(bad.code == 1)
        #expect(bad.bytes.isEmpty)
        #expect(bad.errors.contains("0 25 * * *\n  ^^ "))
        let asJSON = try await belfry.run("cron", "check", "0 25 * * *", "--json")
        #expect(asJSON.code == 1)
        #expect(asJSON.text.contains("\"hour\""))
    }

    @Test func `put an expression into words, and words as an expression`() async throws {
        let belfry = try Belfry()
        let words = try await belfry.json("cron", "words", "every weekday at 9:30", "--zone", "UTC")
        #expect(words["expression"].text == "30 9 * * 1-5")
        let explained = try await belfry.json("cron", "explain", "30 9 * * 1-5", "--zone", "UTC")
        #expect(explained["words"] == words["words"])
        #expect(explained["occurrences"].list.count == 3)
        let unknown = try await belfry.run("cron", "words", "whenever you like")
        #expect(unknown.code == 1)
        #expect(unknown.errors.contains("not understood"))
    }

    @Test func `answer in bulk, in order, every line`() async throws {
        let belfry = try Belfry()
        let lines = """
            {"id":1,"expr":"0 25 * * *"}
            {"id":"b","expr":"0 0 * * *","zone":"UTC","from":"2026-01-01T00:00Z","n":2}
            rubbish
            {"id":3,"expr":"0 0 * * *","zone":"UTC","from":"2026-01-01T00:00Z","n":1,"direction":"prev"}
            """
        let answer = try await belfry.run("cron", "next", "--stdin", input: lines)
        #expect(answer.code == 0)
        let answers = try answer.lines.map { try JSON($0) }
        #expect(answers.count == 4)
        #expect(answers[0]["error"]["field"].text == "hour")
        #expect(answers[0]["error"]["start"].integer == 2)
        #expect(
            answers[1]["occurrences"].list.map(\.text) == [
                "2026-01-02T00:00:00+00:00", "2026-01-03T00:00:00+00:00",
            ])
        #expect(answers[2]["error"] != nil)
        #expect(answers[3]["id"].integer == 3)
        #expect(answers[3]["occurrences"].list.map(\.text) == ["2025-12-31T00:00:00+00:00"])
    }
}
