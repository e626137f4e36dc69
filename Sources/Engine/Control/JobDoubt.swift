package import Cron
package import Ledger
package import Timeline

/// A reason why a job can never work as it is, though nothing in it is malformed.
package struct JobDoubt: Hashable, Sendable {
    /// The key of the job that is at fault, as in the configuration file.
    package var key: String
    /// One sentence without a full stop.
    package var message: String
    /// What to do, where that is known.
    package var hint: String?

    /// `there is no program "resitc"; install it, or correct its name`.
    package var sentence: String { hint.map { "\(message); \($0)" } ?? message }
}

/// What can be seen of the machine that jobs run on; by itself it sees nothing wrong.
package struct MachineLook: Sendable {
    /// Why the job's program can't be run; nil: nothing is known against it.
    package var programFault: @Sendable (JobSpec) -> String?
    /// Whether there is a user of that name or number; also when nobody knows.
    package var isUser: @Sendable (String) -> Bool
    /// Whether there is a folder at that path; also when nobody knows.
    package var isFolder: @Sendable (String) -> Bool
    /// Whether there is a file at that path; also when nobody knows.
    package var isFile: @Sendable (String) -> Bool

    package init(
        programFault: @escaping @Sendable (JobSpec) -> String? = { _ in nil },
        isUser: @escaping @Sendable (String) -> Bool = { _ in true },
        isFolder: @escaping @Sendable (String) -> Bool = { _ in true },
        isFile: @escaping @Sendable (String) -> Bool = { _ in true }
    ) {
        self.programFault = programFault
        self.isUser = isUser
        self.isFolder = isFolder
        self.isFile = isFile
    }
}

extension JobSpec {
    /// Why it can never run, or fails each time, as far as can be seen at `now`.
    package func doubts(
        _ schedule: Schedule, in rules: ZoneRules, at now: Moment, on machine: MachineLook
    ) -> [JobDoubt] {
        var doubts: [JobDoubt] = []
        switch schedule {
        case .at(let moment) where moment <= now:
            doubts.append(
                JobDoubt(
                    key: "schedule",
                    message: "\(self.schedule.text) is in the past: the job never runs by itself"))
        case .cron where schedule.preview(after: now, in: rules, count: 1).isEmpty:
            doubts.append(
                JobDoubt(
                    key: "schedule",
                    message: "\"\(self.schedule.text)\" never occurs: the job never runs by itself"))
        default: break
        }
        if let fault = machine.programFault(self) {
            doubts.append(
                JobDoubt(key: "command", message: fault, hint: "each run fails until that is corrected"))
        }
        if let user = process?.user, !machine.isUser(user) {
            doubts.append(
                JobDoubt(
                    key: "user", message: "there is no user \"\(user)\"",
                    hint: "each run fails until there is"))
        }
        if let folder = directory, !machine.isFolder(folder) {
            doubts.append(
                JobDoubt(
                    key: "cwd", message: "there is no folder \(folder)",
                    hint: "each run fails until there is"))
        }
        if case .file(let path)? = process?.input, !machine.isFile(path) {
            doubts.append(
                JobDoubt(
                    key: "stdin", message: "there is no file \(path)",
                    hint: "each run fails until there is"))
        }
        return doubts
    }

    /// The same, of a spec whose schedule was not read yet; nothing when it can't be read.
    package func doubts(at now: Moment, on machine: MachineLook, zones: @escaping ZoneLookup) -> [JobDoubt] {
        do throws(EngineError) {
            let (schedule, rules) = try schedule.read(seed: name, since: now, zones: zones)
            return doubts(schedule, in: rules, at: now, on: machine)
        } catch {
            return []
        }
    }
}
