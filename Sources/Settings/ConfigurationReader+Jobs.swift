import Ledger
import Timeline

extension ConfigurationReader {
    /// The keys of a job, in the order of the manual.
    static let jobKeys = [
        "bot", "schedule", "command", "shell", "env", "cwd", "overlap", "catchUp", "spread", "timeout",
        "grace", "retry", "leftovers", "priority", "concurrency", "user", "umask", "nice", "stdin", "limits",
    ]
    static let laterJobKeys = [
        "prompt", "url", "afterJob", "blackout", "success", "labels", "pty",
    ]

    /// A job, or nil after every fault in it was reported.
    func readJob(_ key: Field, _ value: Field, zone: String, bots: Set<String>) -> Configuration.Job? {
        guard let name = key.text() else { return nil }
        let before = value.faults.problems.count
        if let fault = JobName.fault(in: name) { key.fault("\"\(name)\" is no job's name: \(fault)") }
        guard let fields = value.record(keys: Self.jobKeys, later: Self.laterJobKeys) else { return nil }
        // A misspelt key was reported as unknown; it is not reported as missing, too.
        let named = { value.misspells($0, among: Self.jobKeys + Self.laterJobKeys) }
        let action = readAction(fields, of: value, key, isMisspelt: named(["command", "shell"]))
        let isReported = fields["schedule"] == nil && named(["schedule"])
        let schedule = isReported ? nil : readSchedule(fields["schedule"], of: key, seed: name, zone: zone)
        // Reading goes on without either, for the faults of the rest.
        var spec = JobSpec(
            name: name, action: action ?? .command([]),
            schedule: schedule ?? ScheduleSpec(kind: .manual, text: "", zone: zone))
        if let field = fields["bot"], let bot = field.word() {
            if !bots.contains(bot) {
                let near = Spelling.nearest(to: bot, among: bots.sorted())
                field.fault(
                    "there is no bot \"\(bot)\"",
                    hint: near.map { "did you mean \"\($0)\"?" } ?? "describe it under bots:")
            }
            spec.bot = bot
        }
        readRules(fields, into: &spec)
        guard action != nil, schedule != nil, value.faults.problems.count == before else { return nil }
        for doubt in doubts(spec) { (fields[doubt.key] ?? key).warn(doubt.message, hint: doubt.hint) }
        return Configuration.Job(spec: spec, place: key.place)
    }

    private func readAction(
        _ fields: [String: Field], of job: Field, _ key: Field, isMisspelt: Bool
    ) -> JobAction? {
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
            guard !isMisspelt else { return nil }
            key.fault(
                "this job does nothing", hint: "give it a command: [program, argument] or a shell: text")
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
        if let field = fields["catchUp"] { readCatchUp(field, into: &spec.catchUp) }
        if let field = fields["spread"], let spread = wait(field) { spec.spread = spread }
        if let timeout = fields["timeout"]?.positiveDuration() { spec.timeout = timeout }
        if let grace = fields["grace"]?.duration() { spec.grace = grace }
        if let field = fields["retry"] { readRetry(field, into: &spec) }
        if let field = fields["leftovers"] { readLeftovers(field, into: &spec.leftovers) }
        if let priority = fields["priority"]?.number(in: JobSpec.priorities) { spec.priority = priority }
        if let field = fields["concurrency"] { spec.concurrency = readConcurrency(field) }
    }

    private func readRetry(_ field: Field, into spec: inout JobSpec) {
        guard let fields = field.record(keys: ["attempts", "onLost", "backoff"]) else { return }
        if let attempts = fields["attempts"]?.number(in: 1...100) { spec.attempts = attempts }
        if let word = fields["onLost"]?.choice(of: ["true", "false"]) { spec.retriesLost = word == "true" }
        if let backoff = fields["backoff"]?.positiveDuration() { spec.backoff = backoff }
        if spec.retriesLost, spec.attempts == 1 {
            fields["onLost"]?.fault("one attempt is never repeated", hint: "write attempts: 2, or more")
        }
    }

    private func readLeftovers(_ field: Field, into policy: inout LeftoverPolicy) {
        guard field.isMap || field.isEmpty else {
            field.fault("a map is expected", hint: "write leftovers: { wait: 30s, then: end }")
            return
        }
        guard let fields = field.record(keys: ["wait", "then"]) else { return }
        if let wait = fields["wait"]?.duration() { policy.wait = wait }
        let steps = LeftoverPolicy.Step.allCases.map(\.rawValue)
        if let word = fields["then"]?.choice(of: steps), let step = LeftoverPolicy.Step(rawValue: word) {
            policy.then = step
        }
    }

    private func readConcurrency(_ field: Field) -> ConcurrencyKey? {
        guard field.isMap || field.isEmpty else {
            field.fault("a map is expected", hint: "write concurrency: { key: disk, max: 1 }")
            return nil
        }
        guard let fields = field.record(keys: ["key", "max"]) else { return nil }
        guard let keyField = fields["key"] else {
            field.fault("no key", hint: "write concurrency: { key: disk, max: 1 }")
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
}
