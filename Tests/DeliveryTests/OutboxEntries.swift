import Delivery
import TestSupport
import Testing
import Timeline

private let start = Moment(seconds: 1_700_000_000)
private let policy = RetryPolicy()
private let accepted = Receipt(at: start, kind: .accepted, status: 200)
private let down = DeliveryError.retry(.connectFailed, detail: "connection refused")

extension OutboxEntry {
    /// One more end of an attempt, in the middle of the jitter.
    fileprivate mutating func end(
        _ result: Result<Receipt, DeliveryError>, at now: Moment = start, policy: RetryPolicy = RetryPolicy()
    ) -> OutboxOutcome {
        attempted(result, at: now, policy: policy, random: 0.5)
    }
}

@Suite struct `an outbox entry` {
    @Test func `is due at once and delivered by a receipt`() {
        var entry = OutboxEntry(createdAt: start)
        #expect(entry.dueAt(start, policy: policy) == start)
        #expect(entry.end(.success(accepted), at: start + .seconds(1)) == .delivered(accepted))
        #expect(entry.state == .delivered)
        #expect(entry.attempts == 1)
        #expect(entry.nextAt == nil)
        #expect(entry.settledAt == start + .seconds(1))
    }

    @Test func `is tried ten times within 76 hours and is dead then`() {
        var entry = OutboxEntry(createdAt: start)
        var now = start
        var waits: [Int64] = []
        while case .retry(let at, _) = entry.end(.failure(down), at: now) {
            waits.append((at - now).milliseconds / 1000)
            now = at
        }
        #expect(waits == [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])
        #expect(now - start == .seconds(75 * 3600 + 35 * 60 + 5))
        #expect(entry.state == .dead)
        #expect(entry.attempts == 10)
        #expect(entry.settledAt == now)
    }

    @Test func `is dead at once when the other side will never take it`() {
        var entry = OutboxEntry(createdAt: start)
        let no = DeliveryError.giveUp(.rejected, detail: "no", status: 400)
        #expect(entry.end(.failure(no)) == .dead(no))
        #expect(entry.state == .dead)
    }

    @Test func `waits for a person when its channel wants nothing more`() {
        var entry = OutboxEntry(createdAt: start)
        let gone = DeliveryError.giveUp(.gone, status: 410)
        #expect(entry.end(.failure(gone)) == .waiting(gone))
        #expect(entry.state == .waiting)
        #expect(entry.dueAt(start, policy: policy) == nil)
        #expect(entry.retry(at: start + .seconds(9)) == true)
        #expect(entry.dueAt(start, policy: policy) == start + .seconds(9))
    }

    @Test func `does not count an attempt that the daemon broke off`() {
        var entry = OutboxEntry(createdAt: start)
        #expect(entry.end(.failure(.retry(.stopping))) == .uncounted)
        #expect(entry == OutboxEntry(createdAt: start))
    }

    @Test func `gets one more attempt by hand when dead, not a new schedule`() {
        var entry = OutboxEntry(state: .dead, attempts: 10, createdAt: start, settledAt: start)
        #expect(entry.retry(at: start + .seconds(60)) == true)
        #expect(entry.nextAt == start + .seconds(60))
        #expect(entry.settledAt == nil)
        #expect(entry.end(.failure(down)) == .dead(down))
    }

    @Test(arguments: OutboxState.allCases)
    func `can be retried and discarded exactly where its state allows it`(_ state: OutboxState) {
        var retried = OutboxEntry(state: state, createdAt: start)
        var discarded = retried
        let isOpen = [.pending, .waiting, .held, .dead, .expired].contains(state)
        let (mayRetry, mayDiscard) = (retried.retry(at: start), discarded.discard(at: start))
        #expect(mayRetry == isOpen)
        #expect(mayDiscard == isOpen)
        #expect(retried.state == (isOpen ? .pending : state))
        #expect(discarded.state == (isOpen ? .discarded : state))
    }

    @Test func `is not stranded by a clock that was set back`() {
        let entry = OutboxEntry(attempts: 1, nextAt: start + .seconds(5), createdAt: start)
        let past = start - .seconds(400 * 86_400)
        let due = entry.dueAt(past, policy: policy)
        #expect(due == past + policy.longestWait)
    }

    @Test(arguments: OutboxState.allCases)
    func `never leaves a state that is final`(_ state: OutboxState) {
        let ways = OutboxState.allCases.filter(state.canBecome)
        switch state {
        case .delivered, .suppressed, .superseded, .discarded: #expect(ways.isEmpty)
        case .pending, .waiting, .held, .dead, .expired: #expect(ways.contains(.discarded))
        }
        #expect(!ways.contains(state))
        #expect(state.isSettled == ![.pending, .waiting, .held].contains(state))
    }
}

@Suite struct `the wait before another attempt` {
    private func seconds(_ attempt: Int, _ error: DeliveryError, _ random: Double = 0.5) -> Double? {
        policy.wait(afterAttempt: attempt, error, random: random).map { Double($0.milliseconds) / 1000 }
    }

    @Test func `is spread by a fifth either way`() {
        #expect(seconds(2, down, 0) == 240)
        #expect(seconds(2, down, 0.5) == 300)
        #expect(seconds(2, down, 0.999_999_999) == 359.999)
    }

    @Test func `is at least a minute after "too many"`() {
        #expect(seconds(1, .retry(.throttled)) == 60)
        #expect(seconds(2, .retry(.throttled)) == 300)
    }

    @Test(arguments: [
        (1, 2.0, 5.0), (1, 20.0, 20.0), (1, 90_000.0, 3600.0), (4, 10_000.0, 10_000.0),
        (4, 90_000.0, 14_400.0),
    ])
    func `follows what the other side asks for, in bounds`(_ attempt: Int, _ asked: Double, _ wait: Double) {
        let error = DeliveryError.retry(.serverError, after: .milliseconds(Int64(asked * 1000)), status: 503)
        #expect(seconds(attempt, error) == wait)
    }

    @Test func `is never shorter than asked for, whatever the jitter`() {
        let error = DeliveryError.retry(.throttled, after: .seconds(100), status: 429)
        #expect(seconds(1, error, 0) == 100)
    }

    @Test func `ends after the last of the schedule`() {
        #expect(seconds(9, down) == 86_400)
        #expect(seconds(10, down) == nil)
        #expect(seconds(0, down) == nil)
    }

    @Test func `never exceeds the longest there can be`() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<5000 {
            let error = DeliveryError.retry(
                Bool.random(using: &random) ? .throttled : .timeout,
                after: .seconds(Int.random(in: 0...1_000_000, using: &random)))
            let attempt = Int.random(in: 1...9, using: &random)
            let wait = policy.wait(
                afterAttempt: attempt, error, random: Double.random(in: 0..<1, using: &random))
            #expect((wait ?? .zero) > .zero && (wait ?? .zero) <= policy.longestWait)
        }
    }
}

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
