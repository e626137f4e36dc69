import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

// What a person reads of an event on channels that do not edit in place.

extension ItemTurn {
    /// Of a version of an item.
    func notice(of snapshot: ItemSnapshot, icon: String? = nil) -> Notice {
        NoticeComposer.compose(
            snapshot, manner: configuration.bot(snapshot.bot).manner, jobIcon: icon)
    }

    /// Of a fact of a job, with the failures before it.
    func notice(of fact: JobFact, job: String, bot: String, icon: String?) -> Notice {
        let kept = item(.job(job), bot: bot)
        let item = if case .job(let item) = kept.decider { item } else { JobItem(job: job, bot: bot) }
        return notice(of: item.version(of: fact, at: now, policy: jobPolicy), icon: icon)
    }

    /// Of the first success of a job after failures.
    func notice(
        of recovery: Fact.Recovery, _ fact: JobFact, job: String, bot: String, icon: String?
    ) -> Notice {
        let version = JobItem(job: job, bot: bot).version(
            ofRecovery: fact, after: recovery.failures ?? 0,
            outage: recovery.outageSeconds.map { .seconds($0) }, policy: jobPolicy)
        return notice(of: version, icon: icon)
    }

    /// Of something said by Belfry itself.
    func notice(of text: String, in thread: OwnThread) -> Notice {
        let message = Message(id: "", bot: OwnThread.bot, thread: thread.name, text: text, at: now)
        return notice(
            of: ItemSnapshot(
                key: thread.key, revision: 1, bot: OwnThread.bot, urgency: .normal, reason: .first, at: now,
                content: .messages(count: 1, last: [message])))
    }
}
