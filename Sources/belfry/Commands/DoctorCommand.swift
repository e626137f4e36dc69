import API
import APIClient
import ArgumentParser
import Host
import TerminalView

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Looks for what is wrong, and says the mend.",
        discussion: """
            Looks at the daemon, its warden, channels, configuration, ledger and disk, and at the machine's clock, \
            zones and session; without a daemon at all of these that need none.

            Exits 0 when nothing fails (there may be warnings), 1 when something does, 3 when no daemon answers.

            Examples:
              belfry doctor
              belfry doctor --json | jq -r '.[] | select(.severity == "problem") | .message'
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        let (status, silence) = try ask()
        let paths = Paths(common.system ? .system : .user)
        var findings = Doctor(status: status, paths: paths, config: common.config).findings()
        if let silence {
            let problem = WireProblem(kind: "noDaemon", message: silence.message, hint: silence.hint)
            findings.insert(problem, at: 0)
        }
        if common.json {
            StandardOutput.print(try WireCoding.text(findings))
        } else {
            show(findings)
        }
        if silence != nil { throw ExitCode(3) }
        if findings.contains(where: { !$0.isWarning }) { throw ExitCode(1) }
    }

    /// What the daemon says, or that there is none.
    private func ask() throws -> (WireStatus?, APIError?) {
        do throws(APIError) {
            return (try common.client().ask(.status), nil)
        } catch {
            guard error.code.row.exitCode == 3 else { throw error }
            return (nil, error)
        }
    }

    private func show(_ findings: [WireProblem]) {
        let screen = common.screen
        for line in StatusText.problems(findings, screen) { screen.print(line) }
        if findings.isEmpty {
            screen.print(screen.paint("Nothing is wrong.", .green))
        } else if findings.allSatisfy(\.isWarning) {
            screen.print(screen.paint("Nothing fails.", .green))
        }
    }
}
