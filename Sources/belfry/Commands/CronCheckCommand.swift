import API
import ArgumentParser
import Cron

struct CronCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks an expression; exits 1 and points at the error if it is not valid.",
        discussion: """
              belfry cron check "0 9 * * mon-fri"
            """)

    @OptionGroup var fields: CronFields
    @Flag(help: "Read JSON lines from standard input and answer in order; exit 1 if any is refused.")
    var stdin = false

    func validate() throws { try fields.requireExpression(orLines: stdin) }

    func run() throws {
        guard !stdin else {
            let lines = CronLines(asked: .check, options: fields.options, zone: fields.zone)
            guard try lines.answerAll() == 0 else { throw ExitCode(1) }
            return
        }
        _ = try fields.rules(for: nil)
        let (verdict, drawing) = verdict()
        if fields.json {
            StandardOutput.print(try WireCoding.text(verdict))
        } else if verdict.error == nil {
            StandardOutput.print(drawing)
        } else {
            StandardError.print(drawing)
        }
        if verdict.error != nil { throw ExitCode(1) }
    }

    private func verdict() -> (CronVerdict, drawing: String) {
        let text = fields.expression ?? ""
        do throws(CronError) {
            if try CronFields.event(text) != nil { return (CronVerdict(text), text) }
        } catch {
            return (CronVerdict(text, faults: error.faults), error.drawing)
        }
        let check = fields.check()
        return (CronVerdict(text, warnings: check.warnings, faults: check.faults), check.drawing)
    }
}
