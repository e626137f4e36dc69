import Delivery
import Testing
import Timeline

@Suite struct `a Retry-After` {
    /// It is 1994-11-06T08:49:30Z.
    let now = Moment(seconds: 784_111_770)

    @Test(arguments: [
        ("0", 0.0), ("120", 120), ("1.5", 1.5), ("Sun, 06 Nov 1994 08:49:37 GMT", 7),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 7), ("Sun Nov  6 08:49:37 1994", 7),
        ("Sun, 06 Nov 1994 08:49:00 GMT", -30), ("Mon, 07 Nov 1994 08:49:30 GMT", 86_400),
        ("99999999999999999999", 1_000_000_000),
    ])
    func `is read as seconds or as any form of HTTP date`(text: String, seconds: Double) {
        #expect(RetryAfter.parse(text, now: now) == .seconds(seconds))
    }

    @Test(arguments: [
        "", "-1", "soon", "1e3", "0x10", "inf", "nan", "1.2.3", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 8 GMT x",
    ])
    func `is nothing else`(text: String) {
        #expect(RetryAfter.parse(text, now: now) == nil)
    }
}
