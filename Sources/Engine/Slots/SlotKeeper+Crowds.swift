package import Cron
import Ledger
import Timeline

extension SlotKeeper {
    /// The crowd in the second of a job's next slot; nil when it is not worth a word, or the job has a spread.
    package func crowd(around name: String) -> SlotCrowd? {
        guard let entry = book[name], let next = entry.next, entry.isInCrowd, book.count > SlotCrowd.limit
        else {
            return nil
        }
        let second = next.seconds
        let count = book.all.count { other in
            guard other.isInCrowd, let first = other.next, first.seconds <= second else { return false }
            return first.seconds == second || other.schedule.hasSlot(inSecond: second, in: other.rules)
        }
        return count > SlotCrowd.limit ? SlotCrowd(moment: Moment(seconds: second), count: count) : nil
    }

    /// The largest crowd ahead; nil when none is worth a word.
    package func largestCrowd() -> SlotCrowd? {
        let entries = book.all.filter(\.isInCrowd).map { (schedule: $0.schedule, zone: $0.rules) }
        return SlotCrowd.largest(of: entries, after: clock.now)
    }
}

extension JobBook.Entry {
    /// Whether its runs start with its slots.
    fileprivate var isInCrowd: Bool { record.pause == nil && (record.spec.spread ?? .zero) == .zero }
}
