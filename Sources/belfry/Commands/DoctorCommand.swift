import API
import APIClient
import ArgumentParser
import Host
import TerminalView

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Finds problems and suggests fixes.",
        discussion: """
            Checks the daemon, its warden, channels, configuration, ledger and disk, and the machine's clock, \
            time zones and session. Without a daemon it runs the checks that do not need one.

            Exits 0 if nothing is wrong (there may be warnings), 1 if there are problems, 3
            if no daemon answers.

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

    /// The daemon's status, or the problem that there is none.
    private func ask() throws -> (WireStatus?, APIError?) {
        do throws(APIError) {
            return (try common.client().ask(Endpoints.status()), nil)
        } catch {
            guard error.code.row.exitCode == 3 else { throw error }
            return (nil, error)
        }
    }

    private func show(_ findings: [WireProblem]) {
        let screen = common.screen
        StatusText.print(findings, on: screen)
        if findings.isEmpty {
            screen.print(screen.paint("Nothing is wrong.", .green))
        } else if findings.allSatisfy(\.isWarning) {
            screen.print(screen.paint("No problems; \(Plural.of(findings.count, "warning")).", .green))
        }
    }
}
