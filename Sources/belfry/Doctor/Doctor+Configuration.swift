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
        if code != 0 {
            let sentence = run.lines.first { !$0.hasPrefix("warning: ") } ?? "it is refused"
            found.insert(
                problem(
                    "badConfiguration", sentence, "see all of it with: belfry config check --config \(config)"
                ),
                at: 0)
        }
        return found
    }
}
