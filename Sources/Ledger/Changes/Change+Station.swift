import Delivery
import Grouping
import Tracking

// Tables: who reads what a change touched, whether it begins something, and its name in a refusal.

extension Change {
    /// Whose rows it touches; nil for what nobody waits for: the watermark, the facts, verdicts, and history that goes.
    package var station: Station? {
        switch self {
        case .putJob, .removeJob, .pauseJob: .jobs
        case .moveWatermark, .setFact, .recordVerdicts, .removeRun, .removeHistory: nil
        case .recordSpan, .insertRun, .moveRun, .passOver, .askEnd, .putAttempt, .saveLive: .runs
        case .insertMessage, .markRead, .putItem: .talk
        case .insertOutbox, .moveOutbox, .releaseOutbox, .parkOutbox, .rewriteOutbox, .wantSurface,
            .showSurface, .dismissSurface, .refuseSurface, .forgetRemotes, .insertReceipt, .putChannel:
            .outbox
        case .append, .moveConsumer: .events
        }
    }

    /// Whether it begins something: refused while the disk is full, so that what began can still be ended.
    package var takesOnWork: Bool {
        switch self {
        case .putJob, .moveWatermark, .recordSpan, .insertRun, .insertMessage: true
        case .removeJob, .pauseJob, .moveRun, .passOver, .askEnd, .putAttempt, .saveLive, .markRead,
            .putItem, .insertOutbox, .moveOutbox, .releaseOutbox, .parkOutbox, .rewriteOutbox,
            .wantSurface, .showSurface, .dismissSurface, .refuseSurface, .forgetRemotes, .insertReceipt,
            .putChannel, .append, .moveConsumer, .recordVerdicts, .setFact, .removeRun, .removeHistory:
            false
        }
    }

    /// Its name and the row it is about, for ``LedgerError/fenced(index:change:)``: `moveRun ID to running`.
    package var label: String {
        switch self {
        case .putJob(let job, _): "putJob \(job.name)"
        case .removeJob(let name, _): "removeJob \(name)"
        case .pauseJob(let name, _): "pauseJob \(name)"
        case .moveWatermark: "moveWatermark"
        case .recordSpan(let span, _): "recordSpan \(span.job)"
        case .insertRun(let run, _): "insertRun \(run.job) \(run.cause)"
        case .moveRun(let move): "moveRun \(move.run) to \(move.to.rawValue)"
        case .passOver(let run, _): "passOver \(run)"
        case .askEnd(let run, let reason): "askEnd \(run) \(reason.rawValue)"
        case .putAttempt(let attempt): "putAttempt \(attempt.run)/\(attempt.n)"
        case .saveLive(let run, _): "saveLive \(run)"
        case .insertMessage(let record): "insertMessage \(record.message.id)"
        case .markRead(let bot, let thread, _): "markRead \(bot)/\(thread)"
        case .putItem(let item, _): "putItem \(item.key)"
        case .insertOutbox(let entry): "insertOutbox \(entry.cause)"
        case .moveOutbox(let move): "moveOutbox \(move.id) to \(move.to.rawValue)"
        case .releaseOutbox(let release): "releaseOutbox \(release.channel)"
        case .parkOutbox(let park): "parkOutbox \(park.channel)"
        case .rewriteOutbox(let id, _, _, _, _): "rewriteOutbox \(id)"
        case .wantSurface(let channel, let item, _, _, _): "wantSurface \(channel)/\(item)"
        case .showSurface(let channel, let item, _, _, _): "showSurface \(channel)/\(item)"
        case .dismissSurface(let channel, let item, _): "dismissSurface \(channel)/\(item)"
        case .refuseSurface(let channel, let item, _, _): "refuseSurface \(channel)/\(item)"
        case .forgetRemotes(let channel): "forgetRemotes \(channel)"
        case .insertReceipt(let record): "insertReceipt \(record.outbox)"
        case .putChannel(let channel): "putChannel \(channel.name)"
        case .append(let event): "append \(event.type.rawValue)"
        case .moveConsumer(let name, _, _): "moveConsumer \(name)"
        case .recordVerdicts(let verdicts): "recordVerdicts \(verdicts.first?.event ?? 0)"
        case .setFact(let name, _): "setFact \(name)"
        case .removeRun(let id): "removeRun \(id)"
        case .removeHistory: "removeHistory"
        }
    }
}
