import API
import Cron
import Timeline

/// What `cron next --json` says.
struct CronAnswer: Encodable {
    let expression: String
    let zone: String
    let occurrences: [String]
    let warnings: [Remark]

    /// A warning or an error with its place.
    typealias Remark = WireRemark
}

extension WireRemark {
    init(_ warning: CronWarning) {
        self.init(
            kind: warning.kind.rawValue, field: warning.field?.rawValue, range: warning.range,
            message: warning.message)
    }

    init(_ fault: CronFault) {
        self.init(
            kind: fault.kind.rawValue, field: fault.field?.rawValue, range: fault.range,
            message: fault.message, fix: fault.fix)
    }
}

extension APIError {
    /// A text that is refused: its first fault, all of them with their places, and the text drawn with them.
    init(_ faults: [CronFault], drawn drawing: String) {
        self.init(.badSchedule, faults.first.map(Self.sentence) ?? "the expression is refused")
        hint = faults.first?.fix
        errors = faults.map { WireRemark($0) }
        self.drawing = "the expression is refused:\n\(drawing)"
    }

    private static func sentence(_ fault: CronFault) -> String {
        (fault.field.map { "\($0.title): " } ?? "") + fault.message
    }
}

/// What `cron check --json` says: an error and, where there are several, all of them.
struct CronVerdict: Encodable {
    let expression: String
    let warnings: [CronAnswer.Remark]
    let error: CronAnswer.Remark?
    let errors: [CronAnswer.Remark]?

    init(_ text: String, warnings: [CronWarning] = [], faults: [CronFault] = []) {
        expression = text
        self.warnings = warnings.map { CronAnswer.Remark($0) }
        error = faults.first.map { CronAnswer.Remark($0) }
        errors = faults.count > 1 ? faults.map { CronAnswer.Remark($0) } : nil
    }
}

/// What `cron explain --json` says.
struct CronExplanation: Encodable {
    let expression: String
    let zone: String
    let words: String
    /// The text with the same meaning in numbers and the fewest fields.
    let canonical: String
    let occurrences: [String]
    let warnings: [CronAnswer.Remark]
    /// What is true of its dates and easily overlooked.
    let notes: [String]
}

extension PhraseAnswer {
    /// The next three times; nil where no clock decides.
    func slots(after now: Moment) -> [Moment]? {
        guard schedule.isClockDriven else { return nil }
        return schedule.slots(after: now, through: .distantFuture, in: zone, limit: 3)
    }
}

/// What `cron words --json` prints: the schedule, or what was not understood.
struct CronPhraseAnswer: Encodable {
    let phrase: String
    var kind: String?
    /// What `--cron` takes; absent where no expression can say it.
    var expression: String?
    /// The schedule as it is kept: `calendar zone=Europe/Berlin 2w fri 17:00 from 2026-11-27`.
    var schedule: String?
    var zone: String?
    var words: String?
    /// The next three times; absent where no clock decides.
    var occurrences: [String]?
    /// How limits such as `between 9 and 17` were understood, and what stands for what the phrase does not name.
    var note: String?
    /// What is easily overlooked in the dates, and what to do with several expressions.
    var remarks: [String]?
    /// The expressions that together say the phrase, where one cannot; then `expression` is absent.
    var expressions: [String]?
    var error: CronAnswer.Remark?
    var errors: [CronAnswer.Remark]?

    init(_ phrase: String, _ read: PhraseAnswer, after now: Moment) {
        let schedules = read.schedule.members
        let expressions = schedules.compactMap { schedule -> CronExpression? in
            if case .cron(let expression, _) = schedule { expression } else { nil }
        }
        self.phrase = phrase
        note = read.note
        kind = schedules[0].kind.rawValue
        zone = read.zone.name
        words = schedules.map { Self.words($0, in: read.zone, countedFrom: now) }.joined(separator: "; ")
        var remarks = expressions.flatMap(\.notes)
        schedule = read.schedule.text
        if schedules.count == 1 {
            expression = expressions.first?.description
        } else {
            self.expressions = expressions.map(\.description)
            remarks.append("no single expression has these times; give job add one --cron for each")
        }
        if !remarks.isEmpty { self.remarks = remarks }
        occurrences = read.slots(after: now)?.map { $0.iso8601(in: read.zone) }
    }

    /// What a schedule means; a grid that begins at `now` is counted from now.
    static func words(_ schedule: Schedule, in zone: ZoneRules, countedFrom now: Moment) -> String {
        let words = schedule.words(in: zone)
        let anchor = now.iso8601(in: zone)
        guard schedule.kind == .every, words.hasSuffix(anchor) else { return words }
        return words.dropLast(anchor.count) + "now"
    }

    init(_ error: CronError) {
        phrase = error.text
        self.error = error.faults.first.map { CronAnswer.Remark($0) }
        errors = error.faults.count > 1 ? error.faults.map { CronAnswer.Remark($0) } : nil
    }
}
