import Engine

/// What the daemon knows of its files that may need a look.
struct HouseFacts: Sendable {
    private let files: ConfigurationFiles
    private let switchboard: Switchboard

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
        return problems
    }
}
