import API
import ArgumentParser
import Cron
import Host
import Timeline

struct CronNextCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next", abstract: "Shows when an expression fires next.",
        discussion: #"  belfry cron next "30 2 * * *" --zone Europe/Berlin --from 2026-03-28T00:00Z -n 3"#)

    @OptionGroup var fields: CronFields
    @Option(help: ArgumentHelp("Begin after this time; now otherwise.", valueName: "iso"))
    var from: String?
    @Option(name: .customShort("n"), help: ArgumentHelp("How many.", valueName: "count"))
    var count = 5

    func validate() throws {
        guard count > 0 else { throw ValidationError("-n is a number from 1 up") }
    }

    func run() throws {
        let check = fields.check()
        guard let expression = check.expression else {
            throw APIError(.badSchedule, "the expression is refused:\n\(check.drawing)")
        }
        let zone = try fields.rules(for: expression)
        let start = try from.map { try Self.moment($0, in: zone) } ?? .now
        let found = expression.occurrences(after: start, in: zone).prefix(count)
        let warnings = check.warnings + [check.clockChangeWarning(in: zone, after: start)].compactMap { $0 }
        if fields.json {
            StandardOutput.print(
                try WireCoding.text(
                    CronAnswer(
                        expression: expression.text, zone: zone.name,
                        occurrences: found.map { $0.iso8601(in: zone) },
                        warnings: warnings.map(CronAnswer.Remark.init))))
            return
        }
        for moment in found { StandardOutput.print(moment.iso8601(in: zone)) }
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
