import Ledger

/// A narrow place that at most ``width`` runs pass at a time.
///
/// A job that must not overlap itself and a concurrency key are gates; so is the lane of a bot, of width 1. A performer
/// is a gate of any width, closed while it can't be reached.
struct Gate: Hashable {
    enum Name: Hashable {
        case job(String)
        case key(String)
        case lane(String)
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
        if case .prompt = action { gates.append(Gate(name: .lane(bot), width: 1)) }
        if let concurrency { gates.append(Gate(name: .key(concurrency.key), width: concurrency.max)) }
        return gates
    }
}

/// Who is inside of which gate.
struct Gates {
    private var inside: [Gate.Name: Set<String>] = [:]
    /// Gates that nobody passes.
    private var closed: Set<Gate.Name> = []

    /// Whether the run may pass: there is room, or it is inside already.
    func isOpen(_ gate: Gate, for run: String) -> Bool {
        if closed.contains(gate.name) { return false }
        guard let others = inside[gate.name] else { return true }
        return others.count < gate.width || others.contains(run)
    }

    /// Opens or closes a gate for everybody; whether that changed anything.
    mutating func set(_ name: Gate.Name, isOpen: Bool) -> Bool {
        isOpen ? closed.remove(name) != nil : closed.insert(name).inserted
    }

    /// Counts the run as inside, whether it had to find the gate open or not.
    mutating func enter(_ name: Gate.Name, _ run: String) {
        inside[name, default: []].insert(run)
    }

    /// The run no longer counts.
    mutating func leave(_ name: Gate.Name, _ run: String) {
        inside[name]?.remove(run)
        if inside[name]?.isEmpty == true { inside[name] = nil }
    }
}
