public import Timeline

/// How a job wants its output read: by one tool's parser, and the amount that is the whole where the tool does not say.
public struct ProgressReading: Hashable, Sendable, Codable {
    /// A tool, or a shape that several share.
    public enum Tool: String, Hashable, Sendable, Codable, CaseIterable {
        case apt, aria2c, borg, cargo, cmake, curl, dd, docker, dpkg, ffmpeg, git, ninja, pip, pv, pytest,
            rclone
        case restic, rsync, tap, tar, tqdm, wget
        case sevenZip = "7z"
        case ytDlp = "yt-dlp"
        case unattendedUpgrades = "unattended-upgrades"
        /// Each line is one of `total`.
        case count
        /// Lines of JSON as they are written to `PROGRESS_FD`.
        case json
        /// The first `N%` of a line.
        case percent
        /// Nothing is read: what looks like progress is none.
        case none
    }

    /// Who reads it; nil: whatever is found in it, conservatively.
    public var tool: Tool?
    /// The whole, in bytes, files, packages or lines as the tool counts; nil: the tool says it.
    public var total: Int?

    /// Nothing in particular.
    public init(tool: Tool? = nil, total: Int? = nil) {
        (self.tool, self.total) = (tool, total)
    }
}

/// Reads progress in the output of a tool that the job names: believed at once, and nothing else is.
///
/// Bounded like ``OutputScanner``: records of at most 8 KiB, at most 50 reports a second; what is counted is counted in
/// all records.
public struct NamedReader: Sendable {
    private var splitter = RecordSplitter()
    private var limiter = RecordLimiter()
    private var records: ToolRecords

    /// A reader that has seen nothing; nil: no tool is named.
    public init?(_ reading: ProgressReading?) {
        guard let reading, let tool = reading.tool else { return nil }
        records = ToolRecords(tool, total: reading.total.map(Double.init))
    }

    /// When to call ``receive(_:at:)`` again, even with no bytes, for a record held back; nil for none.
    public var heldUntil: Moment? { limiter.heldUntil }

    /// Takes the next bytes of one stream and gives the progress found in them, in order.
    public mutating func receive(_ piece: ArraySlice<UInt8>, at now: Moment) -> [ProgressReport] {
        var admitted: [[UInt8]] = []
        if let record = limiter.takeHeld(at: now) { admitted.append(record) }
        // 7z takes back what it printed, and never ends a line.
        let piece = piece.contains(0x08) ? ArraySlice(piece.map { $0 == 0x08 ? 0x0D : $0 }) : piece
        var counted = records
        var reports: [ProgressReport] = admitted.compactMap { counted.report(EscapeStripper.strip($0[...])) }
        splitter.split(piece) { record in
            if counted.counts { counted.count(record) }
            guard limiter.admit(record, at: now) else { return }
            if let report = counted.report(EscapeStripper.strip(record)) { reports.append(report) }
        }
        records = counted
        return reports
    }

    /// Ends the stream and gives what was still held back or not ended by a separator.
    public mutating func finish() -> [ProgressReport] {
        var last = limiter.takeHeld()
        var rest: [UInt8]?
        splitter.finish { rest = Array($0) }
        if let rest {
            if records.counts { records.count(rest[...]) }
            last = rest
        }
        return last.flatMap { records.report(EscapeStripper.strip($0[...])) }.map { [$0] } ?? []
    }
}
