import API
import ArgumentParser
import Cron
import Host
import Timeline

struct CronExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Describes an expression in words, with warnings and its next 3 occurrences.",
        discussion: #"  belfry cron explain "30 2 * * MON-FRI" --zone Europe/Berlin"#)

    @OptionGroup var fields: CronFields

    func validate() throws { try fields.requireExpression() }

    func run() throws {
        let event: Schedule?
        do throws(CronError) {
            event = try CronFields.event(fields.expression ?? "")
        } catch {
            throw APIError(error.faults, drawn: error.drawing)
        }
        if let event { return try explain(event) }
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
                warnings: warnings.map { CronAnswer.Remark($0) }, notes: notes(on: expression))
            StandardOutput.print(try WireCoding.text(answer))
            return
        }
        StandardOutput.print(expression.words)
        let schedule = Schedule.cron(expression, zone: zone.name)
        let lines = schedule.preview(after: now, in: zone, count: 3)
        for line in lines {
            let time = line.moment.iso8601(in: zone)
            let note = line.noteWords.map { "  \($0)" } ?? ""
            StandardOutput.print(line.isSlot ? "  \(time)\(note)" : "  (\(time))\(note)")
        }
        if lines.isEmpty, !expression.neverFires { StandardOutput.print("note: it does not fire any more") }
        for warning in warnings {
            let field = warning.field.map { "\($0.title): " } ?? ""
            StandardOutput.print("note: \(field)\(warning.message)")
        }
        for note in notes(on: expression) { StandardOutput.print("note: \(note)") }
    }

    /// What is easily overlooked in the dates, and what `H` stands for.
    private func notes(on expression: CronExpression) -> [String] {
        var plain = fields.options
        plain.seed = nil
        guard let seed = fields.seed, (try? CronExpression(expression.text, options: plain)) == nil else {
            return expression.notes
        }
        return ["with the seed \"\(seed)\" this is \(expression.description)"] + expression.notes
    }

    private func explain(_ event: Schedule) throws {
        let zone = try fields.rules(for: nil)
        let times = event.slots(after: .now, through: .distantFuture, in: zone, limit: 3)
            .map { $0.iso8601(in: zone) }
        var canonical = "@reboot"
        if case .every(let interval, _) = event { canonical = "@every \(interval.text)" }
        guard !fields.json else {
            let answer = CronExplanation(
                expression: fields.expression ?? "", zone: zone.name, words: event.words(in: zone),
                canonical: canonical, occurrences: times, warnings: [], notes: [])
            StandardOutput.print(try WireCoding.text(answer))
            return
        }
        StandardOutput.print(event.words(in: zone))
        for time in times { StandardOutput.print("  \(time)") }
        if !times.isEmpty {
            StandardOutput.print("note: here from now on; a job counts from when it is made")
        }
    }
}
