import Cron
import Ledger
import OrderedCollections
import Timeline
import Tracking

/// Every active job, as far as its slots need it, and the order in which they come.
///
/// A value of the slot keeper; the ledger's rows are the truth, and what else there is to know of a job is read there.
/// About 60 bytes a job, and a schedule that several jobs have is kept once.
struct JobBook: Sendable {
    /// A job, and where its schedule stands.
    struct Entry: Sendable {
        var name: String
        var revision: Int
        var isPaused: Bool
        var policies: SlotPolicies
        /// One that means the same as the job's own.
        var schedule: Schedule
        var zones: ScheduleZones
        /// The slot that comes next; nil: none will.
        var next: Moment?
        /// The span the job's last slots joined, when they did not run.
        var open: OpenSpan?
        /// What makes the run of ``next``, for a job that runs after its last end: see ``RunCause/after(_:)``.
        var chain: String?
    }

    /// The end of a span that the next slot may join.
    struct OpenSpan: Hashable, Sendable {
        var last: Moment
        var state: RunState
        var reason: RunReason
    }

    /// What is kept of a job besides its name and its slot: by the place of these.
    struct Row: Sendable {
        var open: OpenSpan?
        var isPaused: Bool
        var origin: JobOrigin
        var revision: UInt32
        var schedule: UInt32
        var policies: UInt32
    }

    private(set) var queue = SlotQueue()
    private(set) var rows: [Row] = []
    private(set) var schedules = Interned<Schedule>()
    private(set) var policies = Interned<SlotPolicies>()
    /// The rules that slots follow, by the zone's name.
    private var zones: [String: ZoneRules] = [:]
    /// See ``Entry/chain``; by name.
    private(set) var chains: [String: String] = [:]
    /// Jobs that run after their last end, while the moment of their next run is not known.
    private(set) var unchained: Set<String> = []

    /// How many jobs there are.
    var count: Int { rows.count }

    /// The names of all jobs, in no order.
    var names: some RandomAccessCollection<String> { queue.names }

    func contains(_ name: String) -> Bool { queue.place(of: name) != nil }

    subscript(name: String) -> Entry? {
        guard let place = queue.place(of: name) else { return nil }
        let row = rows[place]
        let schedule = schedules[row.schedule]
        return Entry(
            name: name, revision: Int(row.revision), isPaused: row.isPaused,
            policies: policies[row.policies], schedule: schedule, zones: zones(of: schedule),
            next: queue.slot(at: place), open: row.open, chain: chains[name])
    }

    // MARK: Edits

    /// Enters a job, in place of one of its name; its next slot is the first after `moment`.
    ///
    /// `rules` are those of its zones, which hold on to those that they have already: see ``follow(_:of:after:)``.
    mutating func put(_ job: SlotJob, schedule: Schedule, rules: ScheduleZones, after moment: Moment) {
        if case .several = schedule {
            for zone in schedule.zoneNames where zones[zone] == nil { zones[zone] = rules[zone] }
        } else if let zone = schedule.zoneName, zones[zone] == nil {
            zones[zone] = rules.first
        }
        var row = Row(
            open: nil, isPaused: job.isPaused, origin: job.origin,
            revision: UInt32(clamping: job.revision), schedule: schedules.add(schedule),
            policies: policies.add(job.policies))
        if let place = queue.place(of: job.name) {
            row.open = rows[place].open
            release(rows[place])
            rows[place] = row
        } else {
            _ = queue.add(job.name)
            rows.append(row)
        }
        compact()
        advance(job.name, after: moment, joining: row.open)
    }

    /// Removes a job.
    mutating func remove(_ name: String) {
        guard let place = queue.place(of: name) else { return }
        release(rows[place])
        queue.remove(at: place)
        rows.swapAt(place, rows.count - 1)
        rows.removeLast()
        chains[name] = nil
        unchained.remove(name)
        compact()
    }

    /// Holds a job still, or lets it go on.
    mutating func setPaused(_ isPaused: Bool, of name: String) {
        if let place = queue.place(of: name) { rows[place].isPaused = isPaused }
    }

    private mutating func release(_ row: Row) {
        schedules.release(row.schedule)
        policies.release(row.policies)
    }

    private mutating func compact() {
        if let places = schedules.compact() {
            for index in rows.indices { rows[index].schedule = places[Int(rows[index].schedule)] }
        }
        if let places = policies.compact() {
            for index in rows.indices { rows[index].policies = places[Int(rows[index].policies)] }
        }
    }

    // MARK: Slots

    /// When the earliest slot of all comes; nil: none will.
    var earliest: (slot: Moment, job: String)? { named(queue.first) }

    /// The earliest slot of the jobs that are not paused; nil: none will come.
    ///
    /// - Complexity: O(1), and O(paused jobs that come before it) while there are some.
    var earliestAwake: (slot: Moment, job: String)? { named(queue.first { !rows[$0].isPaused }) }

    private func named(_ place: Int?) -> (slot: Moment, job: String)? {
        guard let place, let slot = queue.slot(at: place) else { return nil }
        return (slot, queue.name(at: place))
    }

    /// Takes every job with a slot at or before `moment` off the queue and names them, in the order of names.
    ///
    /// Each comes back with ``advance(_:after:joining:)`` or ``restore(_:)``.
    mutating func takeDue(at moment: Moment) -> [String] {
        var names: [String] = []
        while let place = queue.first, let slot = queue.slot(at: place), slot <= moment {
            queue.unqueue(place)
            names.append(queue.name(at: place))
        }
        names.sort()
        return names
    }

    /// Queues the job's first slot after `moment`.
    mutating func advance(_ name: String, after moment: Moment, joining open: OpenSpan?) {
        guard let place = queue.place(of: name) else { return }
        if !chains.isEmpty, chains.removeValue(forKey: name) != nil { unchained.insert(name) }
        rows[place].open = open
        reckon(place, after: moment)
    }

    private mutating func reckon(_ place: Int, after moment: Moment) {
        let schedule = schedules[rows[place].schedule]
        queue.set(schedule.nextSlot(after: moment, in: zones(of: schedule)), at: place)
    }

    /// Puts jobs back on the queue as they were: their slots could not be decided.
    mutating func restore(_ names: some Sequence<String>) {
        for name in names { if let place = queue.place(of: name) { queue.putBack(place) } }
    }

    /// Queues every job's first slot after `moment`: time begins again there.
    mutating func restart(after moment: Moment) {
        for place in rows.indices {
            if chains.isEmpty || chains[queue.name(at: place)] == nil {
                rows[place].open = nil
                reckon(place, after: moment)
            } else {
                queue.putBack(place)
            }
        }
    }

    // MARK: After the last end

    /// The job's next slot is at `moment`, whatever its schedule says, and `cause` makes its run.
    mutating func chain(_ name: String, at moment: Moment, by cause: String) {
        guard let place = queue.place(of: name) else { return }
        chains[name] = cause
        unchained.remove(name)
        queue.set(moment, at: place)
    }

    /// When the job's next slot comes is not known until its last run has ended.
    mutating func unchain(_ name: String) {
        chains[name] = nil
        if let place = queue.place(of: name) {
            queue.set(nil, at: place)
            unchained.insert(name)
        }
    }

    /// The moment of the job's run after its last end is found again, unless the job is paused or has another schedule.
    mutating func rechain(_ name: String) {
        unchained.remove(name)
        guard let place = queue.place(of: name), case .after = schedules[rows[place].schedule] else { return }
        unchain(name)
        if rows[place].isPaused { unchained.remove(name) }
    }

    /// The clock went back: nobody waits longer for the run after its last end than from now on.
    mutating func clampChains(at now: Moment) {
        for name in chains.keys {
            guard let place = queue.place(of: name), let next = queue.slot(at: place),
                case .after(let interval) = schedules[rows[place].schedule], next > now + interval
            else { continue }
            queue.set(now + interval, at: place)
        }
    }

    // MARK: Zones

    func zones(of schedule: Schedule) -> ScheduleZones { ScheduleZones(of: schedule, in: zones) }

    /// The zones for which `lookUp` returns other rules than those that slots follow.
    func changedZones(_ lookUp: ZoneLookup) -> [(name: String, rules: ZoneRules?)] {
        zones.compactMap { name, rules in
            let found = lookUp(name)
            return found == rules ? nil : (name, found)
        }
    }

    /// Lets the jobs of a zone follow other rules, each from its first slot after `moment` on.
    ///
    /// - Returns: how many jobs.
    mutating func follow(_ rules: ZoneRules, of zone: String, after moment: Moment) -> Int {
        zones[zone] = rules
        let places = places(inZone: zone)
        for place in places { reckon(place, after: moment) }
        return places.count
    }

    /// Forgets a zone that the machine does not know any more: the jobs that were in it have no slots.
    ///
    /// - Returns: their names.
    mutating func forget(zone: String) -> [String] {
        zones[zone] = nil
        let places = places(inZone: zone)
        for place in places {
            schedules.release(rows[place].schedule)
            rows[place].schedule = schedules.add(.manual)
            queue.set(nil, at: place)
        }
        defer { compact() }
        return places.map { queue.name(at: $0) }
    }

    private func places(inZone zone: String) -> [Int] {
        let isInZone = (0..<schedules.count).map { schedules[UInt32($0)].isRead(in: zone) }
        return rows.indices.filter { isInZone[Int(rows[$0].schedule)] }
    }
}

extension Schedule {
    /// Whether the rules of that zone decide some of its slots.
    fileprivate func isRead(in zone: String) -> Bool {
        if case .several = self { zoneNames.contains(zone) } else { zoneName == zone }
    }
}

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
