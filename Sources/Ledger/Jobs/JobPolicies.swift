import Timeline
import Tracking

// What a job wants of its runs: after a gap, beside each other, beside those of other jobs, and when they end; and
// of its processes.

/// What happens to slots that passed while nobody could decide them.
package struct CatchUpPolicy: Hashable, Sendable, Codable {
    package enum Mode: String, Hashable, Sendable, Codable, CaseIterable {
        /// None of them runs.
        case none
        /// The newest one within ``CatchUpPolicy/within`` runs.
        case latest
        /// All of them within ``CatchUpPolicy/within`` run, at most ``CatchUpPolicy/burst``, the oldest first.
        case all
    }

    package var mode: Mode
    /// Older slots are missed in any case.
    package var within: Duration
    /// How many slots run at most for one gap, the newest ones; 1 or more.
    ///
    /// For ``Mode/all`` alone.
    package var burst: Int

    package init(mode: Mode, within: Duration, burst: Int = standardBurst) {
        self.mode = mode
        self.within = within
        self.burst = burst
    }

    /// The latest within 24 hours.
    package static let standard = CatchUpPolicy(mode: .latest, within: .seconds(86_400))
    package static let standardBurst = 1000

    /// Reads a stored policy; the first version had no burst.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        mode = try values.decode(Mode.self, forKey: .mode)
        within = try values.decode(Duration.self, forKey: .within)
        burst = try values.decodeIfPresent(Int.self, forKey: .burst) ?? Self.standardBurst
    }

    private enum CodingKeys: String, CodingKey { case mode, within, burst }
}

/// What happens to a slot, or a request, that comes while a run of the job has not ended.
///
/// Runs count from queued to stalled, the wait for another attempt included.
package enum OverlapPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    /// It is skipped, with reason `overlap`; a request is refused.
    case skip
    /// It waits for the end of the run under way; one that waited already gives way to it.
    case queueOne = "queue-one"
    /// It waits for the end of all that came before.
    case queueAll = "queue-all"
    /// The run under way is ended, and it runs after that.
    case replace
    /// It runs beside the others.
    case allow
}

/// What runs of several jobs have in common, and how many of them may be under way at a time.
///
/// Where jobs name one key with different numbers, each waits for its own.
package struct ConcurrencyKey: Hashable, Sendable, Codable {
    /// Any text.
    package var key: String
    /// 1 or more.
    package var max: Int

    /// The key; `max` is 1 unless it is given.
    package init(key: String, max: Int = 1) {
        self.key = key
        self.max = max
    }
}

/// What the next attempt of a run does about processes that an earlier one left running: it never begins beside them.
package struct LeftoverPolicy: Hashable, Sendable, Codable {
    /// What happens after the wait.
    package enum Step: String, Hashable, Sendable, Codable, CaseIterable {
        /// They are ended, TERM first, and the attempt begins.
        case end
        /// The run ends failed; the processes continue.
        case fail
    }

    /// How long the attempt waits for them, from the moment at which it would have begun.
    package var wait: Duration
    package var then: Step

    package init(wait: Duration, then: Step) {
        self.wait = wait
        self.then = then
    }

    /// Ends them after 30 seconds.
    package static let standard = LeftoverPolicy(wait: .seconds(30), then: .end)
}

/// The part of what a run printed that becomes a message of its job's bot when it completed.
package enum OutputMessage: String, Hashable, Sendable, Codable, CaseIterable {
    /// The last line that is not blank.
    case lastLine = "last-line"
    /// The last lines, at most 2,048 bytes.
    case tail
    /// All of it, at most ``longest`` bytes.
    case all

    /// What one message holds at most; how much more there is is said at its end.
    package static let longest = 16 << 10
}

/// What the system gives a job's processes, beside their environment: who they are, and how much they may use.
///
/// A nil or empty field leaves what the warden itself has.
package struct ProcessRules: Hashable, Sendable, Codable {
    /// A user's name or number.
    package var user: String?
    /// The file mode mask, 0...0o777; nil: 022.
    package var umask: Int?
    /// The scheduling priority, -20 (first) to 19 (last).
    package var nice: Int?
    /// What they read; nil: nothing.
    package var input: JobInput?
    /// The most of each resource, in the unit that ``JobLimit`` names.
    package var limits: [JobLimit: Int]?
    /// Whether they run on a terminal; nil: they do not.
    package var hasTerminal: Bool?

    /// Rules that change nothing.
    package init() {}
}

/// What a job reads on its standard input.
package enum JobInput: Hashable, Sendable, Codable {
    /// This text, and then the end.
    case text(String)
    /// The file of this absolute path.
    case file(String)

    /// Its name in a file and in the API: `text` or `file`.
    package var kind: String {
        switch self {
        case .text: "text"
        case .file: "file"
        }
    }
}

/// What a job's processes may be kept from using too much of.
///
/// - Source: getrlimit(2).
package enum JobLimit: String, Hashable, Sendable, Codable, CodingKeyRepresentable, CaseIterable {
    /// Address space of one process, bytes.
    case memory
    /// Processor time of one process, seconds.
    case cpu
    /// Descriptors open in one process.
    case files
    /// Processes and threads of the same user.
    case processes
    /// The length of a file that is written, bytes.
    case fileSize
    /// The stack of a process's first thread, bytes.
    case stack
    /// A core dump, bytes.
    case core

    /// What a number of it counts.
    package enum Unit: Hashable, Sendable { case bytes, seconds, pieces }

    package var unit: Unit {
        switch self {
        case .memory, .fileSize, .stack, .core: .bytes
        case .cpu: .seconds
        case .files, .processes: .pieces
        }
    }
}

/// What must be so when the work of a run has ended well: else the run has failed all the same.
package struct EnsureRule: Hashable, Sendable, Codable {
    /// The absolute path of a file that the run must have written: changed since its slot, or since it was started
    /// where it has none.
    package var file: String?
    /// What its output must hold; see ``TextRule``.
    package var output: String?
    /// What its bot's reply must hold.
    package var reply: String?
    /// A program with its arguments that must succeed.
    package var command: [String]?
    /// How long that program may take; nil: ``standardTimeout``.
    package var timeout: Duration?

    /// A rule that asks for nothing.
    package init() {}

    /// How long a program may take where nothing is said.
    package static let standardTimeout = Duration.seconds(60)

    /// What is wrong with a text to look for; nil: nothing.
    static func fault(inText written: String?) -> JobFault? {
        guard let written else { return nil }
        do throws(LinearPattern.Fault) {
            _ = try TextRule(written)
            return nil
        } catch {
            var fault = JobFault(
                "not a pattern: \(error.message)", hint: "without slashes the text is looked for as it is")
            fault.bytes = error.bytes
            return fault
        }
    }
}

/// A script that is run before a job's prompt, and decides whether there is anything to ask.
package struct WakeRule: Hashable, Sendable, Codable {
    /// The program with its arguments.
    package var command: [String]?
    /// How long it may take; nil: ``standardTimeout``.
    package var timeout: Duration?

    /// A rule without a script.
    package init() {}

    /// How long a script may take where nothing is said.
    package static let standardTimeout = Duration.seconds(30)
}
