import Cron
import Ledger
import Timeline

extension ConfigurationReader {
    /// The keys of a job, in the order of the manual.
    static let jobKeys = [
        "bot", "schedule", "command", "shell", "env", "cwd", "overlap", "catchUp", "timeout", "grace",
        "retry",
    ]
    static let laterJobKeys = [
        "prompt", "url", "spread", "user", "umask", "stdin", "priority", "nice", "concurrency", "afterJob",
        "blackout", "success", "labels", "pty", "limits",
    ]

    /// A job, or nil after every fault in it was reported.
    func readJob(_ key: Field, _ value: Field, zone: String, bots: Set<String>) -> Configuration.Job? {
        guard let name = key.text() else { return nil }
        let before = value.faults.problems.count
        if let fault = JobName.fault(in: name) { key.fault("\"\(name)\" is no job's name: \(fault)") }
        guard let fields = value.record(keys: Self.jobKeys, later: Self.laterJobKeys) else { return nil }
        let action = readAction(fields, of: value, key)
        let schedule = readSchedule(fields["schedule"], of: key, seed: name, zone: zone)
        guard let action, let schedule else { return nil }
        var spec = JobSpec(name: name, action: action, schedule: schedule)
        if let field = fields["bot"], let bot = field.word() {
            if !bots.contains(bot) {
                field.fault("there is no bot \"\(bot)\"", mend: "describe it under bots:")
            }
            spec.bot = bot
        }
        readRules(fields, into: &spec)
        guard value.faults.problems.count == before else { return nil }
        return Configuration.Job(spec: spec, place: key.place)
    }

    private func readAction(_ fields: [String: Field], of job: Field, _ key: Field) -> JobAction? {
        switch (fields["command"], fields["shell"]) {
        case (let command?, nil):
            guard let words = command.words() else { return nil }
            guard !words.isEmpty else {
                command.fault("a command has at least one word")
                return nil
            }
            return .command(words)
        case (nil, let shell?):
            return shell.word().map(JobAction.shell)
        case (_?, let shell?):
            shell.fault("a job has a command or a shell text, not both")
            return nil
        case (nil, nil):
            key.fault(
                "this job does nothing", mend: "give it a command: [program, argument] or a shell: text")
            return nil
        }
    }

    private func readRules(_ fields: [String: Field], into spec: inout JobSpec) {
        if let environment = fields["env"]?.texts() {
            for name in environment.keys where name.isEmpty || name.contains("=") {
                fields["env"]?.fault("\"\(name)\" is no name of an environment variable")
            }
            spec.environment = environment
        }
        if let field = fields["cwd"], let path = field.word() {
            if !path.hasPrefix("/") { field.fault("must be an absolute path") }
            spec.directory = path
        }
        if let field = fields["overlap"], let word = field.word() {
            if let policy = OverlapPolicy(rawValue: word) {
                spec.overlap = policy
            } else if ["queue-one", "queue-all", "replace", "allow"].contains(word) {
                field.fault("\"\(word)\" is not in this version", mend: "write skip")
            } else {
                field.fault("\"\(word)\" is no overlap policy", mend: "write skip")
            }
        }
        if let field = fields["catchUp"] { readCatchUp(field, into: &spec) }
        if let field = fields["timeout"], let timeout = positive(field) { spec.timeout = timeout }
        if let field = fields["grace"], let grace = field.duration() { spec.grace = grace }
        if let retry = fields["retry"]?.record(keys: ["attempts"], later: ["onLost", "backoff"]),
            let field = retry["attempts"], let attempts = field.number(in: 1...100)
        {
            if attempts > 1 { field.fault("more than one attempt is not in this version") }
            spec.attempts = attempts
        }
    }

    private func positive(_ field: Field) -> Duration? {
        guard let duration = field.duration() else { return nil }
        if duration <= .zero { field.fault("must be longer than nothing") }
        return duration
    }

    private func readCatchUp(_ field: Field, into spec: inout JobSpec) {
        guard let fields = field.record(keys: ["mode", "within"], later: ["burst"]) else { return }
        if let field = fields["mode"], let word = field.word() {
            if let mode = CatchUpPolicy.Mode(rawValue: word) {
                spec.catchUp.mode = mode
            } else if word == "all" {
                field.fault("\"all\" is not in this version", mend: "write none or latest")
            } else {
                field.fault("\"\(word)\" is none of none, latest")
            }
        }
        if let within = fields["within"].flatMap(positive) { spec.catchUp.within = within }
    }

    // MARK: Schedules

    private func readSchedule(_ field: Field?, of job: Field, seed: String, zone: String) -> ScheduleSpec? {
        guard let field else {
            job.fault(
                "this job has no schedule",
                mend: "write schedule: { cron: \"30 2 * * *\" } or schedule: manual")
            return nil
        }
        if let word = field.scalar {
            if word == "manual" { return ScheduleSpec(kind: .manual, text: "", zone: zone) }
            if word == "startup" {
                field.fault("\"startup\" is not in this version")
                return nil
            }
            return checked(ScheduleSpec(kind: .cron, text: word, zone: zone), field, seed: seed)
        }
        guard
            let fields = field.record(
                keys: ["cron", "zone", "gap", "fold"],
                later: ["every", "after", "at", "startup", "from", "words"])
        else { return nil }
        guard let cron = fields["cron"] else {
            if field.faults.problems.isEmpty || fields.isEmpty {
                field.fault("no cron expression", mend: "write schedule: { cron: \"30 2 * * *\" }")
            }
            return nil
        }
        guard let text = cron.word() else { return nil }
        var spec = ScheduleSpec(kind: .cron, text: text, zone: zone)
        if let field = fields["zone"] {
            guard let name = zoneName(field) else { return nil }
            spec.zone = name
        }
        if let field = fields["gap"], let word = field.word() {
            guard ["run-after", "skip"].contains(word) else {
                field.fault("\"\(word)\" is none of run-after, skip")
                return nil
            }
            spec.gap = word
        }
        if let field = fields["fold"], let word = field.word() {
            guard ["first", "last", "both"].contains(word) else {
                field.fault("\"\(word)\" is none of first, last, both")
                return nil
            }
            spec.fold = word
        }
        return checked(spec, cron, seed: seed)
    }

    /// The spec, if its text is a schedule; its faults are pointed at inside the text.
    private func checked(_ spec: ScheduleSpec, _ field: Field, seed: String) -> ScheduleSpec? {
        do {
            _ = try spec.schedule(seed: seed) { zone($0) != nil }
            return spec
        } catch {
            for fault in error.faults {
                let title = fault.field.map { "\($0.title): " } ?? ""
                let range =
                    fault.range.isEmpty ? fault.range.lowerBound..<fault.range.lowerBound + 1 : fault.range
                field.fault(title + fault.message, mend: fault.fix, range: range)
            }
            return nil
        }
    }
}
