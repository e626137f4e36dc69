import API
import Glibc
import Host

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
