package import Delivery
package import Grouping
package import Tracking

/// What to do, when, and by which rules: the part of a job that a person writes.
///
/// A run keeps the revision of the spec it was decided under and executes exactly that.
package struct JobSpec: Hashable, Sendable, Codable {
    /// Matches `[a-z0-9][a-z0-9._-]{0,62}` and is no reserved word; see ``JobName``.
    package var name: String
    /// The bot it belongs to.
    package var bot: String
    package var action: JobAction
    package var schedule: ScheduleSpec
    /// Added to the job's environment.
    package var environment: [String: String] = [:]
    /// The files whose contents are added to it, by the names of the variables.
    ///
    /// Read when a run starts; what they hold is never stored, and hidden in what the run prints and reports.
    package var secretFiles: [String: String] = [:]
    /// The folder it starts in; nil: the daemon user's home.
    package var directory: String?
    package var overlap: OverlapPolicy = .skip
    package var catchUp: CatchUpPolicy = .standard
    /// Its runs start up to this long after their slots, always as long for one name; nil: at once.
    package var spread: Duration?
    /// Ends the run after this long; nil: never.
    package var timeout: Duration?
    /// From TERM to KILL.
    package var grace: Duration = .seconds(10)
    /// How often a run is tried, the first time included.
    ///
    /// 1 or more.
    package var attempts = 1
    /// Whether it is written that a run is tried once: then a prompt is not asked again, whatever its provider answers.
    package var isTriedOnce = false
    /// Whether a run is also tried again when its outcome is unknown.
    package var retriesLost = false
    /// The longest wait before the second attempt; doubled for each one after it.
    package var backoff: Duration = .seconds(10)
    /// What the next attempt does about processes that those before it left running.
    package var leftovers: LeftoverPolicy = .standard
    /// Of the runs that wait those with a higher number come first.
    package var priority = 0
    /// What else runs that bear the same key let it wait for; nil: nothing.
    package var concurrency: ConcurrencyKey?
    /// Which of its news notifies its user; nil: by the routes.
    package var notify: NotifyWish?
    /// How much a failure of it disturbs; nil: what its bot says, or else `critical`.
    package var urgency: Urgency?
    /// The icon of its notices, a name or an absolute path; nil: the one that fits the news.
    package var icon: String?
    /// The sound of its notices, a name of the sound theme; nil: that of its bot.
    package var sound: String?
    /// Sounds of some kinds of its news, by the names of ``SoundKind``, instead of ``sound``.
    package var sounds: [String: String] = [:]
    /// How much of its texts its notices show: a number of characters, or ``JobPreview/hidden``; nil: as its bot has it.
    package var preview: String?
    /// How long a run that a person asked for must take for its success to be reported by the default route; nil: as
    /// long as ``Routine/completionAfter``.
    package var notifyAfter: Duration?
    /// The failures in a row after which it notifies; nil: as its bot has it.
    package var alertAfter: Int?
    /// What it has to do with, such as `host: db1`; see ``JobLabels``.
    package var labels: [String: String] = [:]
    /// What of the output of a completed run becomes a message; nil: nothing.
    package var outputMessage: OutputMessage?
    /// The channel that alone shows that message, whatever the routes say; nil: those of the routes.
    package var outputChannel: String?
    /// What must be so when a run has ended well; nil: nothing.
    package var ensure: EnsureRule?
    /// The script that decides whether its bot is asked; nil: it always is.
    package var wake: WakeRule?
    /// How long a run usually takes, for the finish time of the first ones; nil: nobody said.
    package var usually: Duration?
    /// How its output is read for progress; nil: whatever is found in it.
    package var progress: ProgressReading?
    /// What its processes are given; nil: nothing of their own.
    package var process: ProcessRules?
    /// What its bot is shown beside its prompt.
    package var session: PromptSession = .run
    /// The thread of its bot whose unanswered messages are its prompt, in place of the action's text.
    ///
    /// Only of runs that answer people; nil: it is a job.
    package var thread: String?

    /// A job with every rule as it is by default.
    package init(name: String, bot: String = "belfry", action: JobAction, schedule: ScheduleSpec) {
        self.name = name
        self.bot = bot
        self.action = action
        self.schedule = schedule
    }

    /// The program with its arguments, where it runs one.
    package var command: [String]? {
        get { if case .command(let words) = action { words } else { nil } }
        set { if let newValue { action = .command(newValue) } }
    }

    /// The text for a shell, where it runs one.
    package var shell: String? {
        get { if case .shell(let text) = action { text } else { nil } }
        set { if let newValue { action = .shell(newValue) } }
    }

    /// What its bot is asked, where it asks one.
    package var prompt: String? {
        get { if case .prompt(let text) = action { text } else { nil } }
        set { if let newValue { action = .prompt(newValue) } }
    }

    /// What it requests, where it calls an address.
    package var request: URLAction? {
        get { if case .url(let request) = action { request } else { nil } }
        set { if let newValue { action = .url(newValue) } }
    }

    /// The files that are read when a run starts, by what their contents are called.
    package var filesToRead: [String: String] { request?.secretFiles ?? secretFiles }

    /// ``process``, to be changed in place.
    package var rules: ProcessRules {
        get { process ?? ProcessRules() }
        set { process = newValue == ProcessRules() ? nil : newValue }
    }

    /// ``ensure``, to be changed in place.
    package var checks: EnsureRule {
        get { ensure ?? EnsureRule() }
        set { ensure = newValue == EnsureRule() ? nil : newValue }
    }

    /// ``wake``, to be changed in place.
    package var wakeRule: WakeRule {
        get { wake ?? WakeRule() }
        set { wake = newValue == WakeRule() ? nil : newValue }
    }

    /// The word of the tool of ``progress``, to be changed in place.
    package var progressTool: String? {
        get { progress?.tool?.rawValue }
        set { setProgress { $0.tool = newValue.flatMap(ProgressReading.Tool.init) } }
    }

    /// The whole of ``progress``, to be changed in place.
    package var progressTotal: Int? {
        get { progress?.total }
        set { setProgress { $0.total = newValue } }
    }

    private mutating func setProgress(_ change: (inout ProgressReading) -> Void) {
        var reading = progress ?? ProgressReading()
        change(&reading)
        progress = reading == ProgressReading() ? nil : reading
    }

    /// Whether both were written alike; when their schedules became active plays no part.
    package func isWritten(as other: JobSpec) -> Bool {
        guard schedule.isWritten(as: other.schedule) else { return false }
        var spec = self
        spec.schedule = other.schedule
        return spec == other
    }
}

extension JobSpec {
    /// Reads what any version of Belfry stored: a rule that it did not know is by default.
    package init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try stored.decode(String.self, forKey: .name),
            bot: try stored.decode(String.self, forKey: .bot),
            action: try stored.decode(JobAction.self, forKey: .action),
            schedule: try stored.decode(ScheduleSpec.self, forKey: .schedule))
        func read<Value: Decodable>(_ value: inout Value, _ key: CodingKeys) throws {
            value = try stored.decodeIfPresent(Value.self, forKey: key) ?? value
        }
        try read(&environment, .environment)
        try read(&secretFiles, .secretFiles)
        try read(&directory, .directory)
        try read(&process, .process)
        try read(&overlap, .overlap)
        try read(&catchUp, .catchUp)
        spread = try stored.decodeIfPresent(Duration.self, forKey: .spread)
        try read(&timeout, .timeout)
        try read(&grace, .grace)
        try read(&attempts, .attempts)
        try read(&isTriedOnce, .isTriedOnce)
        try read(&retriesLost, .retriesLost)
        try read(&backoff, .backoff)
        try read(&leftovers, .leftovers)
        try read(&priority, .priority)
        try read(&concurrency, .concurrency)
        try read(&notify, .notify)
        try read(&urgency, .urgency)
        try read(&icon, .icon)
        try read(&sound, .sound)
        try read(&sounds, .sounds)
        try read(&preview, .preview)
        try read(&notifyAfter, .notifyAfter)
        try read(&alertAfter, .alertAfter)
        try read(&labels, .labels)
        try read(&outputMessage, .outputMessage)
        try read(&outputChannel, .outputChannel)
        try read(&session, .session)
        try read(&thread, .thread)
        try read(&ensure, .ensure)
        try read(&usually, .usually)
        try read(&wake, .wake)
        try read(&progress, .progress)
    }
}

/// The rules for how much of a job's texts its notices show.
package enum JobPreview {
    /// Only that there is something.
    package static let hidden = "hidden"
    private static let characters = 10...500

    /// What is wrong with a preview; nil: nothing.
    package static func fault(in text: String?) -> JobFault? {
        guard let text, text != hidden, !(Int(text).map(characters.contains) ?? false) else { return nil }
        return JobFault(
            "is neither \(hidden) nor a number from \(characters.lowerBound) to \(characters.upperBound)")
    }
}

/// The rules for sounds of jobs.
package enum JobSounds {
    /// What is wrong with them; nil: nothing.
    package static func fault(in sounds: [String: String]) -> JobFault? {
        for (kind, sound) in sounds.sorted(by: { $0.key < $1.key }) {
            guard SoundKind(rawValue: kind) != nil else {
                let kinds = SoundKind.allCases.map(\.rawValue).joined(separator: ", ")
                return JobFault("\"\(kind)\" is no kind of news; the kinds are \(kinds)")
            }
            if sound.isEmpty { return JobFault("\(kind): a sound can't be empty") }
        }
        return nil
    }
}

/// The rules for labels of jobs.
package enum JobLabels {
    /// What is wrong with them; nil: nothing.
    ///
    /// At most 16, their names of 1 to 63 letters, digits, `.`, `_`, `-` and `/`, their values of 1 to 100 bytes in one
    /// line.
    package static func fault(in labels: [String: String]) -> JobFault? {
        guard labels.count <= 16 else { return JobFault("a job has at most 16 labels") }
        for (name, value) in labels.sorted(by: { $0.key < $1.key }) {
            var fault: JobFault?
            if name.isEmpty {
                fault = JobFault("the name of a label is empty", hint: "write one as host")
            } else if name.utf8.count > 63 || !name.unicodeScalars.allSatisfy(isOfName) {
                fault = JobFault("\"\(name.prefix(64))\" is not a label's name", hint: "write one as host")
            } else if value.isEmpty || value.utf8.count > 100 {
                fault = JobFault("the value of a label has 1 to 100 bytes")
            } else if value.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
                fault = JobFault("the value of a label is one line of text")
            }
            if fault != nil {
                fault?.key = name
                return fault
            }
        }
        return nil
    }

    private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-", "/": true
        default: false
        }
    }
}

/// What a job does.
package enum JobAction: Hashable, Sendable, Codable {
    /// Runs a program with its arguments, no shell between. At least one element.
    case command([String])
    /// Runs a text by `/bin/sh -c`.
    case shell(String)
    /// Asks the job's bot.
    case prompt(String)
    /// Calls a web address.
    case url(URLAction)

    /// Its name in the API: `command`, `shell`, `prompt` or `url`.
    package var kind: String {
        switch self {
        case .command: "command"
        case .shell: "shell"
        case .prompt: "prompt"
        case .url: "url"
        }
    }
}

/// What the bot of a job is shown of its thread.
package enum PromptSession: String, Hashable, Sendable, Codable, CaseIterable {
    /// What was said before.
    case bot
    /// Nothing: each prompt stands alone.
    case run
}

/// The rules for names of jobs and bots.
package enum JobName {
    /// Subcommands of `belfry run`; no job may have such a name.
    package static let reserved: Set<String> = ["show", "logs", "cancel", "retry"]

    /// Subcommands of `belfry run` that came later: jobs with such a name go on, and no new one is made.
    package static let reservedSince: Set<String> = ["pause", "resume"]

    /// The names that a job which is imported must not have.
    package static let taken = reserved.union(reservedSince)

    /// What is wrong with `name` as that of a new job, as the end of a sentence; nil when it is a good one.
    package static func faultOfNew(_ name: String) -> String? {
        reservedSince.contains(name) ? subcommand : fault(in: name)
    }

    private static let subcommand = "a subcommand of belfry run has this name; choose another"

    /// What is wrong with `name`, as the end of a sentence; nil when it is a good name.
    ///
    /// A good one is 1 to 63 bytes of `a-z 0-9 . _ -`, begins with a letter or digit, and is not reserved.
    package static func fault(in name: String) -> String? {
        let bytes = Array(name.utf8)
        guard let first = bytes.first else { return "a name can't be empty" }
        guard bytes.count <= 63 else { return "a name has at most 63 characters" }
        guard isLetterOrDigit(first) else { return "a name begins with a-z or 0-9" }
        for byte in bytes where !isLetterOrDigit(byte) && byte != 0x2E && byte != 0x5F && byte != 0x2D {
            return "a name holds only a-z, 0-9, '.', '_' and '-'"
        }
        if reserved.contains(name) { return subcommand }
        return nil
    }

    /// The name that the runs of `program` have where none is given: its last path component.
    ///
    /// In the letters that names may have; `exec` when none is left, or the name is reserved.
    package static func of(program: String) -> String {
        let last = program.split(separator: "/").last.map(String.init) ?? ""
        let name = last.lowercased().unicodeScalars.map { scalar -> Character in
            switch scalar {
            case "a"..."z", "0"..."9", ".", "_", "-": Character(scalar)
            default: "-"
            }
        }
        let trimmed = String(name.drop { !$0.isLetter && !$0.isNumber }.prefix(63))
        return fault(in: trimmed) == nil ? trimmed : "exec"
    }

    /// A good name in the place of one that is none; nil where no letter of it is left.
    package static func near(_ name: String) -> String? {
        let good = of(program: name)
        return good == "exec" || good == name ? nil : good
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
    }
}
