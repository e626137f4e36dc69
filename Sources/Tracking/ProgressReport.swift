/// What a job said about itself, once; every part of it may be absent.
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
    /// The name of the stretch of work it is in.
    public var phase: String?
    /// One line for people.
    public var message: String?
    /// What it says about its state.
    public var word: Word?
    /// The seconds it believes it still needs.
    public var etaSeconds: Double?
    /// Whether the source withdraws the progress it reported before: it turned out not to be progress.
    public var isWithdrawal: Bool

    /// A report of the given parts; all absent is a report that only says "still here".
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
    /// `nil` when neither says it: not reported, not a number, or a total that is not above zero.
    public var progress: Double? {
        if let fraction { return fraction.isFinite ? min(max(fraction, 0), 1) : nil }
        guard let done, let total, done.isFinite, total.isFinite, total > 0 else { return nil }
        return min(max(done / total, 0), 1)
    }

    /// Whether the report says nothing at all.
    public var isEmpty: Bool { self == ProgressReport() }
}
