public import Timeline

/// Reads what a job writes to the descriptor `PROGRESS_FD` names: one JSON object a line.
///
/// `{"progress":0.42,"total":1,"message":"..","phase":"..","state":"blocked:question","eta":30}`; every
/// member may be absent. Without `total`, `progress` is a fraction. A line with an `id` such as `build/linux` is about
/// that part of the work, whose state may also be `done`, `failed` or `clear`. Lines that are not such an object are
/// ignored.
///
/// - Source: Model Context Protocol 2025-11-25, `notifications/progress`, for the names.
public struct ProgressLine: Sendable {
    private var splitter = RecordSplitter()
    private var limiter = RecordLimiter()

    /// A reader that has seen nothing.
    public init() {}

    /// Takes the next bytes and gives what the lines in them say, in order.
    ///
    /// At most 50 lines a second are read, by the moments given; of the others only the newest, at the
    /// first call from ``heldUntil`` on.
    public mutating func receive(_ piece: ArraySlice<UInt8>, at now: Moment) -> [ProgressReport] {
        var reports: [ProgressReport] = []
        if let line = limiter.takeHeld(at: now), let report = Self.report(line[...]) {
            reports.append(report)
        }
        splitter.split(piece) { line in
            if limiter.admit(line, at: now), let report = Self.report(line) { reports.append(report) }
        }
        return reports
    }

    /// When to call ``receive(_:at:)`` again, even with no bytes, for a line held back; `nil` for none.
    public var heldUntil: Moment? { limiter.heldUntil }

    /// Ends the stream and gives what was still held back.
    public mutating func finish() -> [ProgressReport] {
        var last = limiter.takeHeld()
        splitter.finish { last = Array($0) }
        return last.flatMap { Self.report($0[...]) }.map { [$0] } ?? []
    }

    /// What one line reports, without its line feed.
    ///
    /// - Returns: `nil` when it is no JSON object.
    public static func report(_ line: ArraySlice<UInt8>) -> ProgressReport? {
        guard line.count <= RecordSplitter.limit, let json = JSON(reported: line) else { return nil }
        let message = json["message"]?.text
        var report = ProgressReport(phase: json["phase"]?.text, message: message)
        if let done = json["progress"]?.double, done >= 0 {
            if let total = json["total"]?.double {
                let amounts = ReportNumber.amounts(done, of: total)
                (report.done, report.total) = (amounts?.done, amounts?.total)
            } else if done <= 1 {
                report.fraction = done
            }
        }
        if let id = json["id"]?.text, !id.isEmpty {
            var part = ProgressReport(message: message)
            part.part = ReportedPart(
                path: id, progress: report.progress,
                word: (json["state"]?.text).flatMap { ReportedPart.Word($0) })
            return part
        }
        report.word = (json["state"]?.text).flatMap(ProgressReport.Word.init)
        if let eta = json["eta"]?.double, eta >= 0 { report.etaSeconds = eta }
        return report
    }
}

extension JSON {
    /// The object in a line that a job wrote: jobs may write anything, so it is shallow, and broken text is repaired.
    init?(reported line: ArraySlice<UInt8>) {
        self.init(parsing: line, depth: 8, repairing: true)
        guard case .members = self else { return nil }
    }
}
