import Ledger
import Timeline
import Tracking

extension OverlapPolicy {
    /// Whether a new run of a job has something to say to those before it.
    var touchesOthers: Bool { self == .queueOne || self == .replace }

    /// What a new run of the job changes in `others`, which were there before and may have ended meanwhile: those
    /// that wait give way, and with ``replace`` those under way are to end once the new run `startsNow`.
    func words(
        to others: some Sequence<String>, of job: String, bot: String, startsNow: Bool, at now: Moment
    ) -> [Change] {
        guard touchesOthers else { return [] }
        return others.flatMap { run -> [Change] in
            let skipped = NewEvent(
                .runSkipped, at: now, reason: RunReason.superseded.rawValue, job: job, run: run, bot: bot)
            let words = [Change.passOver(run: run, skipped)]
            return self == .replace && startsNow ? words + [.askEnd(run: run, .replaced)] : words
        }
    }
}
