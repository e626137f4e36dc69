import API
import ArgumentParser
import Cron

struct CronCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks an expression: exits 0, or 1 with the error drawn under the text.")

    @OptionGroup var fields: CronFields

    func run() throws {
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
