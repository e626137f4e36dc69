import OrderedCollections

/// Distinct values, each kept once however many rows have it; a row keeps the place of its value, 4 bytes.
struct Interned<Value: Hashable & Sendable>: Sendable {
    private var values: OrderedSet<Value> = []
    /// How many rows have the value of each place.
    private var uses: [UInt32] = []
    private var unused = 0

    subscript(place: UInt32) -> Value { values[Int(place)] }

    /// How many places there are; a place without a row may be among them.
    var count: Int { values.count }

    /// How many rows have the value of `place`.
    func uses(of place: UInt32) -> Int { Int(uses[Int(place)]) }

    /// The place of a value; nil: no row has it.
    func place(of value: Value) -> UInt32? { values.firstIndex(of: value).map { UInt32($0) } }

    /// Notes one more row that has `value`.
    ///
    /// - Complexity: O(1).
    mutating func add(_ value: Value) -> UInt32 {
        let (isNew, place) = values.append(value)
        if isNew {
            uses.append(0)
        } else if uses[place] == 0 {
            unused -= 1
        }
        uses[place] += 1
        return UInt32(place)
    }

    /// Notes one row less that has the value of `place`.
    mutating func release(_ place: UInt32) {
        uses[Int(place)] -= 1
        if uses[Int(place)] == 0 { unused += 1 }
    }

    /// Forgets values that no row has once they outweigh the others.
    ///
    /// - Returns: by each place the one that takes over; nil when nothing moved.
    /// - Complexity: O(1), amortised over releases.
    mutating func compact() -> [UInt32]? {
        guard unused > 64, unused > values.count / 2 else { return nil }
        var places: [UInt32] = []
        let (old, oldUses) = (values, uses)
        values = []
        uses = []
        unused = 0
        for (value, count) in zip(old, oldUses) {
            places.append(UInt32(values.count))
            guard count > 0 else { continue }
            values.append(value)
            uses.append(count)
        }
        return places
    }
}
