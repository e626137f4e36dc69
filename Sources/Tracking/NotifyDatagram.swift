/// What one datagram on a run's `NOTIFY_SOCKET` holds: lines of `KEY=value`.
///
/// Understood are `STATUS`, `READY`, `X_PROGRESS` (`0.42`, `42%`, `21/50`), `X_PHASE`, `X_MESSAGE`,
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
