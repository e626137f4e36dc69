import GRDB
import Ledger

/// Every statement that writes, by station.
struct StationRows {
    private let jobs: JobRows
    private let slots: SlotRows
    private let runs: RunRows
    private let talk: TalkRows
    private let outbox: OutboxRows
    private let surfaces: SurfaceRows
    private let events: EventRows
    private let verdicts: VerdictRows
    private let history: HistoryRows

    init(in database: Database, ordinals: Ordinals) throws(StoreFailure) {
        jobs = try JobRows(in: database)
        slots = try SlotRows(in: database)
        runs = try RunRows(in: database, ordinals: ordinals)
        talk = try TalkRows(in: database)
        outbox = try OutboxRows(in: database)
        surfaces = try SurfaceRows(in: database)
        events = try EventRows(in: database)
        verdicts = try VerdictRows(in: database)
        history = try HistoryRows(in: database)
    }

    /// Makes one change, and adds its result to `commit`.
    func apply(_ change: Change, to commit: inout Commit) throws(StoreFailure) {
        switch change {
        case .putJob(let job, let old): try jobs.put(job, replacing: old)
        case .removeJob(let name, let revision): try jobs.remove(name, revision: revision)
        case .pauseJob(let name, let pause): try jobs.pause(name, pause)
        case .moveWatermark(let old, let new): try slots.moveWatermark(from: old, to: new)
        case .recordSpan(let span, let follows): try slots.record(span, follows: follows)
        case .insertRun(let run, let orIgnore):
            let ordinal = try runs.insert(run, orIgnore: orIgnore)
            if let ordinal { commit.inserted.append(Commit.Inserted(run.id, ordinal)) }
        case .moveRun(let move): try runs.move(move)
        case .passOver(let run, let event):
            guard try runs.passOver(run, at: event.at) else { return }
            commit.passedOver.insert(run)
            commit.lastEvent = try events.append(event)
        case .askEnd(let run, let reason): try runs.askEnd(of: run, reason)
        case .putAttempt(let attempt): try runs.put(attempt)
        case .saveLive(let run, let live): try runs.saveLive(live, of: run)
        case .insertMessage(let message): try talk.insert(message)
        case .markRead(let bot, let thread, let moment):
            try talk.markRead(bot: bot, thread: thread, through: moment)
        case .pinMessage(let id, let pinned): try talk.pin(id, pinned)
        case .putItem(let item, let old): try talk.put(item, replacing: old)
        case .insertOutbox(let entry): try outbox.insert(entry)
        case .moveOutbox(let move): try outbox.move(move)
        case .releaseOutbox(let release): try outbox.release(release)
        case .parkOutbox(let park): try outbox.park(park)
        case .rewriteOutbox(let id, let reason, let body, let item, let nextAt):
            try outbox.rewrite(id, reason: reason, body: body, item: item, nextAt: nextAt)
        case .wantSurface(let channel, let item, let revision, let ring, let at):
            try surfaces.want(channel: channel, item: item, revision: revision, ring: ring, at: at)
        case .showSurface(let channel, let item, let revision, let remote, let at):
            try surfaces.show(channel: channel, item: item, revision: revision, remote: remote, at: at)
        case .dismissSurface(let channel, let item, let dismissed):
            try surfaces.dismiss(channel: channel, item: item, dismissed)
        case .refuseSurface(let channel, let item, let revision, let reason):
            try surfaces.refuse(channel: channel, item: item, revision: revision, reason: reason)
        case .forgetRemotes(let channel): try surfaces.forgetRemotes(of: channel)
        case .insertReceipt(let receipt): try outbox.insert(receipt)
        case .putChannel(let channel): try outbox.put(channel)
        case .append(let event): commit.lastEvent = try events.append(event)
        case .moveConsumer(let name, let old, let new): try events.moveConsumer(name, from: old, to: new)
        case .recordVerdicts(let records): try verdicts.insert(records)
        case .removeRun(let id): try history.removeRun(id)
        case .removeHistory(let moment, let limit): try history.remove(before: moment, limit: limit)
        case .setFact(let name, let value): try jobs.setFact(name, value)
        }
    }
}
