import OrderedCollections
import Timeline

/// The names of jobs, and the order in which their slots come; jobs of one slot come by name.
///
/// Every job has a place, from 0 without a gap, by which others keep what they know of it. A heap of places, in which
/// each place knows where it stands: what changes is moved, and nothing is left behind.
struct SlotQueue: Sendable {
    /// Stands for no slot, and for not being in the heap.
    private static let never = Moment(microseconds: .max)
    private static let outside = UInt32.max

    private var places: OrderedSet<String> = []
    private var slots: [Moment] = []
    /// Where each place stands in ``heap``.
    private var standing: [UInt32] = []
    private var heap: [UInt32] = []

    /// The names, by place.
    var names: some RandomAccessCollection<String> { places.elements }

    func place(of name: String) -> Int? { places.firstIndex(of: name) }

    func name(at place: Int) -> String { places[place] }

    /// The slot of a place, in the queue or not; nil: none comes.
    func slot(at place: Int) -> Moment? { slots[place] == Self.never ? nil : slots[place] }

    /// Gives a new name the last place; it has no slot.
    mutating func add(_ name: String) -> Int {
        slots.append(Self.never)
        standing.append(Self.outside)
        return places.append(name).index
    }

    /// Takes away a place; the last one, with what is known of it, takes it over.
    mutating func remove(at place: Int) {
        unqueue(place)
        let last = slots.count - 1
        if place != last {
            places.swapAt(place, last)
            slots[place] = slots[last]
            standing[place] = standing[last]
            if standing[place] != Self.outside { heap[Int(standing[place])] = UInt32(place) }
        }
        places.removeLast()
        slots.removeLast()
        standing.removeLast()
    }

    /// Queues `slot`, in place of the one before; nil: none comes.
    ///
    /// - Complexity: O(log jobs).
    mutating func set(_ slot: Moment?, at place: Int) {
        slots[place] = slot ?? Self.never
        guard slot != nil else { return unqueue(place) }
        if standing[place] == Self.outside {
            heap.append(UInt32(place))
            standing[place] = UInt32(heap.count - 1)
        }
        settle(Int(standing[place]))
    }

    /// Queues the slot of a place again that was taken off.
    mutating func putBack(_ place: Int) { set(slot(at: place), at: place) }

    /// The place whose slot is the earliest; nil: there is none.
    var first: Int? { heap.first.map { Int($0) } }

    /// The earliest place of those that `isMeant`.
    ///
    /// - Complexity: O(places that are not meant and come before it).
    func first(where isMeant: (Int) -> Bool) -> Int? {
        var found: Int?
        var open = heap.isEmpty ? [] : [0]
        while let index = open.popLast() {
            let place = Int(heap[index])
            if let found, !isBefore(place, found) { continue }
            if isMeant(place) {
                found = place
            } else {
                open += [2 * index + 1, 2 * index + 2].filter { $0 < heap.count }
            }
        }
        return found
    }

    /// Takes a place off the queue; its slot stays known.
    mutating func unqueue(_ place: Int) {
        guard standing[place] != Self.outside else { return }
        let index = Int(standing[place])
        standing[place] = Self.outside
        let last = heap.removeLast()
        guard index < heap.count else { return }
        heap[index] = last
        standing[Int(last)] = UInt32(index)
        settle(index)
    }

    // MARK: The heap

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        slots[left] == slots[right] ? places[left] < places[right] : slots[left] < slots[right]
    }

    /// Moves what stands at `index` up or down to where it belongs.
    private mutating func settle(_ index: Int) {
        var index = index
        let place = heap[index]
        while index > 0, isBefore(Int(place), Int(heap[(index - 1) / 2])) {
            move(heap[(index - 1) / 2], to: index)
            index = (index - 1) / 2
        }
        while let child = earlierChild(of: index), isBefore(Int(heap[child]), Int(place)) {
            move(heap[child], to: index)
            index = child
        }
        move(place, to: index)
    }

    private func earlierChild(of index: Int) -> Int? {
        let (left, right) = (2 * index + 1, 2 * index + 2)
        guard right < heap.count else { return left < heap.count ? left : nil }
        return isBefore(Int(heap[right]), Int(heap[left])) ? right : left
    }

    private mutating func move(_ place: UInt32, to index: Int) {
        heap[index] = place
        standing[Int(place)] = UInt32(index)
    }
}

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
