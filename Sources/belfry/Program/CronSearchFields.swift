import API
import ArgumentParser
import Cron
import Host
import Timeline

/// What `cron next` and `cron prev` take.
struct CronSearchFields: ParsableArguments {
    @OptionGroup var fields: CronFields
    @Option(
        help: ArgumentHelp(
            "Start after this time (default: now).", valueName: "iso"))
    var from: String?
    @Option(
        name: .customShort("n"), parsing: .unconditional,
        help: ArgumentHelp("How many times to show.", valueName: "count"))
    var count = 5
    @Flag(help: "Read JSON lines from standard input and answer in order.")
    var stdin = false

    func validate() throws {
        guard count > 0 else { throw ValidationError("-n is a number from 1 up") }
        try fields.requireExpression(orLines: stdin)
    }

    /// Prints what was asked for, or answers the lines of standard input.
    func answer(_ question: CronLines.Question) throws {
        guard !stdin else {
            let lines = CronLines(
                asked: question, options: fields.options, zone: fields.zone,
                from: from, count: count)
            _ = try lines.answerAll()
            return
        }
        let (expression, check) = try fields.accepted()
        let zone = try fields.rules(for: expression)
        let start = try from.map { try Self.moment($0, in: zone) } ?? .now
        let found =
            question == .next
            ? expression.occurrences(after: start, in: zone) : expression.occurrences(before: start, in: zone)
        let warnings = check.warnings + [check.clockChangeWarning(in: zone, after: start)].compactMap { $0 }
        if fields.json {
            StandardOutput.print(
                try WireCoding.text(
                    CronAnswer(
                        expression: expression.text, zone: zone.name,
                        occurrences: found.prefix(count).map { $0.iso8601(in: zone) },
                        warnings: warnings.map { CronAnswer.Remark($0) })))
            return
        }
        let shown = Array(found.prefix(count))
        for moment in shown { StandardOutput.print(moment.iso8601(in: zone)) }
        if shown.isEmpty, !expression.neverFires {
            let side = question == .next ? "after" : "before"
            StandardError.print("belfry: it does not fire \(side) \(start.iso8601(in: zone))")
        }
        for warning in warnings { StandardError.print("belfry: \(warning.message)") }
    }

    private static func moment(_ text: String, in zone: ZoneRules) throws(APIError) -> Moment {
        do {
            return try Moment(iso8601: text, in: zone)
        } catch {
            throw APIError(
                .badValue, "--from: \(error.message)", hint: "Write a time such as 2026-03-29T03:00+02:00.")
        }
    }
}
