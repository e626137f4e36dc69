/// Who is inside of which gate.
struct Gates {
    private var inside: [Gate.Name: Set<String>] = [:]

    /// Whether the run may pass: there is room, or it is inside already.
    func isOpen(_ gate: Gate, for run: String) -> Bool {
        guard let others = inside[gate.name] else { return true }
        return others.count < gate.width || others.contains(run)
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
