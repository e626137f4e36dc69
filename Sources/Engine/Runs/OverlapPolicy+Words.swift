import Ledger
import Timeline
import Tracking

extension OverlapPolicy {
    /// Whether a new run of a job has something to say to those before it.
    var touchesOthers: Bool { self == .queueOne || self == .replace }

    /// What a new run of the job says to `others`, which were there before and may have ended meanwhile: who
    /// waits gives way, and with ``replace`` who is under way is to end.
    func words(
        to others: some Sequence<String>, of job: String, bot: String, at now: Moment
    ) -> [Change] {
        guard touchesOthers else { return [] }
        return others.flatMap { run -> [Change] in
            let skipped = NewEvent(
                .runSkipped, at: now, reason: RunReason.superseded.rawValue, job: job, run: run, bot: bot)
            let words = [Change.passOver(run: run, skipped)]
            return self == .replace ? words + [.askEnd(run: run, .replaced)] : words
        }
    }
}
