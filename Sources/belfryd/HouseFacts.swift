import Engine

/// What the daemon knows of its files that may need a look.
struct HouseFacts: Sendable {
    private let files: ConfigurationFiles
    private let switchboard: Switchboard
    private let state: StatePlace

    init(files: ConfigurationFiles, switchboard: Switchboard, state: StatePlace) {
        self.files = files
        self.switchboard = switchboard
        self.state = state
    }

    @Sendable func problems() -> [EngineProblem] {
        var problems = state.problems
        // After a refusal the files are newer than the active configuration, of course.
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
