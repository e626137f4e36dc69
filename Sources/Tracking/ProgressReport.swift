/// What a job reported about itself, once; every part of it may be absent.
///
/// The texts are the job's own and may hold anything; ``LiveTracker`` cleans them.
public struct ProgressReport: Hashable, Sendable, Codable {
    /// What a job may say about its own state.
    public enum Word: Hashable, Sendable, Codable {
        /// Waits for a person. The run becomes blocked.
        case blocked(BlockedKind)
        /// At work, or at work again. The run becomes running.
        case working
    }

    /// The part done, as the job reported it, normally 0...1; absent when it reported amounts or nothing.
    public var fraction: Double?
    /// The amount done, in the job's own unit.
    public var done: Double?
    /// The whole amount, in the unit of ``done``.
    public var total: Double?
    /// What is counted, such as `files`; absent: not reported.
    public var unit: String?
    /// The name of the stretch of work it is in.
    public var phase: String?
    /// One line for people.
    public var message: String?
    /// What it reports about its state.
    public var word: Word?
    /// What it reports about a part of its work; of such a report only the ``message`` is about the whole.
    public var part: ReportedPart?
    /// The seconds it believes it still needs.
    public var etaSeconds: Double?
    /// Whether the source withdraws the progress it reported before: it turned out not to be progress.
    public var isWithdrawal: Bool

    /// A report of the given parts; all absent is a report that only means "still here".
    public init(
        fraction: Double? = nil, done: Double? = nil, total: Double? = nil, phase: String? = nil,
        message: String? = nil, word: Word? = nil, etaSeconds: Double? = nil,
        isWithdrawal: Bool = false
    ) {
        self.fraction = fraction
        self.done = done
        self.total = total
        self.phase = phase
        self.message = message
        self.word = word
        self.etaSeconds = etaSeconds
        self.isWithdrawal = isWithdrawal
    }

    /// The part done in 0...1, from the fraction or else from the amounts.
    ///
    /// `nil` when neither has it: not reported, not a number, or a total that is not above zero.
    public var progress: Double? {
        if let fraction { return fraction.isFinite ? min(max(fraction, 0), 1) : nil }
        guard let done, let total, done.isFinite, total.isFinite, total > 0 else { return nil }
        return min(max(done / total, 0), 1)
    }

    /// Whether it holds only a message, which is no progress, whoever sent it.
    public var isRemark: Bool { message != nil && self == ProgressReport(message: message) }

    /// Whether the report is empty.
    public var isEmpty: Bool { self == ProgressReport() }
}

/// Numbers as jobs write them, read from bytes without trusting any.
enum ReportNumber {
    /// A plain decimal, `12` or `0.5`; digits and at most one point, no sign, at most 20 bytes.
    static func decimal(_ bytes: ArraySlice<UInt8>) -> Double? {
        guard (1...20).contains(bytes.count) else { return nil }
        var value = 0.0
        var scale = 0.0
        var hasDigit = false
        for byte in bytes {
            switch byte {
            case 0x30...0x39:
                hasDigit = true
                value = value * 10 + Double(byte - 0x30)
                scale *= 10
            case 0x2E where scale == 0: scale = 1
            default: return nil
            }
        }
        guard hasDigit else { return nil }
        return scale > 1 ? value / scale : value
    }

    /// A progress: `0.42`, `42%` or `21/50`.
    ///
    /// A bare number is a fraction, so above 1 it means nothing.
    static func progress(_ bytes: ArraySlice<UInt8>) -> ProgressReport? {
        if bytes.last == 0x25 {
            guard let percent = decimal(bytes.dropLast()), percent <= 100 else { return nil }
            return ProgressReport(fraction: percent / 100)
        }
        if let slash = bytes.firstIndex(of: 0x2F) {
            return amounts(decimal(bytes[..<slash]), of: decimal(bytes[(slash + 1)...]))
        }
        guard let fraction = decimal(bytes), fraction <= 1 else { return nil }
        return ProgressReport(fraction: fraction)
    }

    /// A percentage with or without its sign: `7%` or `7`.
    static func percent(_ bytes: ArraySlice<UInt8>) -> ProgressReport? {
        let digits = bytes.last == 0x25 ? bytes.dropLast() : bytes
        guard let percent = decimal(digits), percent <= 100 else { return nil }
        return ProgressReport(fraction: percent / 100)
    }

    /// An amount of a total; nothing when the total is zero or smaller than the amount, or the amount is below zero.
    static func amounts(_ done: Double?, of total: Double?) -> ProgressReport? {
        guard let done, let total, total > 0, (0...total).contains(done) else { return nil }
        return ProgressReport(done: done, total: total)
    }
}

/// Through which door a report came; a higher one silences the lower ones for the rest of the attempt.
///
/// Once a source has reported progress, lower sources only supply message text.
public enum ReportSource: Int, Hashable, Sendable, Codable, CaseIterable, Comparable {
    /// Found in what the job prints, without a rule for how to read it.
    case text
    /// Found in what the job prints, by a parser the job names.
    case parser
    /// A progress sequence for terminals: OSC 9;4, OSC 7501.
    case osc
    /// `NOTIFY_SOCKET` or `PROGRESS_FD`.
    case native

    /// The source that loses is smaller.
    public static func < (left: ReportSource, right: ReportSource) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The phases of a run that asks a bot, as far as others than the bot's performer know them.
package enum ReplyPhase {
    /// Its reply is coming: what the run prints is the reply.
    package static let writing = "writing"
}

/// A part of a run's work, which a job reports beside the whole.
public struct ChildTask: Hashable, Sendable, Codable {
    /// Where a part is.
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// At work.
        case working
        /// Waits for a person.
        case blocked
        /// Did what it should.
        case done
        /// Did not.
        case failed
        /// The run ended before it did.
        case stopped
    }

    /// How many parts of a run are kept: of more, those that ended go first.
    public static let most = 32
    /// How many names a path has at most, and how many bytes.
    static let deepest = 8
    static let longestPath = 128
    static let longestName = 32
    static let longestMessage = 100

    /// Its names from the outermost, `build/linux`; see ``isPath(_:)``.
    public var path: String
    /// Where it is.
    public var state: State
    /// The part done, 0...1; absent until reported.
    ///
    /// Never falls.
    public var progress: Double?
    /// The last line for people, at most 100 characters.
    public var message: String?

    /// A part at work, of which nothing is known.
    public init(path: String, state: State = .working) {
        self.path = path
        self.state = state
    }

    /// Whether a part may be called that: 1 to 8 names of 1 to 32 letters, digits, `_`, `.`, `+` and `-`, with `/`
    /// between them; 128 bytes at most.
    ///
    /// - Source: OSC 7501 (Program Status Protocol), key `id`.
    public static func isPath(_ text: String) -> Bool {
        guard (1...longestPath).contains(text.utf8.count) else { return false }
        let names = text.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
        return names.count <= deepest
            && names.allSatisfy { (1...longestName).contains($0.count) && $0.allSatisfy(isNameByte) }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }
}

/// What a job reports about a part of its work, once.
public struct ReportedPart: Hashable, Sendable, Codable {
    /// What it says of the part's state.
    public enum Word: String, Hashable, Sendable, Codable {
        case working, blocked, done, failed
        /// The part and those in it are to be forgotten.
        case clear
    }

    /// The part's path; whoever keeps it looks whether it is one.
    public var path: String
    /// The part done, 0...1.
    public var progress: Double?
    /// Where it is.
    public var word: Word?

    /// A report that says nothing but that the part is there.
    public init(path: String, progress: Double? = nil, word: Word? = nil) {
        self.path = path
        self.progress = progress
        self.word = word
    }
}

extension ReportedPart.Word {
    /// The word that a job writes: `working`, `done`, `failed` or `error`, `clear`, or `blocked` with or without a kind.
    init?(_ text: String) {
        switch text {
        case "error": self = .failed
        case _ where text.hasPrefix("blocked:"): self = .blocked
        default: self.init(rawValue: text)
        }
    }
}

/// The parts of a run's work in the order of a tree.
public struct TaskTree: Hashable, Sendable {
    /// The last name of its path.
    public var name: String
    /// Its path.
    public var path: String
    /// What is known of it; absent where only parts of it were reported.
    public var task: ChildTask?
    /// The parts in it, in the order of their first reports.
    public var parts: [TaskTree]

    /// The trees of these parts.
    public static func of(_ tasks: [ChildTask]) -> [TaskTree] {
        of(tasks.map { ($0.path.split(separator: "/").map(String.init)[...], $0) }, below: "")
    }

    private static func of(
        _ tasks: [(names: ArraySlice<String>, task: ChildTask)], below parent: String
    ) -> [TaskTree] {
        var trees: [TaskTree] = []
        var inner: [[(names: ArraySlice<String>, task: ChildTask)]] = []
        for (names, task) in tasks {
            guard let name = names.first else { continue }
            let place = trees.firstIndex { $0.name == name }
            if place == nil {
                trees.append(TaskTree(name: name, path: parent + name, parts: []))
                inner.append([])
            }
            let index = place ?? trees.count - 1
            if names.count == 1 {
                trees[index].task = task
            } else {
                inner[index].append((names.dropFirst(), task))
            }
        }
        for index in trees.indices { trees[index].parts = of(inner[index], below: trees[index].path + "/") }
        return trees
    }

    /// The tree and all in it, from above, each with how deep it is.
    public func flattened(depth: Int = 0) -> [(depth: Int, tree: TaskTree)] {
        [(depth, self)] + parts.flatMap { $0.flattened(depth: depth + 1) }
    }
}
