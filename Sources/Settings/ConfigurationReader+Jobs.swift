import Cron
import Ledger
import Timeline

extension ConfigurationReader {
    /// The keys of a job, in the order of the manual.
    static let jobKeys = [
        "bot", "schedule", "command", "shell", "env", "cwd", "overlap", "catchUp", "timeout", "grace",
        "retry", "priority", "concurrency", "user", "umask", "nice", "stdin", "limits",
    ]
    static let laterJobKeys = [
        "prompt", "url", "spread", "afterJob", "blackout", "success",
        "labels", "pty",
    ]

    /// A job, or nil after every fault in it was reported.
    func readJob(_ key: Field, _ value: Field, zone: String, bots: Set<String>) -> Configuration.Job? {
        guard let name = key.text() else { return nil }
        let before = value.faults.problems.count
        if let fault = JobName.fault(in: name) { key.fault("\"\(name)\" is no job's name: \(fault)") }
        guard let fields = value.record(keys: Self.jobKeys, later: Self.laterJobKeys) else { return nil }
        let action = readAction(fields, of: value, key)
        let schedule = readSchedule(fields["schedule"], of: key, seed: name, zone: zone)
        // Reading goes on without either, for the faults of the rest.
        var spec = JobSpec(
            name: name, action: action ?? .command([]),
            schedule: schedule ?? ScheduleSpec(kind: .manual, text: "", zone: zone))
        if let field = fields["bot"], let bot = field.word() {
            if !bots.contains(bot) {
                let near = Spelling.nearest(to: bot, among: bots.sorted())
                field.fault(
                    "there is no bot \"\(bot)\"",
                    mend: near.map { "did you mean \"\($0)\"?" } ?? "describe it under bots:")
            }
            spec.bot = bot
        }
        readRules(fields, into: &spec)
        guard action != nil, schedule != nil, value.faults.problems.count == before else { return nil }
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
        if let field = fields["env"] { spec.environment = readEnvironment(field) }
        if let field = fields["cwd"], let path = field.word() {
            if !path.hasPrefix("/") { field.fault("must be an absolute path") }
            spec.directory = path
        }
        if let word = fields["overlap"]?.choice(of: OverlapPolicy.allCases.map(\.rawValue)),
            let policy = OverlapPolicy(rawValue: word)
        {
            spec.overlap = policy
        }
        readProcess(fields, into: &spec)
        if let field = fields["catchUp"] { readCatchUp(field, into: &spec) }
        if let timeout = fields["timeout"]?.positiveDuration() { spec.timeout = timeout }
        if let grace = fields["grace"]?.duration() { spec.grace = grace }
        if let field = fields["retry"] { readRetry(field, into: &spec) }
        if let priority = fields["priority"]?.number(in: JobSpec.priorities) { spec.priority = priority }
        if let field = fields["concurrency"] { spec.concurrency = readConcurrency(field) }
    }

    private func readRetry(_ field: Field, into spec: inout JobSpec) {
        guard let fields = field.record(keys: ["attempts", "onLost", "backoff"]) else { return }
        if let attempts = fields["attempts"]?.number(in: 1...100) { spec.attempts = attempts }
        if let word = fields["onLost"]?.choice(of: ["true", "false"]) { spec.retriesLost = word == "true" }
        if let backoff = fields["backoff"]?.positiveDuration() { spec.backoff = backoff }
        if spec.retriesLost, spec.attempts == 1 {
            fields["onLost"]?.fault("one attempt is never repeated", mend: "write attempts: 2, or more")
        }
    }

    private func readConcurrency(_ field: Field) -> ConcurrencyKey? {
        guard field.isMap || field.isEmpty else {
            field.fault("a map is expected", mend: "write concurrency: { key: disk, max: 1 }")
            return nil
        }
        guard let fields = field.record(keys: ["key", "max"]) else { return nil }
        guard let keyField = fields["key"] else {
            field.fault("no key", mend: "write concurrency: { key: disk, max: 1 }")
            return nil
        }
        guard let key = keyField.word() else { return nil }
        if key.utf8.count > ConcurrencyKey.longest {
            keyField.fault("a key has at most \(ConcurrencyKey.longest) bytes")
        }
        return ConcurrencyKey(key: key, max: fields["max"]?.number(in: 1...1_000_000) ?? 1)
    }

    private func readEnvironment(_ field: Field) -> [String: String] {
        var environment: [String: String] = [:]
        for (key, value) in field.entries() ?? [] {
            guard let name = key.text(), let text = value.text() else { continue }
            if name.isEmpty || name.contains("=") {
                key.fault("\"\(name)\" is no name of an environment variable")
            }
            environment[name] = text
        }
        return environment
    }

    private func readCatchUp(_ field: Field, into spec: inout JobSpec) {
        guard field.isMap || field.isEmpty else {
            field.fault("a map is expected", mend: "write catchUp: { mode: none }")
            return
        }
        guard let fields = field.record(keys: ["mode", "within"], later: ["burst"]) else { return }
        if let word = fields["mode"]?.choice(of: ["none", "latest"], later: ["all"]),
            let mode = CatchUpPolicy.Mode(rawValue: word)
        {
            spec.catchUp.mode = mode
        }
        if let within = fields["within"]?.positiveDuration() { spec.catchUp.within = within }
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
        let before = field.faults.problems.count
        guard
            let fields = field.record(
                keys: ["cron", "zone", "gap", "fold"],
                later: ["every", "after", "at", "startup", "from", "words"])
        else { return nil }
        let hasOddKey = field.faults.problems.count > before
        var spec = ScheduleSpec(kind: .cron, text: "", zone: zone)
        if let name = fields["zone"].flatMap(zoneName) { spec.zone = name }
        spec.gap = fields["gap"]?.choice(of: ["run-after", "skip"])
        spec.fold = fields["fold"]?.choice(of: ["first", "last", "both"])
        guard let cron = fields["cron"] else {
            // A schedule of another kind, which has been told of.
            if !hasOddKey {
                field.fault("no cron expression", mend: "write schedule: { cron: \"30 2 * * *\" }")
            }
            return nil
        }
        guard let text = cron.word() else { return nil }
        spec.text = text
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
                field.fault(title + fault.message, mend: fault.fix, bytes: fault.range)
            }
            return nil
        }
    }
}
