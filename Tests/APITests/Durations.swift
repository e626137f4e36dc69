import TestSupport
import Testing
import Timeline

@testable import belfry

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
