import Ledger

/// A narrow place that at most ``width`` runs pass at a time.
///
/// A job that must not overlap itself and a concurrency key are gates; so is the lane of a bot, of width 1. A performer
/// is a gate of any width, closed while it can't be reached.
struct Gate: Hashable {
    enum Name: Hashable {
        case job(String)
        case key(String)
        case performer(PerformerKind)
    }

    var name: Name
    /// How many may be inside; 1 or more.
    var width: Int
}

extension JobSpec {
    /// The gates that a run must find open before it starts.
    ///
    /// One that is forced does not wait for the others of its job.
    func gates(isForced: Bool) -> [Gate] {
        var gates: [Gate] = []
        if overlap != .allow, !isForced { gates.append(Gate(name: .job(name), width: 1)) }
        if let concurrency { gates.append(Gate(name: .key(concurrency.key), width: concurrency.max)) }
        return gates
    }
}
