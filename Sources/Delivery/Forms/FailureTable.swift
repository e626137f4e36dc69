package import Timeline
import Tracking

/// What answers that are no success mean: the first row that fits decides.
///
/// The one shape for all forms, whatever an answer is: a status, the name of an error, an exit code.
package struct FailureTable<Answer: Sendable>: Sendable {
    /// What to do after an answer.
    package enum Consequence: Hashable, Sendable {
        /// The receiver may take it another time.
        case retry
        /// It will never take this one.
        case giveUp
        /// Nobody was there to take it, and nothing was sent.
        case unreachable
    }

    /// What some answers mean.
    package struct Row: Sendable {
        /// The answers.
        package let fits: @Sendable (Answer) -> Bool
        /// What to do.
        package let consequence: Consequence
        /// Why.
        package let reason: DeliveryReason
        /// How long to wait at least before the next attempt, where the answer does not say.
        package let after: Duration?

        /// A row.
        package init(
            _ consequence: Consequence, _ reason: DeliveryReason, after: Duration? = nil,
            _ fits: @escaping @Sendable (Answer) -> Bool
        ) {
            self.fits = fits
            self.consequence = consequence
            self.reason = reason
            self.after = after
        }
    }

    /// The rows, in the order in which they are asked.
    package let rows: [Row]
    /// What an answer means that no row fits.
    package let otherwise: Row

    /// A table of these rows.
    package init(_ rows: [Row], otherwise consequence: Consequence, _ reason: DeliveryReason) {
        self.rows = rows
        otherwise = Row(consequence, reason) { _ in true }
    }

    /// The same, with rows of a form's own before all others.
    package func preceded(by rows: [Row]) -> FailureTable {
        FailureTable(rows + self.rows, otherwise: otherwise.consequence, otherwise.reason)
    }

    /// What `answer` means.
    ///
    /// `asked` is the wait that the answer asks for. `detail` is one line without secrets.
    package func judge(
        _ answer: Answer, asked: Duration? = nil, detail: String, status: Int? = nil
    ) -> DeliveryError {
        let row = rows.first { $0.fits(answer) } ?? otherwise
        switch row.consequence {
        case .retry: return .retry(row.reason, after: asked ?? row.after, detail: detail, status: status)
        case .giveUp: return .giveUp(row.reason, detail: detail, status: status)
        case .unreachable: return .unreachable(row.reason, detail: detail)
        }
    }
}

extension FailureTable.Row where Answer == Int {
    /// A row of the statuses of a range.
    package init(
        _ statuses: ClosedRange<Int>, _ consequence: FailureTable<Int>.Consequence, _ reason: DeliveryReason
    ) {
        self.init(consequence, reason) { statuses.contains($0) }
    }
}

extension FailureTable where Answer == Int {
    /// What the statuses of HTTP mean where a service has no rules of its own.
    ///
    /// - Source: RFC 9110, section 15; Standard Webhooks 1.0.0 (410 disables, redirects are failures).
    package static var http: FailureTable {
        FailureTable(
            [
                Row(300...399, .giveUp, .redirected),
                Row(408...408, .retry, .askedAgain),
                Row(410...410, .giveUp, .gone),
                Row(425...425, .retry, .askedAgain),
                Row(429...429, .retry, .throttled),
                Row(400...499, .giveUp, .rejected),
                Row(500...599, .retry, .serverError),
            ], otherwise: .retry, .badAnswer)
    }
}

/// How long a receiver asks to be left alone.
package enum RetryAfter {
    /// Reads the value of the header, seconds or a date; `nil` when it is neither.
    ///
    /// Seconds may have a fraction, and all three forms of an HTTP date are read. A date that has passed gives
    /// a negative duration.
    ///
    /// - Source: RFC 9110, section 10.2.3 and section 5.6.7.
    package static func parse(_ text: String, now: Moment) -> Duration? {
        if let seconds = Double(text), seconds.isFinite, text.utf8.allSatisfy({ $0 == 0x2e || $0.isDigit }) {
            return .seconds(min(seconds, 1e9))
        }
        return moment(text, now: now).map { $0 - now }
    }

    private static func moment(_ text: String, now: Moment) -> Moment? {
        // "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"
        let words = text.split { $0 == " " || $0 == "-" || $0 == "," }.map(String.init)
        switch words.count {
        case 6 where words[5] == "GMT":
            return make(day: words[1], month: words[2], year: words[3], time: words[4], now: now)
        case 5:
            return make(day: words[2], month: words[1], year: words[4], time: words[3], now: now)
        default:
            return nil
        }
    }

    private static func make(day: String, month: String, year: String, time: String, now: Moment) -> Moment? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
        guard let day = Int(day), let month = months.firstIndex(of: month), var year = Int(year),
            (1...31).contains(day), (0...9999).contains(year), clock.count == 3,
            (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        if year < 100 {
            // Two digits are the century's in which the date is at most 50 years ahead.
            let thisYear = CivilTime(now).date.year
            year += thisYear - thisYear % 100
            if year > thisYear + 50 { year -= 100 }
        }
        guard day <= CivilDate.days(inMonth: month + 1, of: year) else { return nil }
        let date = CivilDate(year: year, month: month + 1, day: day)
        let civil = CivilTime(date, hour: clock[0], minute: clock[1], second: min(clock[2], 59))
        return Moment(seconds: civil.localSeconds)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

// What services say of a refusal, in the words that their users know, and the addresses they give out.

extension HTTPAnswer {
    /// The body as JSON; `nil` when it is none.
    var json: JSON? { JSON(parsing: body[...], repairing: true) }

    /// The body as one line; empty where there is none.
    var line: String { Self.line(String(decoding: body, as: UTF8.self)) }

    /// Whether its body contains one of these words.
    func says(_ words: [String]) -> Bool {
        let text = String(decoding: body, as: UTF8.self)
        return words.contains { text.contains($0) }
    }

    /// A text of the service as one bounded line: it may be hostile, and ends in logs.
    static func line(_ text: String) -> String { CleanText.line(text, limit: 140) }

    /// What the service says, and what a person does about it; `nil`: it says nothing.
    static func said(_ text: String?, hint: String?) -> String? {
        let line = text.map(line) ?? ""
        let parts = [line.isEmpty ? nil : line, hint].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// The same answer with the wait that its body asks for, where no header does; an hour at most.
    func asking(toWait seconds: Double?) -> HTTPAnswer {
        guard retryAfter == nil, let seconds, seconds >= 0 else { return self }
        var answer = self
        answer.retryAfter = .seconds(min(seconds, 3600))
        return answer
    }
}

/// The address that a service gives out for posting: whoever knows it can post, so it is a secret.
struct PostAddress {
    /// Its key.
    static let key = "webhook"
    /// The key of the host it is on.
    static let hostKey = "url"

    /// The keys of a form whose requests go to such an address.
    ///
    /// `host` is where it is; with `usual`, that may be left out.
    static func fields(_ service: String, host: String, example: String) -> [FormField] {
        [
            FormField(
                key, .secrets,
                "the address that \(service) gave out for posting, a secret",
                example: "{ file: /path } with a line \(example)"),
            FormField(hostKey, .address, "the host of that address", example: host),
        ]
    }

    /// Whom the requests of such a form may reach.
    /// - Throws: ``FormError`` where there is no address, or where it stands in the file.
    static func reach(_ values: FormValues, usual: String?) throws(FormError) -> HTTPReach {
        if case .address(let host)? = values[hostKey], !host.target.allSatisfy({ $0 == "/" }) {
            throw .unfit(
                hostKey,
                "whoever knows this address can post there: put it in a file, write \(key): { file: /path }, "
                    + "and leave at most the host here")
        }
        try values.secrets(key)
        let host =
            if let usual { try values.address(hostKey, or: usual) } else { try values.address(hostKey) }
        return try HTTPReach(to: host, values)
    }

    /// Why nothing can be posted there; `nil`: it can.
    static func fault(in secrets: FormSecrets, on reach: HTTPReach) -> String? {
        // Left out with the channel where it can't be read.
        guard let text = secrets[key].first else { return nil }
        guard let address = try? HTTPAddress(text) else {
            return "what \(key): leads to is not an http or https address"
        }
        guard
            (address.isSecure, address.host, address.port) == (
                reach.url.isSecure, reach.url.host, reach.url.port
            )
        else {
            return "what \(key): leads to is an address on \(address.shown), not on \(reach.url.shown); "
                + "write \(hostKey): \(address.shown)"
        }
        return nil
    }

    /// The address; empty where it could not be read, which no sender takes.
    static func text(_ secrets: FormSecrets) -> String { secrets[key].first ?? "" }
}

/// How a service knows its user: a secret that goes into a header.
enum AccessToken {
    static let key = "token"

    /// `Authorization: Bearer`, where there is a token.
    static func bearer(_ secrets: FormSecrets) -> [HTTPRequest.Header] {
        secrets[key].prefix(1).map { HTTPRequest.Header("Authorization", "Bearer \($0)") }
    }
}

extension HTTPRequest.Header {
    /// The type of a JSON body.
    static var json: HTTPRequest.Header { HTTPRequest.Header("Content-Type", "application/json") }
}
