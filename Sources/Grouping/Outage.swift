import Timeline

/// The failures of a job since it was last well.
struct Outage: Hashable, Codable, Sendable {
    /// When the first of them ended.
    let since: Moment
    /// All of them.
    private(set) var failures = 1
    /// Those in a row that were like the last one.
    private(set) var sameFailures = 1
    /// What the last one was like.
    private(set) var signature: FailureSignature

    /// The first failure.
    init(_ fact: JobFact) {
        since = fact.at
        signature = FailureSignature(fact)
    }

    /// Counts one more, and says whether it is like the one before.
    mutating func count(_ fact: JobFact) -> Bool {
        let next = FailureSignature(fact)
        let isSame = next == signature
        failures += 1
        sameFailures = isSame ? sameFailures + 1 : 1
        signature = next
        return isSame
    }

    /// How long it has lasted; never negative, also when the clock was set back meanwhile.
    func length(until moment: Moment) -> Duration {
        max(.zero, moment - since)
    }
}
