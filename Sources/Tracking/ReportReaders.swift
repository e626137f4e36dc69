public import Timeline

/// What one datagram on a run's `NOTIFY_SOCKET` holds: lines of `KEY=value`.
///
/// Understood are `STATUS`, `READY`, `X_PROGRESS` (`0.42`, `42%`, `21/50`), `X_UNIT`, `X_PHASE`, `X_MESSAGE`,
/// `X_STATE` (`working`, `blocked`, `blocked:permission`, `blocked:question`, `blocked:auth`),
/// `X_ETA_SEC`, `X_TASK` (a part of the work such as `build/linux`, of which progress and state are then, and which
/// may also be `done`, `failed` or `clear`) and any `X_WORD_PROGRESS` with a percentage, as systemd-importd sends it.
/// `X_QUESTION` asks a person; see ``ReportedQuestion``. Everything else is ignored.
///
/// - Source: sd_notify(3).
public struct NotifyDatagram: Hashable, Sendable {
    /// The most bytes a datagram may have; a longer one is refused whole.
    public static let limit = 8192

    /// What the job reported about itself; empty when it only reported that it is alive.
    public var report: ProgressReport
    /// Whether the job reported that it has started up.
    public var isReady: Bool
    /// What the job asks a person; `nil`: nothing, or nothing that can be asked.
    public var question: ReportedQuestion?

    /// Reads a datagram.
    ///
    /// - Returns: `nil` when it is longer than ``limit``.
    public init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count <= Self.limit else { return nil }
        var reading = Reading()
        for line in bytes.split(separator: 0x0A) {
            guard let equals = line.firstIndex(of: 0x3D) else { continue }
            reading.apply(line[..<equals], line[(equals + 1)...])
        }
        report = reading.finished
        isReady = reading.isReady
        question = reading.question
    }

    private struct Reading {
        var report = ProgressReport()
        var isReady = false
        var part: String?
        var partWord: ReportedPart.Word?
        var status: String?
        /// The keys of a question with their values.
        var asked: [String: String] = [:]

        mutating func apply(_ key: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) {
            switch String(decoding: key.prefix(40), as: UTF8.self) {
            case "STATUS": status = text(value)
            case "READY": isReady = value.elementsEqual([0x31])
            case "X_PROGRESS": applyProgress(ReportNumber.progress(value))
            case "X_PHASE": report.phase = text(value)
            case "X_MESSAGE": report.message = text(value)
            case "X_UNIT": report.unit = text(value)
            case "X_STATE":
                report.word = ProgressReport.Word(text(value))
                partWord = ReportedPart.Word(text(value))
            case "X_ETA_SEC": report.etaSeconds = ReportNumber.decimal(value)
            case "X_QUESTION", "X_QUESTION_KEY", "X_CHOICES", "X_DEFAULT", "X_AFTER":
                asked[String(decoding: key, as: UTF8.self)] = text(value)
            case "X_TASK": part = value.isEmpty ? nil : text(value)
            case let other where other.hasPrefix("X_") && other.hasSuffix("_PROGRESS"):
                // Its own key is the clearer word, in whatever order they come.
                if report.progress == nil { applyProgress(ReportNumber.percent(value)) }
            default: break
            }
        }

        var question: ReportedQuestion? {
            guard let words = asked["X_QUESTION"] else { return nil }
            return ReportedQuestion(
                text: words, key: asked["X_QUESTION_KEY"] ?? "", choices: asked["X_CHOICES"],
                fallback: asked["X_DEFAULT"], after: asked["X_AFTER"])
        }

        private mutating func applyProgress(_ progress: ProgressReport?) {
            guard let progress else { return }
            (report.fraction, report.done, report.total) = (progress.fraction, progress.done, progress.total)
        }

        var finished: ProgressReport {
            var report = report
            if let part {
                let progress = report.progress
                report = ProgressReport(message: report.message)
                report.part = ReportedPart(path: part, progress: progress, word: partWord)
            }
            report.message = report.message ?? status
            if isReady, report.word == nil { report.word = .working }
            return report
        }

        private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
    }
}

extension ProgressReport.Word {
    /// The word a job writes: `working`, `blocked` (on a question), or `blocked:` and a kind.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        switch parts.first {
        case "working" where parts.count == 1: self = .working
        case "blocked" where parts.count == 1: self = .blocked(.question)
        case "blocked":
            guard let kind = BlockedKind(rawValue: String(parts[1])) else { return nil }
            self = .blocked(kind)
        default: return nil
        }
    }
}

/// Reads what a job writes to the descriptor `PROGRESS_FD` names: one JSON object a line.
///
/// `{"progress":3,"total":12,"unit":"files","message":"..","phase":"..","state":"blocked:question","eta":30}`; every
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
                report.unit = json["unit"]?.text
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

/// Reads the progress that a job sends to the terminal it believes to have: OSC 9;4 and OSC 7501.
///
/// Everything in a sequence is untrusted: one that is not whole, too long or of another form is ignored.
/// - Source: ConEmu, OSC 9;4; Program Status Protocol, revision 0.4, OSC 7501.
public struct StatusSequences: Sendable {
    /// The most bytes of a sequence.
    public static let limit = 4096
    /// The most reports that one piece of output leads to; the newest count.
    static let most = 50

    private enum Place: Hashable {
        case outside, escape, inside, end
    }

    private var place = Place.outside
    private var text: [UInt8] = []

    /// A reader that has seen nothing.
    public init() {}

    /// Takes the next bytes of the output and gives what the sequences in them report, in order.
    public mutating func receive(_ piece: ArraySlice<UInt8>) -> [ProgressReport] {
        var reports: [ProgressReport] = []
        var rest = piece
        while true {
            if place == .outside {
                guard let start = rest.firstIndex(of: 0x1B) else { break }
                rest = rest[(start + 1)...]
                place = .escape
            }
            guard let byte = rest.popFirst() else { break }
            if let report = take(byte) { reports.append(report) }
        }
        return reports.suffix(Self.most)
    }

    private mutating func take(_ byte: UInt8) -> ProgressReport? {
        switch place {
        case .outside: break
        case .escape:
            text.removeAll(keepingCapacity: true)
            place = byte == UInt8(ascii: "]") ? .inside : byte == 0x1B ? .escape : .outside
        case .inside where byte == 0x07: return finish()
        case .inside where byte == 0x1B: place = .end
        // A sequence holds nothing but text.
        case .inside where byte < 0x20 || text.count >= Self.limit: place = .outside
        case .inside: text.append(byte)
        case .end:
            if byte == UInt8(ascii: "\\") { return finish() }
            place = byte == UInt8(ascii: "]") ? .inside : .outside
            text.removeAll(keepingCapacity: true)
        }
        return nil
    }

    private mutating func finish() -> ProgressReport? {
        place = .outside
        defer { text.removeAll(keepingCapacity: true) }
        let parts = text.split(separator: UInt8(ascii: ";"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        switch String(decoding: parts[0], as: UTF8.self) {
        case "9": return Self.taskbar(parts[1])
        case "7501": return Self.status(String(decoding: parts[1], as: UTF8.self))
        case "3008": return Self.context(parts[1])
        default: return nil
        }
    }

    /// `4;1;42`, a state and a percentage; a removal means that nothing is known, and is not 0 %.
    private static func taskbar(_ text: ArraySlice<UInt8>) -> ProgressReport? {
        let parts = text.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts[0] == [UInt8(ascii: "4")] else { return nil }
        let percent = parts.count == 3 ? ReportNumber.percent(parts[2]) : nil
        switch String(decoding: parts[1], as: UTF8.self) {
        case "1", "4": return percent
        // An error without a number, and one whose progress is not known, are signs of life.
        case "2": return percent ?? ProgressReport()
        case "3": return ProgressReport()
        default: return nil
        }
    }

    /// `start=ID;type=command;cmdline=make`: what a shell or a wrapper within the job has begun, as a message.
    ///
    /// - Source: UAPI.15, "OSC 3008: Hierarchical Context Signalling".
    private static func context(_ text: ArraySlice<UInt8>) -> ProgressReport? {
        let fields = text.split(separator: UInt8(ascii: ";"))
        guard fields.first?.starts(with: Array("start=".utf8)) == true else { return nil }
        let name = Array("cmdline=".utf8)
        guard let field = fields.first(where: { $0.starts(with: name) }), field.count > name.count else {
            return nil
        }
        return ProgressReport(
            message: String(decoding: unescaped(field.dropFirst(name.count)), as: UTF8.self))
    }

    /// `\x3b` is a semicolon.
    private static func unescaped(_ value: ArraySlice<UInt8>) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), value)
        while let byte = rest.popFirst() {
            let code = rest.dropFirst().prefix(2)
            guard byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "x"), code.count == 2,
                let number = UInt8(String(decoding: code, as: UTF8.self), radix: 16)
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(number)
            rest = rest.dropFirst(3)
        }
        return bytes
    }

    /// Reads `state=working:progress=42:id=build/linux:msg=...`.
    private static func status(_ text: String) -> ProgressReport? {
        var values: [Substring: String] = [:]
        for pair in text.split(separator: ":", omittingEmptySubsequences: false) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, (1...16).contains(parts[0].utf8.count),
                parts[0].utf8.allSatisfy({ (0x61...0x7A).contains($0) }), isValue(parts[1])
            else { return nil }
            values[parts[0]] = String(parts[1])
        }
        guard let state = values["state"] else { return nil }
        let message = words(values["msg"], limit: 2048) ?? words(values["title"], limit: 192)
        let percent = values["progress"].flatMap { ReportNumber.percent(Array($0.utf8)[...])?.fraction }
        if let id = values["id"] { return part(id, state, percent, message) }
        return whole(state, kind: values["kind"], percent, message)
    }

    private static func whole(
        _ state: String, kind: String?, _ percent: Double?, _ message: String?
    ) -> ProgressReport? {
        switch state {
        case "working": ProgressReport(fraction: percent, message: message, word: .working)
        case "blocked":
            ProgressReport(
                fraction: percent, message: message,
                word: .blocked(kind.flatMap { BlockedKind(rawValue: $0) } ?? .question))
        case "done": ProgressReport(fraction: 1, message: message, word: .working)
        case "idle", "error": ProgressReport(message: message, word: .working)
        default: nil
        }
    }

    /// What it says of a part; of a path of at most eight names.
    private static func part(
        _ id: String, _ state: String, _ percent: Double?, _ message: String?
    ) -> ProgressReport? {
        let names = id.split(separator: "/", omittingEmptySubsequences: false)
        guard id.utf8.count <= 128, names.count <= 8, names.allSatisfy({ (1...32).contains($0.utf8.count) }),
            let word = ReportedPart.Word(state == "idle" ? "working" : state)
        else { return nil }
        var report = ProgressReport(message: message)
        report.part = ReportedPart(path: id, progress: percent, word: word)
        return report
    }

    /// Letters, digits and `_.,+/=-`.
    private static func isValue(_ text: Substring) -> Bool {
        text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || "_.,+/=-".utf8.contains($0)
        }
    }

    /// One line of text that is written in base64.
    private static func words(_ value: String?, limit: Int) -> String? {
        guard let bytes = value.flatMap(Base64.decode), (1...limit).contains(bytes.count) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
