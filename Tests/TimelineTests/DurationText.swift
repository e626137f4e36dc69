import Testing
import Timeline

@Suite struct `a duration as text` {
    @Test(arguments: [
        ("90s", Duration.seconds(90)), ("15m", .seconds(900)), ("2h", .seconds(7200)),
        ("7d", .seconds(604_800)),
        ("1h30m", .seconds(5400)), ("1w2d", .seconds(777_600)), ("250ms", .milliseconds(250)), ("0s", .zero),
        ("1s500us", .microseconds(1_000_500)),
    ]) func `adds up its units`(text: String, duration: Duration) throws {
        #expect(try Duration(text: text) == duration)
    }

    @Test func `is written as it is read`() throws {
        for text in ["1m30s", "15m", "2h", "7d", "1h30m", "250ms", "0s", "1d1s1us"] {
            #expect(try Duration(text: text).text == text)
        }
        #expect(Duration.seconds(-90).text == "-1m30s")
        #expect(try Duration(text: "2w").text == "14d")
    }

    @Test(arguments: [
        ("", 0..<0), ("15", 0..<2), ("m", 0..<1), ("1h 30m", 2..<3), ("30m1h", 3..<5), ("1m1m", 2..<4),
        ("1x", 1..<2), ("1h30", 2..<4), ("-5m", 0..<1), ("999999999999w", 0..<13), ("1.5h", 0..<2),
    ]) func `points at what is wrong`(text: String, range: Range<Int>) {
        let error = #expect(throws: TimelineError.self) { try Duration(text: text) }
        #expect(error?.range == range)
    }
}
