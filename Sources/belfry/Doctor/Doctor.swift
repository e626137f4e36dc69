import API
import Glibc
import Host

/// Looks at one daemon's house from the outside: its machine, its files and its programs.
///
/// Works where no daemon answers; what this user may not look at is passed over.
struct Doctor {
    /// The daemon's status; nil: none answers.
    let status: WireStatus?
    let owner: Paths.Owner
    let config: String
    let state: String
    let environment: [String: String]

    /// A doctor for the daemon that answered, else for the one that `paths` would have.
    init(
        status: WireStatus?, paths: Paths, config: String? = nil,
        environment: [String: String] = Machine.environment
    ) {
        self.status = status
        self.environment = environment
        self.config = config ?? status?.config ?? paths.config
        state = status?.state ?? paths.state
        owner = state == Paths(.system, environment: [:]).state ? .system : paths.owner
    }

    /// Everything found, what fails first.
    func findings() -> [WireProblem] {
        let reported = status?.problems ?? []
        let seen = stateFindings() + programFindings() + configurationFindings() + machineFindings()
        // The daemon's own words win over ours for the same thing.
        let found = reported + seen.filter { problem in !reported.contains { $0.kind == problem.kind } }
        return found.filter { !$0.isWarning } + found.filter(\.isWarning)
    }

    func problem(_ kind: String, _ message: String, _ hint: String? = nil) -> WireProblem {
        WireProblem(kind: kind, message: message, hint: hint)
    }

    func warning(_ kind: String, _ message: String, _ hint: String? = nil) -> WireProblem {
        WireProblem(kind: kind, message: message, hint: hint, severity: .warning)
    }
}

extension Doctor {
    /// What `belfryd --check` reports of the file.
    func configurationFindings() -> [WireProblem] {
        guard unsafe access(config, F_OK) == 0 else {
            return status == nil
                ? [
                    warning(
                        "noConfiguration",
                        "there is no configuration file at \(config); the defaults apply",
                        "copy config/belfry.yaml there and edit it")
                ] : []
        }
        // Another user's file, secrets and all: only the daemon itself can read it.
        guard unsafe access(config, R_OK) == 0 else { return [] }
        guard let run = ToolRun(Self.daemonProgram, ["--check", "--config", config]), let code = run.code
        else {
            return [problem("noProgram", "belfryd can't be started", "install belfryd beside belfry")]
        }
        var found = run.lines.filter { $0.hasPrefix("warning: ") }.map { line in
            warning(
                line.contains("is open to others") ? "secret" : "config", Self.without(["warning: "], line))
        }
        if code != 0, let sentence = newFault(in: run.lines) {
            found.insert(
                problem(
                    "badConfiguration", sentence, "see all of it with: belfry config check --config \(config)"
                ),
                at: 0)
        }
        return found
    }

    /// The first fault of the file that the daemon has not reported itself as a part that it left out.
    private func newFault(in lines: [String]) -> String? {
        // What a line begins with two spaces for is the text at fault.
        let faults = lines.filter { line in !["warning: ", "note: ", "  "].contains { line.hasPrefix($0) } }
        let reported = (status?.problems ?? []).filter { $0.kind == "configPartial" }.map(\.message)
        guard !faults.isEmpty else { return "it is refused" }
        return faults.first { fault in !reported.contains { Self.isSame($0, fault) } }
    }

    /// Whether a report such as `job "a" at FILE:3 is left out: WHY` is about a fault such as `FILE:3:5: WHY; HINT`.
    private static func isSame(_ report: String, _ fault: String) -> Bool {
        let mark = " is left out: "
        guard let range = report.firstRange(of: mark) else { return false }
        let place = report[..<range.lowerBound].split(separator: " ").last ?? ""
        return fault.hasPrefix("\(place):") || fault.contains(report[range.upperBound...])
    }
}
