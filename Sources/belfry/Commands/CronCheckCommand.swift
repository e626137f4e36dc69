import API
import ArgumentParser
import Cron

struct CronCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks an expression: exits 0, or 1 with the error drawn under the text.")

    @OptionGroup var fields: CronFields
    @Flag(help: "Answer JSON lines from standard input, in order; exit 1 when one of them is refused.")
    var stdin = false

    func validate() throws { try fields.requireExpression(orLines: stdin) }

    func run() throws {
        guard !stdin else {
            let lines = CronLines(asked: .check, options: fields.options, zone: fields.zone)
            guard try lines.answerAll() == 0 else { throw ExitCode(1) }
            return
        }
        let check = fields.check()
        _ = try fields.rules(for: check.expression)
        if fields.json {
            StandardOutput.print(try WireCoding.text(CronVerdict(check)))
        } else if check.faults.isEmpty {
            StandardOutput.print(check.drawing)
        } else {
            StandardError.print(check.drawing)
        }
        if !check.faults.isEmpty { throw ExitCode(1) }
    }
}
