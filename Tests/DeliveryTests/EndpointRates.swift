import Delivery
import Testing
import Timeline

@Suite struct `the rate of an address` {
    @Test(arguments: [
        ("20/m", 20, Duration.seconds(3)), ("1/s", 1, .seconds(1)), ("5/2s", 5, .milliseconds(400)),
        ("60/1h", 60, .seconds(60)), ("1/d", 1, .seconds(86_400)),
    ])
    func `is a number and a time`(text: String, burst: Int, interval: Duration) {
        #expect(EndpointRate(text: text) == EndpointRate(burst: burst, interval: interval))
    }

    @Test(arguments: [
        "", "20", "/m", "0/m", "-1/m", "20/", "20/x", "20/m/m", "2000/s", "1/2d", "1.5/s", "1/0s",
    ])
    func `is nothing else`(text: String) { #expect(EndpointRate(text: text) == nil) }

    @Test func `lets a burst go at once, and one more in each interval`() {
        var rates = EndpointRates()
        let rate = EndpointRate(burst: 3, interval: .seconds(2))
        func wait(_ now: Duration) -> Duration { rates.wait(for: "a", rate, at: now) }
        for _ in 0..<3 {
            #expect(wait(.seconds(100)) == .zero)
            rates.take(for: "a", rate, at: .seconds(100))
        }
        #expect(wait(.seconds(100)) == .seconds(2))
        #expect(rates.wait(for: "b", rate, at: .seconds(100)) == .zero)
        #expect(wait(.milliseconds(101_500)) == .milliseconds(500))
        #expect(wait(.seconds(102)) == .zero)
        rates.take(for: "a", rate, at: .seconds(102))
        #expect(wait(.seconds(102)) == .seconds(2))
        #expect(wait(.seconds(200)) == .zero)
    }

    @Test func `is that of the service, unless the file names one or another server is asked`() throws {
        #expect(try Sample.ntfy().rate == EndpointRate(burst: 60, interval: .seconds(5)))
        #expect(try Sample.slack().rate == EndpointRate(burst: 3, interval: .seconds(1)))
        #expect(try Sample.mattermost().rate == nil)
        #expect(try Sample.discord().rate == EndpointRate(burst: 5, interval: .milliseconds(400)))
        #expect(try Sample.telegram().rate == EndpointRate(burst: 5, interval: .seconds(3)))
        #expect(try Sample.teams().rate == EndpointRate(burst: 4, interval: .milliseconds(250)))
        var values = FormValues()
        values["url"] = .address(try HTTPAddress("https://ntfy.sh/alerts"))
        values["rate"] = .word("1/m")
        #expect(try NtfyForm(values).rate == EndpointRate(burst: 1, interval: .seconds(60)))
        values["rate"] = .word("often")
        #expect(throws: FormError.self) { try NtfyForm(values) }
    }
}
