import Cron

/// What `cron next --json` says.
struct CronAnswer: Encodable {
    let expression: String
    let zone: String
    let occurrences: [String]
    let warnings: [Remark]

    /// A warning or an error with its place.
    struct Remark: Encodable {
        let kind: String
        let field: String?
        let start: Int
        let end: Int
        let message: String
        let fix: String?

        init(kind: String, range: Range<Int>, message: String, fix: String?) {
            self.kind = kind
            field = nil
            start = range.lowerBound
            end = range.upperBound
            self.message = message
            self.fix = fix
        }

        init(_ warning: CronWarning) {
            kind = warning.kind.rawValue
            field = warning.field?.rawValue
            start = warning.range.lowerBound
            end = warning.range.upperBound
            message = warning.message
            fix = nil
        }

        init(_ fault: CronFault) {
            kind = fault.kind.rawValue
            field = fault.field?.rawValue
            start = fault.range.lowerBound
            end = fault.range.upperBound
            message = fault.message
            fix = fault.fix
        }
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
        self.warnings = warnings.map(CronAnswer.Remark.init)
        error = faults.first.map(CronAnswer.Remark.init)
        errors = faults.count > 1 ? faults.map(CronAnswer.Remark.init) : nil
    }
}
