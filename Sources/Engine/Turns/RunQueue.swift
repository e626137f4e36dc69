import Ledger
import Performing
import Timeline
import Tracking

/// The runs that are not started: those that wait for their turn, those that wait for the moment of another attempt,
/// and the gates that hold them up.
struct RunQueue {
    private var lineup = Lineup()
    private var delays = Delays()
    private var gates = Gates()

    /// When, since boot, the first delayed attempt is due; nil: none waits.
    var nextDue: Duration? { delays.next }

    func contains(_ id: String) -> Bool { lineup[id] != nil || delays[id] != nil }

    // MARK: Waiting

    /// The run waits for its turn, `first` of its job if it had one before.
    mutating func join(_ run: Waiting, first: Bool) { lineup.join(run, first: first) }

    /// The run waits for another attempt until a moment since boot.
    mutating func delay(_ run: Waiting, until moment: Duration) { delays.add(run, until: moment) }

    /// The run no longer waits, and no longer counts as one of its job.
    mutating func drop(_ run: RunRecord) {
        lineup.leave(run.id)
        delays.remove(run.id)
        leave(run.id, [.job(run.job)])
    }

    /// Takes out those whose turn it is, at most `room`, at a moment since boot; they count as under way.
    mutating func takeTurns(_ room: Int, at now: Duration) -> [Waiting] {
        for run in delays.takeDue(at: now) { lineup.join(run, first: true) }
        var turns: [Waiting] = []
        while turns.count < room, let next = lineup.next(through: gates) {
            enter(next.id, next.places)
            turns.append(next)
        }
        return turns
    }

    /// Their turn was not used: each waits again, before the others of its job.
    mutating func putBack(_ turns: [Waiting]) {
        for run in turns.reversed() {
            leave(run.id, run.places)
            lineup.join(run, first: true)
        }
    }

    // MARK: Gates

    /// The run counts at these gates, whether it had to find them open or not.
    mutating func enter(_ id: String, _ places: [Gate.Name]) {
        for place in places { gates.enter(place, id) }
    }

    /// The run no longer counts there: others may pass.
    mutating func leave(_ id: String, _ places: [Gate.Name]) {
        for place in places {
            gates.leave(place, id)
            lineup.opened(place)
        }
    }

    /// Opens or closes the gate of a performer.
    mutating func set(_ performer: PerformerKind, isReady: Bool) {
        if gates.set(.performer(performer), isOpen: isReady) { lineup.opened(.performer(performer)) }
    }

    /// What keeps a waiting run from its turn; nil when no gate does.
    func obstacle(of id: String) -> RunReason? {
        if delays[id] != nil { return .retryWait }
        switch lineup[id]?.gates.first(where: { !gates.isOpen($0, for: id) })?.name {
        case .job: return .overlap
        case .key: return .concurrency
        case .performer: return .wardenAway
        case nil: return nil
        }
    }
}
