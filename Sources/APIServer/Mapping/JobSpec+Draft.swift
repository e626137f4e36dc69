import API
import Ledger
import Timeline

extension JobSpec {
    /// The job that `draft` asks for; what it does not say is by default.
    ///
    /// - Throws: ``APIError`` for what is missing, malformed, or of a later version.
    init(_ draft: JobDraft, _ reading: ScheduleReading) throws(APIError) {
        guard let name = draft.name else { throw APIError(.badValue, "the job has no name") }
        guard let action = try Self.action(draft) else {
            throw APIError(.badValue, "the job has nothing to do", hint: "Give it a command or a shell text.")
        }
        self.init(
            name: name, action: action, schedule: ScheduleSpec(kind: .manual, text: "", zone: reading.zone))
        try apply(draft, reading)
    }

    /// Changes what `draft` says, and nothing else.
    mutating func apply(_ draft: JobDraft, _ reading: ScheduleReading) throws(APIError) {
        if let bot = draft.bot {
            if let fault = JobName.fault(in: bot) { throw APIError(.badName, "bot \"\(bot)\": \(fault)") }
            self.bot = bot
        }
        if let action = try Self.action(draft) { self.action = action }
        if let schedule = draft.schedule { self.schedule = try ScheduleSpec(schedule, reading) }
        if let cwd = draft.cwd {
            guard cwd.hasPrefix("/") else {
                throw APIError(.badValue, "cwd is not an absolute path: \"\(cwd)\"")
            }
            directory = cwd
        }
        if let env = draft.env { environment = env }
        try applyProcess(draft)
        if let overlap = draft.overlap { self.overlap = try Self.overlap(overlap) }
        try applyLateness(draft)
        if let milliseconds = draft.timeoutMs {
            timeout = milliseconds == 0 ? nil : try Self.duration(milliseconds, "timeout")
        }
        if let milliseconds = draft.graceMs { grace = try Self.duration(milliseconds, "grace") }
        try applyTurns(draft)
    }

    private mutating func applyProcess(_ draft: JobDraft) throws(APIError) {
        var rules = process ?? ProcessRules()
        if let user = draft.user { rules.user = user.isEmpty ? nil : user }
        if let nice = draft.nice {
            guard (-20...19).contains(nice) else {
                throw APIError(.badValue, "nice is a number from -20 to 19")
            }
            rules.nice = nice
        }
        if !rules.areNone || process != nil { process = rules }
    }

    private mutating func applyTurns(_ draft: JobDraft) throws(APIError) {
        if let attempts = draft.attempts {
            guard (1...100).contains(attempts) else {
                throw APIError(.badValue, "attempts is a number from 1 to 100")
            }
            self.attempts = attempts
        }
        if let isTried = draft.onLost { retriesLost = isTried }
        if let milliseconds = draft.backoffMs { backoff = try Self.duration(milliseconds, "backoff") }
        if let wish = draft.leftovers { try applyLeftovers(wish) }
        if let priority = draft.priority {
            guard Self.priorities.contains(priority) else {
                throw APIError(.badValue, "priority is a number from -100 to 100")
            }
            self.priority = priority
        }
        if let wire = draft.concurrency {
            guard wire.key.utf8.count <= ConcurrencyKey.longest, wire.max > 0 else {
                throw APIError(
                    .badValue, "concurrency is a key of at most 100 bytes and a number from 1 up")
            }
            concurrency = wire.key.isEmpty ? nil : ConcurrencyKey(key: wire.key, max: wire.max)
        }
    }

    private mutating func applyLeftovers(_ wish: WireLeftovers) throws(APIError) {
        if let milliseconds = wish.waitMs {
            leftovers.wait =
                milliseconds == 0 ? .zero : try Self.duration(milliseconds, "the wait for leftovers")
        }
        guard let word = wish.then else { return }
        guard let step = LeftoverPolicy.Step(rawValue: word) else {
            throw APIError(.badValue, "leftovers is not \"\(word)\"", hint: "It is: end or fail")
        }
        leftovers.then = step
    }

    private static func action(_ draft: JobDraft) throws(APIError) -> JobAction? {
        switch (draft.command, draft.shell) {
        case (nil, nil): return nil
        case (let command?, nil):
            guard let program = command.first, !program.isEmpty else {
                throw APIError(.badValue, "the command is empty")
            }
            return .command(command)
        case (nil, let text?):
            guard !text.isEmpty else { throw APIError(.badValue, "the shell text is empty") }
            return .shell(text)
        case (_?, _?): throw APIError(.badValue, "command and shell exclude each other")
        }
    }

    private static func overlap(_ word: String) throws(APIError) -> OverlapPolicy {
        if let policy = OverlapPolicy(rawValue: word) { return policy }
        throw APIError(
            .badValue, "overlap is not \"\(word)\"",
            hint: "It is: \(OverlapPolicy.allCases.map(\.rawValue).joined(separator: ", "))")
    }

    /// What the draft says of slots that are late, or are to be.
    private mutating func applyLateness(_ draft: JobDraft) throws(APIError) {
        if let word = draft.catchUp {
            guard let mode = CatchUpPolicy.Mode(rawValue: word) else {
                throw APIError(.badValue, "catch-up is not \"\(word)\"", hint: "It is: none, latest or all")
            }
            catchUp.mode = mode
        }
        if let within = draft.withinMs { catchUp.within = try Self.duration(within, "within") }
        if let burst = draft.burst {
            guard catchUp.mode == .all else {
                throw APIError(
                    .badValue, "burst belongs to catch-up all", hint: "Say both: --catch-up all --burst N")
            }
            guard (1...CatchUpPolicy.greatestBurst).contains(burst) else {
                throw APIError(.badValue, "burst is a number from 1 to \(CatchUpPolicy.greatestBurst)")
            }
            catchUp.burst = burst
        }
        if let milliseconds = draft.spreadMs {
            spread = milliseconds == 0 ? nil : try Self.duration(milliseconds, "spread")
        }
    }

    private static func duration(_ milliseconds: Int64, _ name: String) throws(APIError) -> Duration {
        // A hundred years: beyond it sums with moments could overflow.
        guard milliseconds > 0, milliseconds <= 100 * 366 * 86_400_000 else {
            throw APIError(.badValue, "\(name) is not a duration above zero and below 100 years")
        }
        return .milliseconds(milliseconds)
    }
}
