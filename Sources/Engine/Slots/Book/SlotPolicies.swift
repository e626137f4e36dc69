import Ledger

/// What a job's slots are decided by, besides its schedule; most jobs share theirs with many others.
struct SlotPolicies: Hashable, Sendable {
    /// Whose its runs are.
    var bot: String
    var overlap: OverlapPolicy
    var catchUp: CatchUpPolicy
    /// Its runs start up to this long after their slots; zero: at once.
    var spread: Duration

    init(_ spec: JobSpec) {
        bot = spec.bot
        overlap = spec.overlap
        catchUp = spec.catchUp
        spread = spec.spread ?? .zero
    }
}
