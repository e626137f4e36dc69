package import Cron
import Ledger
import Timeline

extension SlotKeeper {
    /// The crowd in the second of a job's next slot; nil when it is not worth a word, or the job has a spread.
    ///
    /// - Complexity: O(jobs).
    package func crowd(around name: String) -> SlotCrowd? {
        guard book.count > SlotCrowd.limit, let entry = book[name], let second = entry.next?.seconds,
            !entry.isPaused, entry.policies.spread == .zero
        else { return nil }
        let count = book.crowd(inSecond: second)
        return count > SlotCrowd.limit ? SlotCrowd(moment: Moment(seconds: second), count: count) : nil
    }

    /// The largest crowd ahead; nil when none is worth a word.
    ///
    /// - Complexity: O(jobs).
    package func largestCrowd() -> SlotCrowd? {
        SlotCrowd.largest(of: book.crowds, after: clock.now)
    }
}
