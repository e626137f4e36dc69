import CronBench
import Timeline

/// The jobs of a chaos home whose definition changes between the kills, and when each change took effect.
///
/// An edited job prints its edition when it starts, so that a run of an outdated definition is seen. A fleeting job is
/// removed from the file and added again.
struct ChaosEdits {
    /// One state of the file.
    struct Edition {
        var number: Int
        /// The fleeting jobs that the file lists.
        var present: Set<String>
        /// Just before the file was replaced: no earlier run can belong to this edition.
        var writtenAt: Moment
        /// When a daemon had certainly loaded it: no later run may belong to an older one.
        ///
        /// Nil while none has.
        var effectiveAt: Moment?
    }

    static let edited = (0..<3).map { "edited-\($0)" }
    static let fleeting = (0..<2).map { "fleeting-\($0)" }

    private(set) var editions: [Edition]

    init() {
        editions = [
            Edition(
                number: 1, present: Set(Self.fleeting), writtenAt: Moment(seconds: 0),
                effectiveAt: Moment(seconds: 0))
        ]
    }

    /// What the file says now.
    var current: Edition { editions[editions.count - 1] }

    /// Makes the next edition, to be written at once: every edited job changes, a fleeting one comes or goes.
    mutating func advance(_ random: inout SeededNumbers, at now: Moment) {
        var next = Edition(number: current.number + 1, present: current.present, writtenAt: now)
        let toggled = Self.fleeting[Int.random(in: 0..<Self.fleeting.count, using: &random)]
        if next.present.remove(toggled) == nil { next.present.insert(toggled) }
        editions.append(next)
    }

    /// Makes the edition in which every job is there.
    mutating func complete(at now: Moment) {
        editions.append(
            Edition(number: current.number + 1, present: Set(Self.fleeting), writtenAt: now))
    }

    /// Notes that a daemon has loaded the edition of this number, and with it replaced all before.
    mutating func loaded(_ number: Int, by moment: Moment) {
        for index in editions.indices
        where editions[index].number <= number && editions[index].effectiveAt == nil {
            editions[index].effectiveAt = moment
        }
    }

    // MARK: What may be

    /// The editions under which a run that was queued at `moment` may have been made.
    func mayBe(at moment: Moment) -> ClosedRange<Int> {
        let oldest = editions.last { $0.effectiveAt.map { $0 < moment } ?? false }?.number ?? 1
        let newest = editions.last { $0.writtenAt <= moment }?.number ?? 1
        return oldest...max(oldest, newest)
    }

    /// Whether a fleeting job may have been listed by any edition that was loaded at `moment`, or by all of them.
    func isListed(_ job: String, at moment: Moment) -> (maybe: Bool, surely: Bool) {
        guard Self.fleeting.contains(job) else { return (true, true) }
        let range = mayBe(at: moment)
        let listed = editions.filter { range.contains($0.number) }.map { $0.present.contains(job) }
        return (listed.contains(true), !listed.contains(false))
    }
}
