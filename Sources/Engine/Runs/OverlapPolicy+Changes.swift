import Delivery
import Ledger
import Timeline
import Tracking

extension OverlapPolicy {
    /// Whether a new run of a job changes those before it.
    var touchesOthers: Bool { self == .queueOne || self == .replace }

    /// What a new run of the job changes in `others`, which were there before and may have ended meanwhile: those
    /// that wait give way, and with ``replace`` those under way are to end once the new run `startsNow`.
    func changes(
        for others: some Sequence<String>, of job: String, bot: String, startsNow: Bool, at now: Moment
    ) -> [Change] {
        guard touchesOthers else { return [] }
        return others.flatMap { run -> [Change] in
            let end = Fact.End(Fact.Run(job: job, id: run, bot: bot), reason: .superseded)
            let skipped = NewEvent(.runSkipped(end), at: now)
            let passOver = Change.passOver(run: run, skipped)
            return self == .replace && startsNow ? [passOver, .askEnd(run: run, .replaced)] : [passOver]
        }
    }
}
