package import Curl
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
