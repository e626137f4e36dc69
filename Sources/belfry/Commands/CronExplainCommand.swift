import API
import ArgumentParser
import Cron
import Host
import Timeline

struct CronExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Says an expression in words, with warnings and the next 3 occurrences.",
        discussion: #"  belfry cron explain "30 2 * * MON-FRI" --zone Europe/Berlin"#)

    @OptionGroup var fields: CronFields

    func validate() throws { try fields.requireExpression() }

    func run() throws {
        let (expression, check) = try fields.accepted()
        let zone = try fields.rules(for: expression)
        let now = Moment.now
        let warnings = check.warnings + [check.clockChangeWarning(in: zone, after: now)].compactMap { $0 }
        if fields.json {
            let answer = CronExplanation(
                expression: expression.text, zone: zone.name, words: expression.words,
                canonical: expression.description,
                occurrences: expression.occurrences(after: now, in: zone).prefix(3).map {
                    $0.iso8601(in: zone)
                },
                warnings: warnings.map(CronAnswer.Remark.init))
            StandardOutput.print(try WireCoding.text(answer))
            return
        }
        StandardOutput.print(expression.words)
        let schedule = Schedule.cron(expression, zone: zone.name)
        for line in schedule.preview(after: now, in: zone, count: 3) {
            let time = line.moment.iso8601(in: zone)
            let note = line.noteWords.map { "  \($0)" } ?? ""
            StandardOutput.print(line.isSlot ? "  \(time)\(note)" : "  (\(time))\(note)")
        }
        for warning in warnings {
            let field = warning.field.map { "\($0.title): " } ?? ""
            StandardOutput.print("note: \(field)\(warning.message)")
        }
    }
}
