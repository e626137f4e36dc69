import Engine
import Host

/// What the daemon knows of its files and of the machine's that may need a look.
struct HouseFacts: Sendable {
    private let files: ConfigurationFiles
    private let switchboard: Switchboard
    /// The zone data there was when the daemon began.
    private let zoneData = ZoneFiles().version

    init(files: ConfigurationFiles, switchboard: Switchboard) {
        self.files = files
        self.switchboard = switchboard
    }

    @Sendable func problems() -> [EngineProblem] {
        var problems: [EngineProblem] = []
        // After a refusal the files are newer than what is in force, of course.
        if switchboard.refusal == nil, files.edition != switchboard.configuration.edition {
            problems.append(
                EngineProblem(
                    kind: "configNotLoaded",
                    message: "the configuration was changed since it was read; the daemon does not know yet",
                    hint: "read it with: belfry reload", isWarning: true))
        }
        let version = ZoneFiles().version
        if version != zoneData {
            let (before, now) = (zoneData ?? "none", version ?? "none")
            problems.append(
                EngineProblem(
                    kind: "zoneDataChanged",
                    message: "the time zone data changed since the daemon began, from \(before) to \(now)",
                    hint: "restart belfryd, so that every job keeps the new rules; running jobs go on",
                    isWarning: true))
        }
        return problems
    }
}
