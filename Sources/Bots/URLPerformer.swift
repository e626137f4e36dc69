package import Curl
import Delivery
import Host
package import Performing
package import Timeline
import Tracking

/// Calls web addresses: each attempt is one request, and the body of its answer is written to its output while it comes.
///
/// Works inside the daemon: a request ends with it, and what came of the answer is kept.
package final class URLPerformer: TaskPerformer {
    package let attempts = OwnAttempts()
    private let curl: CurlMulti
    private let clock: any WallClock
    private let userAgent: String

    /// How many bytes of a body are read at most.
    package static let bodyLimit = 64 << 20
    /// How often it is reported how much has come.
    private static let interval = Duration.milliseconds(500)

    /// A performer; `userAgent` is the value of the header where a job has none of its own.
    package init(curl: CurlMulti, clock: any WallClock, userAgent: String) {
        self.curl = curl
        self.clock = clock
        self.userAgent = userAgent
    }

    // MARK: Performer

    package func start(_ order: AttemptOrder) {
        guard case .url(let call) = order else {
            return attempts.report(.refused(order.key, .badOrder, text: "only web addresses are called here"))
        }
        let start = clock.now
        attempts.begin(order.key, at: start) { [self] in await perform(call, since: start) }
    }

    // MARK: An attempt

    private func perform(_ order: URLOrder, since start: Moment) async -> ExitRecord {
        let watch = clock.sinceBoot
        var record = ExitRecord(key: order.key, cause: .exited, startedAt: start, endedAt: start)
        do {
            let call = try URLCall(order, userAgent: userAgent)
            do {
                try await receive(call, &record)
                record.exitCode = 0
            } catch let error as CurlError {
                record.fault = call.fault(error)
                if call.isTimeout(error) { record.cause = .timeout }
            }
        } catch let fault as AttemptFault {
            record.fault = fault
        } catch {
            record.fault = AttemptFault(.spawnFailed, "the answer can't be kept: \(error)", mayPass: true)
        }
        record.elapsed = clock.sinceBoot - watch
        record.endedAt = clock.now
        return record
    }

    /// Sends the request, and keeps the answer; throws where it is not as the order expects it.
    private func receive(_ call: URLCall, _ record: inout ExitRecord) async throws {
        let output = call.order.output
        var file = try OutputFile(
            path: output.path, headBytes: output.headBytes, tailBytes: output.tailBytes)
        attempts.report(.progress(record.key, ProgressReport(phase: "waiting")))
        let answer = try await curl.open(call.request)
        let length = answer.header("Content-Length").flatMap { Double($0) }
        var opening: [UInt8] = []
        var last = clock.sinceBoot - Self.interval
        while let bytes = try await answer.next() {
            file.append(bytes[...])
            record.outputBytes = file.count
            record.outputTail = Array((record.outputTail + bytes).suffix(ExitRecord.tailLimit))
            if opening.count < URLCall.openingLimit { opening += bytes.prefix(URLCall.openingLimit) }
            if file.count > Self.bodyLimit {
                answer.cancel()
                throw call.tooLong(Self.bodyLimit)
            }
            guard clock.sinceBoot - last >= Self.interval else { continue }
            last = clock.sinceBoot
            attempts.report(.progress(record.key, Self.progress(file.count, of: length)))
        }
        if let fault = call.fault(status: answer.status, opening, header: answer.header, at: clock.now) {
            throw fault
        }
    }

    private static func progress(_ count: Int, of length: Double?) -> ProgressReport {
        let fraction = length.flatMap { $0 > 0 ? min(1, Double(count) / $0) : nil }
        return ProgressReport(fraction: fraction, phase: "receiving")
    }
}

/// One request of a job: what is sent, in which bounds, and what its failures mean.
struct URLCall {
    let order: URLOrder
    /// What is sent.
    let request: CurlRequest
    /// Whom it is sent to: scheme, host and port, which is all of the address that is ever shown.
    let place: String

    /// How many bytes of a body are searched for a line that explains a failure.
    static let openingLimit = 1024
    /// How long the next byte may take where the job has no timeout.
    static let standardTimeout = Duration.seconds(300)
    /// How long everything may take where the job has no timeout.
    static let longest = Duration.seconds(86_400)
    private static let connectTimeout = Duration.seconds(10)

    /// The request of an order.
    ///
    /// - Throws: ``AttemptFault`` when nothing could ever be sent there.
    init(_ order: URLOrder, userAgent: String) throws(AttemptFault) {
        let reach: HTTPReach
        do throws(FormError) {
            var allow: [AddressException] = []
            for text in order.allow { allow.append(try AddressException(text)) }
            reach = try HTTPReach(url: HTTPAddress(order.url), allow: allow)
        } catch {
            throw AttemptFault(.badRequest, "the address can't be called: \(error)")
        }
        place = reach.url.shown
        let target: CurlTarget
        do throws(CurlTarget.Refusal) {
            target = try CurlTarget(order.url, host: reach.url.host, rule: reach.rule) {
                reach.mayConnect(to: $0)
            }
        } catch {
            switch error {
            case .notAnAddress:
                throw AttemptFault(.badRequest, "the address can't be called: not an http or https address")
            case .addressRefused(let address): throw Self.refused(address, at: place)
            }
        }
        self.order = order
        var headers = order.headers.sorted { $0.key < $1.key }.map { CurlHeader($0, $1) }
        if !headers.contains(where: { $0.name.lowercased() == "user-agent" }) {
            headers.append(CurlHeader("User-Agent", userAgent))
        }
        let total = order.timeout ?? Self.longest
        let silence = order.timeout == nil ? Self.standardTimeout : nil
        request = CurlRequest(
            method: order.method, url: order.url, headers: headers, body: order.body,
            timeouts: CurlTimeouts(
                connect: min(Self.connectTimeout, total), total: total, head: silence, silence: silence),
            addressGuard: target.addressGuard)
    }

    // MARK: An answer

    /// What is wrong with an answer of this status; nil: it is as expected.
    ///
    /// `opening` is the beginning of its body.
    func fault(
        status: Int, _ opening: [UInt8], header: (String) -> String?, at now: Moment
    ) -> AttemptFault? {
        if order.expected.contains(where: { $0.contains(status) }) { return nil }
        var text = "\(place) answered \(status)"
        if (300...399).contains(status), let target = header("Location") {
            let shown = (try? HTTPAddress(target))?.shown
            text += ", a redirect" + (shown.map { " to \($0)" } ?? "") + "; redirects are not followed"
        } else if let line = Self.firstLine(opening) {
            text += ": \(line)"
        }
        var fault = AttemptFault(.httpStatus, text)
        // A request that came too late or too often, and a server in trouble.
        fault.mayPass = [408, 425, 429].contains(status) || status >= 500
        fault.wait = header("Retry-After").flatMap { RetryAfter.parse($0, now: now) }.map { max($0, .zero) }
        return fault
    }

    /// A body that is longer than is accepted.
    func tooLong(_ limit: Int) -> AttemptFault {
        AttemptFault(.answerTooLong, "the answer of \(place) is longer than \(limit >> 20) MiB")
    }

    /// The first line of a text; nil: there is none, or it is markup.
    private static func firstLine(_ bytes: [UInt8]) -> String? {
        let lines = bytes.split { $0 == 0x0A || $0 == 0x0D }
        let shown = lines.lazy.map { CleanText.line(String(decoding: $0, as: UTF8.self), limit: 200) }
        return shown.first { !$0.isEmpty }.flatMap { $0.hasPrefix("<") ? nil : $0 }
    }

    // MARK: No answer

    /// Whether the time that the job has, or the limit in its place, ran out.
    func isTimeout(_ error: CurlError) -> Bool {
        switch error {
        case .timedOut(.answering, _), .timedOut(.silent, _): true
        default: false
        }
    }

    /// What it means that the transfer failed.
    func fault(_ error: CurlError) -> AttemptFault {
        switch error {
        case .malformed(let flaw): AttemptFault(.badRequest, "\(place): unsendable \(flaw.rawValue)")
        case .resolve(let fault), .timedOut(.resolving, let fault): passing(.dnsFailed, "\(fault)")
        case .connect(let fault), .timedOut(.connecting, let fault), .library(let fault):
            passing(.connectFailed, "\(fault)")
        case .refused(let address): Self.refused(address, at: place)
        case .tls(let fault): passing(.tlsFailed, "\(fault)")
        case .timedOut(.answering, _):
            passing(.timeout, "no complete answer within \((order.timeout ?? Self.longest).text)")
        case .timedOut(.silent, _): passing(.timeout, "no data for \(Self.standardTimeout.text)")
        case .cut(let fault): passing(.disconnected, "\(fault)")
        case .answer(let fault): passing(.badAnswer, "\(fault)")
        case .canceled, .closed: passing(.disconnected, "the daemon stopped before the answer was complete")
        }
    }

    private func passing(_ reason: RunReason, _ text: String) -> AttemptFault {
        AttemptFault(reason, "\(place): \(text)", mayPass: true)
    }

    private static func refused(_ address: SocketAddress, at place: String) -> AttemptFault {
        AttemptFault(
            .addressRefused, "\(place): \(address.ip) is not public; url.allow can name it", mayPass: true)
    }
}
