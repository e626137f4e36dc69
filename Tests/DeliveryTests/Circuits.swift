import Delivery
import Foundation
import Testing
import Timeline

private let start = Moment(seconds: 1_700_000_000)
private let accepted = Receipt(at: start, kind: .accepted)

/// Draws a circuit's life, a column every 10 s.
///
/// - In: `f` is a failure, `s` a success, `g` a 410, `q` an attempt broken off, `?` asks for permission,
///   `e` enables it by hand, `p` asks for a probe, `b` takes a permission back, `-` nothing. `f`, `s`, `g` and `q` end an attempt without asking for it first.
/// - Out: `F` failing, `D` disabled, `R` restored, `y` granted, `w` wait, `p` wait for the probe, `n`
///   refused.
private func expect(
    policy: CircuitPolicy = CircuitPolicy(), in input: String, out: String,
    at location: SourceLocation = #_sourceLocation
) throws {
    var circuit = Circuit()
    var output = ""
    for (column, character) in input.enumerated() {
        let now = start + .seconds(10 * column)
        circuit = try JSONDecoder().decode(Circuit.self, from: JSONEncoder().encode(circuit))
        output += step(&circuit, character, now, policy)
    }
    #expect(output == out, sourceLocation: location)
}

private func step(
    _ circuit: inout Circuit, _ character: Character, _ now: Moment, _ policy: CircuitPolicy
) -> String {
    let result: Result<Receipt, DeliveryError>
    switch character {
    case "f": result = .failure(.retry(.serverError, status: 500))
    case "g": result = .failure(.giveUp(.gone, status: 410))
    case "q": result = .failure(.retry(.stopping))
    case "s": result = .success(accepted)
    case "?": return draw(circuit.ask(at: now, policy: policy))
    case "e":
        circuit.enable(at: now)
        return "-"
    case "p":
        circuit.probe(at: now)
        return "-"
    case "b":
        circuit.forgetProbe(at: now)
        return "-"
    default: return "-"
    }
    switch circuit.recorded(result, at: now, sinceBoot: now - start, policy: policy) {
    case .failing: return "F"
    case .disabled: return "D"
    case .restored: return "R"
    case nil: return "-"
    }
}

/// A failure; without a boot time, by a clock that nobody sets.
private func fail(
    _ circuit: inout Circuit, _ error: DeliveryError = .retry(.timeout), at now: Moment,
    sinceBoot: Duration? = nil
) -> CircuitNews? {
    circuit.recorded(
        .failure(error), at: now, sinceBoot: sinceBoot ?? now - start, policy: CircuitPolicy())
}

private func draw(_ permission: Circuit.Permission) -> String {
    switch permission {
    case .granted: "y"
    case .waitUntil: "w"
    case .waitForProbe: "p"
    case .refused: "n"
    }
}

@Suite struct `a circuit` {
    @Test func `is probed at once when somebody else is at the far end, also where it was given up`() throws {
        try expect(in: "fffff?p?s", out: "----Fw-yR")
        try expect(in: "g?p?s", out: "Dn-yR")
        try expect(in: "fp?", out: "--y")
    }

    @Test func `lets another probe through at once when one came to no end`() throws {
        try expect(in: "fffff---??b?", out: "----F---yp-y")
    }

    @Test func `opens after five failures in a row and reports it once`() throws {
        try expect(in: "?ffffff?", out: "y----F-w")
        try expect(in: "ffffsffffs", out: "----------")
    }

    @Test func `opens when more than half of the last twenty failed`() throws {
        let half = String(repeating: "fs", count: 10)
        try expect(in: half + "ff", out: String(repeating: "-", count: 21) + "F")
        try expect(in: String(repeating: "fffs" + "ssss", count: 5), out: String(repeating: "-", count: 40))
    }

    @Test func `lets one probe through after the pause, and is restored by it`() throws {
        try expect(in: "fffff??-??s?", out: "----Fww-ypRy")
    }

    @Test func `pauses longer after each probe that failed`() throws {
        try expect(in: "fffff---?f?????" + "?f", out: "----F---y-wwwww" + "y-")
    }

    @Test func `asks nobody while a probe is out, and sends another when it was broken off`() throws {
        try expect(in: "fffff---??q?", out: "----F---yp-y")
    }

    @Test func `is disabled at once by an address that no longer exists, until a person enables it`() throws {
        try expect(in: "g?fs?e?", out: "Dn--n-y")
    }

    @Test func `is restored by an answer that comes late`() throws {
        try expect(in: "fffff-s?", out: "----F-Ry")
    }

    @Test func `is disabled after five days of only failures`() {
        var circuit = Circuit()
        var news: [CircuitNews] = []
        for hour in 0...120 {
            let error = DeliveryError.retry(.timeout, detail: "no answer in 30 s")
            let now = start + .seconds(3600 * hour)
            _ = circuit.ask(at: now, policy: CircuitPolicy())
            fail(&circuit, error, at: now).map { news.append($0) }
        }
        #expect(news == [.failing, .disabled])
        #expect(circuit.state == .disabled(.timeout))
        #expect(circuit.lastError == "no answer in 30 s")
    }

    @Test func `keeps why it failed in a word and in a line of bounded length`() {
        var circuit = Circuit()
        let long = String(repeating: "no\n", count: 400)
        _ = fail(&circuit, .retry(.serverError, detail: long), at: start)
        #expect(circuit.lastReason == .serverError)
        #expect(circuit.lastError?.count == 300 && circuit.lastError?.hasPrefix("no no no") == true)
        _ = circuit.recorded(.success(accepted), at: start, sinceBoot: .zero, policy: CircuitPolicy())
        #expect(circuit.lastReason == nil && circuit.lastError == nil)
    }

    @Test func `reports that entries refused for good are dead, and that the rest waits`() {
        let waits = CircuitNews.failing.words(of: "hook", "503", reason: .serverError)
        #expect(waits == "Channel \"hook\" fails: 503. Entries for it wait; see: belfry outbox")
        for reason in [DeliveryReason.rejected, .redirected, .unsendable] {
            let refused = CircuitNews.failing.words(of: "hook", "404", reason: reason)
            #expect(refused.contains("Rejected entries are dead; see: belfry outbox --state dead"))
            #expect(!refused.contains("Entries for it wait"))
        }
    }

    @Test func `is not disabled by a clock that was set, nor by a machine that slept or was off`() {
        var (stepped, slept, off) = (Circuit(), Circuit(), Circuit())
        for number in 0..<30 {
            let week = Duration.seconds(7 * 86_400)
            let isLate = number >= 9
            let uptime = Duration.seconds(60 * number)
            let later = start + uptime + (isLate ? week : .zero)
            #expect(fail(&stepped, at: later, sinceBoot: uptime) != .disabled)
            #expect(fail(&slept, at: later, sinceBoot: uptime + (isLate ? week : .zero)) != .disabled)
            // A new boot: its clock begins again.
            if number == 9 { off.resume(at: later) }
            #expect(fail(&off, at: later, sinceBoot: isLate ? uptime + week : uptime) != .disabled)
        }
    }

    @Test func `counts how long it failed over restarts`() throws {
        var circuit = Circuit()
        var news: CircuitNews?
        var hours = 0
        while news != .disabled, hours < 200 {
            // Each daemon sees five hours, and the machine starts again.
            if hours % 6 == 0 {
                circuit = try JSONDecoder().decode(Circuit.self, from: JSONEncoder().encode(circuit))
                circuit.resume(at: start)
            }
            news = fail(&circuit, at: start, sinceBoot: .seconds(3600 * (hours % 6)))
            hours += 1
        }
        #expect(hours == 120 / 5 * 6)
    }

    @Test func `has an outage when the channel fails, not when it refuses an entry or asks for a pause`() {
        for reason in DeliveryReason.allCases where reason != .gone {
            var circuit = Circuit()
            _ = fail(&circuit, reason.isFinal ? .giveUp(reason) : .retry(reason), at: start)
            #expect(circuit.hasOutage == reason.isOutage, "\(reason)")
            _ = circuit.recorded(.success(accepted), at: start, sinceBoot: .zero, policy: CircuitPolicy())
            #expect(!circuit.hasOutage)
        }
    }

    @Test func `of an older version is read`() throws {
        let old = #"{"state":{"disabled":{"_0":"gone"}},"failures":3,"openings":1,"ends":7,"knownEnds":3}"#
        let circuit = try JSONDecoder().decode(Circuit.self, from: Data(old.utf8))
        #expect(circuit.state == .disabled(.gone) && circuit.hasOutage)
    }

    @Test func `is not disabled by one failure before and one after a clock that jumped`() {
        var circuit = Circuit()
        for day in [0, 400] {
            let now = start + .seconds(86_400 * day)
            #expect(fail(&circuit, at: now) == nil)
        }
    }

    @Test func `that is open does not wait longer than its pause when the clock was set back`() {
        var circuit = Circuit()
        for _ in 0..<5 {
            _ = fail(&circuit, at: start)
        }
        let past = start - .seconds(86_400)
        #expect(circuit.ask(at: past, policy: CircuitPolicy()) == .waitUntil(past + .seconds(30)))
        #expect(circuit.ask(at: past + .seconds(30), policy: CircuitPolicy()) == .granted)
    }

    @Test func `forgets the probe that a restart cut off`() {
        var circuit = Circuit()
        for _ in 0..<5 {
            _ = fail(&circuit, at: start)
        }
        let later = start + .seconds(30)
        #expect(circuit.ask(at: later, policy: CircuitPolicy()) == .granted)
        circuit.resume(at: later)
        #expect(circuit.ask(at: later, policy: CircuitPolicy()) == .granted)
    }
}

@Suite struct `an entry that fails while its channel works` {
    @Test func `is hurried by the successes of others less each time, and then not at all`() {
        var stragglers = Stragglers()
        var waits: [Duration?] = []
        for _ in 0..<6 {
            stragglers.failed("x", whileWorking: true, at: start)
            waits.append(stragglers.notBefore()["x"].map { $0.map { $0 - start } ?? .seconds(-1) })
        }
        #expect(waits == [nil, .seconds(30), .seconds(300), .seconds(1800), .seconds(-1), .seconds(-1)])
        stragglers.settled("x")
        #expect(stragglers.notBefore().isEmpty)
    }

    @Test func `is not blamed for an outage`() {
        var stragglers = Stragglers()
        stragglers.failed("x", whileWorking: true, at: start)
        for _ in 0..<9 {
            stragglers.failed("x", whileWorking: false, at: start)
            stragglers.failed("y", whileWorking: false, at: start)
        }
        #expect(stragglers.notBefore().isEmpty)
    }
}
