import API
import APIClient
import ArgumentParser
import Host
import TerminalView

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Looks for what is wrong, and says the mend.",
        discussion: "Exits 0 when nothing is wrong, 1 when something is, 3 when no daemon answers.")

    @OptionGroup var common: CommonOptions

    func run() throws {
        let status: WireStatus = try common.client().ask(.status)
        let problems = status.problems + Self.ofThisMachine
        if common.json {
            StandardOutput.print(try WireCoding.text(problems))
        } else {
            let screen = common.screen
            for line in StatusText.problems(problems, screen) { screen.print(line) }
            if problems.isEmpty { screen.print(screen.paint("Nothing is wrong.", .green)) }
        }
        if !problems.isEmpty { throw ExitCode(1) }
    }

    /// What the daemon's own answer does not tell of.
    private static var ofThisMachine: [WireProblem] {
        var problems: [WireProblem] = []
        if !Machine.isClockSynchronised {
            problems.append(
                WireProblem(
                    kind: "clockNotSynchronised",
                    message: "the kernel says that the clock is not synchronised",
                    hint: "turn on a time service: timedatectl set-ntp true"))
        }
        if ZoneFiles().version == nil {
            problems.append(
                WireProblem(
                    kind: "noZoneData", message: "no version of the time zone data was found",
                    hint: "install it: apt install tzdata"))
        }
        return problems
    }
}
