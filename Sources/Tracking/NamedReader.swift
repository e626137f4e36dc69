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

/// Reads the records of tools whose progress is neither `N%` nor `n/N`, each by the tool's own shape.
///
/// Takes only what no other program prints by chance; what it finds still has to rise three times like any other.
struct ToolReader: Sendable {
    /// The longest of the inputs that ffmpeg named, in seconds.
    private var mediaSeconds: Double?
    /// The tests that a TAP producer announced.
    private var plan: Double?

    /// The progress in a record, stripped of escape sequences; nil: it is of none of these tools.
    mutating func match(_ record: [UInt8]) -> ProgressMatch? {
        guard record.count <= 2048, let first = record.first(where: { $0 != 0x20 }) else { return nil }
        switch first {
        case UInt8(ascii: "{"): return Self.json(record)
        case UInt8(ascii: "d"), UInt8(ascii: "p"): return Self.apt(record) ?? media(record)
        case 0x30...0x39: return Self.curl(record) ?? takePlan(record)
        case UInt8(ascii: "o"), UInt8(ascii: "n"): return test(record) ?? media(record)
        default: return media(record)
        }
    }

    // MARK: JSON

    /// rclone's statistics and borg's steps.
    ///
    /// - Source: `rclone --use-json-log --stats 1s`; `borg --log-json --progress`, internals/frontends.
    private static func json(_ record: [UInt8]) -> ProgressMatch? {
        guard let json = JSON(reported: record[...]) else { return nil }
        if let stats = json["stats"], let total = stats["totalBytes"]?.double {
            return ProgressMatch(tool: "rclone", stats["bytes"]?.double, of: total)
        }
        guard json["type"]?.text == "progress_percent", let total = json["total"]?.double else { return nil }
        let step = json["msgid"]?.text ?? ""
        let message = json["message"]?.text ?? ""
        let title = message.prefix { $0.isLetter || $0 == " " }.split(separator: " ").joined(separator: " ")
        return ProgressMatch(
            tool: "borg \(step)", json["current"]?.double, of: total, title: title.isEmpty ? nil : title)
    }

    // MARK: apt

    /// `dlstatus:1:42.0000:Retrieving file 1 of 3`, `pmstatus:hello:20.0000:Unpacking hello (amd64)`.
    ///
    /// - Source: APT's README.progress-reporting, `APT::Status-Fd`.
    private static func apt(_ record: [UInt8]) -> ProgressMatch? {
        let parts = record.split(separator: UInt8(ascii: ":"), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let percent = ReportNumber.decimal(parts[2]), percent <= 100 else {
            return nil
        }
        switch String(decoding: parts[0], as: UTF8.self) {
        case "dlstatus":
            return ProgressMatch(
                tool: "dlstatus", percent, of: 100, title: "downloading", message: text(parts[3]))
        case "pmstatus":
            // A package may have a colon in its name (`libc6:i386`), and then no number stands third.
            return ProgressMatch(
                tool: "pmstatus", percent, of: 100, title: "installing", message: text(parts[3]))
        default: return nil
        }
    }

    // MARK: curl

    /// The row under curl's `% Total % Received % Xferd`: twelve columns, three of them times.
    private static func curl(_ record: [UInt8]) -> ProgressMatch? {
        let columns = record.split(separator: 0x20)
        guard columns.count == 12, columns[8...10].allSatisfy(isTime), columns[2].allSatisfy(isDigit),
            columns[4].allSatisfy(isDigit), let percent = ReportNumber.decimal(columns[0]), percent <= 100,
            // Without a length there is nothing to be a part of.
            columns[1] != [0x30]
        else { return nil }
        return ProgressMatch(tool: "curl", percent, of: 100)
    }

    /// `0:01:02`, `--:--:--`.
    private static func isTime(_ column: ArraySlice<UInt8>) -> Bool {
        column.count >= 7 && column.allSatisfy { isDigit($0) || $0 == 0x3A || $0 == 0x2D }
            && column.count(where: { $0 == 0x3A }) == 2
    }

    // MARK: ffmpeg

    /// `Duration: 00:00:10.00, ...` once, then `... time=00:00:03.20 bitrate=...`, or `out_time=` of `-progress`.
    private mutating func media(_ record: [UInt8]) -> ProgressMatch? {
        if let seconds = Self.clock(in: record, after: "  Duration: "), Self.begins(record, "  Duration: ") {
            mediaSeconds = max(mediaSeconds ?? 0, seconds)
            return nil
        }
        guard let whole = mediaSeconds, whole > 0,
            let seconds = Self.clock(
                in: record, after: Self.begins(record, "out_time=") ? "out_time=" : " time=")
        else { return nil }
        return ProgressMatch(tool: "ffmpeg", min(seconds, whole), of: whole, isAmount: false)
    }

    /// Whether it is a line of one of ffmpeg's parts, `[libx264 @ 0x55..] ref P L0: 59.4%`: figures, and no progress.
    static func isStatistics(_ record: [UInt8]) -> Bool {
        guard record.first == UInt8(ascii: "["), let end = record.firstIndex(of: UInt8(ascii: "]")) else {
            return false
        }
        return record[..<end].firstRange(of: Array(" @ 0x".utf8)) != nil
    }

    /// The seconds of `HH:MM:SS.ss` behind a word; nil where it is not there.
    private static func clock(in record: [UInt8], after word: StaticString) -> Double? {
        let word = Array(word.description.utf8)
        guard let start = record.firstRange(of: word)?.upperBound else { return nil }
        let parts = record[start...].prefix { isDigit($0) || $0 == 0x3A || $0 == 0x2E }
            .split(separator: 0x3A, omittingEmptySubsequences: false).map(ReportNumber.decimal)
        guard parts.count == 3, let hours = parts[0], let minutes = parts[1], let seconds = parts[2] else {
            return nil
        }
        return hours * 3600 + minutes * 60 + seconds
    }

    // MARK: TAP

    /// `1..N`, the plan before the tests.
    ///
    /// - Source: Test Anything Protocol 14.
    private mutating func takePlan(_ record: [UInt8]) -> ProgressMatch? {
        guard Self.begins(record, "1..") else { return nil }
        let digits = record.dropFirst(3).prefix(while: isDigit)
        if let count = ReportNumber.decimal(digits), count >= 2 { plan = count }
        return nil
    }

    /// `ok 3 - name`, `not ok 4`, where a plan stood before.
    private func test(_ record: [UInt8]) -> ProgressMatch? {
        guard let plan else { return nil }
        let words = record.split(separator: 0x20, maxSplits: 3)
        let place = words.first.map { $0.elementsEqual("not".utf8) } == true ? 1 : 0
        guard words.count > place + 1, words[place].elementsEqual("ok".utf8),
            let number = ReportNumber.decimal(words[place + 1]), number <= plan
        else { return nil }
        return ProgressMatch(tool: "tap", number, of: plan)
    }

    private static func begins(_ record: [UInt8], _ word: StaticString) -> Bool {
        record.starts(with: Array(word.description.utf8))
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

extension ProgressMatch {
    /// An amount that a tool printed in its own shape; nil where it is no part of `total`.
    fileprivate init?(
        tool: String, _ done: Double?, of total: Double, title: String? = nil, message: String? = nil,
        isAmount: Bool = true
    ) {
        guard let done, done >= 0, total > 0, done <= total else { return nil }
        let isPercent = total == 100 || !isAmount
        self.init(
            value: done / total * 100, scale: isPercent ? .percent : .amounts,
            amounts: isPercent ? nil : ReportNumber.amounts(done, of: total), title: title, counting: message,
            template: Array(tool.utf8))
    }
}
