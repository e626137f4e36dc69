import Performing
import Prompting
import Tracking

extension BotPerformer {
    /// Has the bot summarize what it will no longer be shown, where its order names something; the note then has the summary,
    /// and orders no other.
    ///
    /// - Throws: an `AttemptFault` where another attempt may have one. Without a summary that the bot will not write either, it
    ///   is asked all the same: what was said long ago is left out then.
    func summarize(_ bot: Asked, _ note: inout LoopNote, since watch: Duration) async throws {
        guard let older = note.order.older else { return }
        let key = note.order.key
        attempts.report(.progress(key, ProgressReport(phase: "summarizing what was said before")))
        let turns =
            SummaryText.leading(note.order.summary, older.turns.map(Turn.init))
            + [Turn(.user, SummaryText.request)]
        var (reply, failure) = (ReplyProgress(), ReplyFailure?.none)
        try await call(note.order, bot.endpoint, spent: spent(of: note.order, since: watch))
            .ask(bot.backend.prompt(turns)) { event in
                switch event {
                case .failed(let reason): failure = reason
                case .finished(let end): failure = end.failure(hasOutput: !reply.text.isEmpty)
                default: break
                }
                _ = reply.note(event)
            }
        note.summaryUsage = reply.usage ?? TokenUsage()
        note.order.older = nil
        switch failure?.kind {
        case nil, .endedEarly: break
        default:
            guard let failure, failure.retry != .never else { return }
            throw AttemptFault(failure, at: bot.endpoint.place)
        }
        guard let text = SummaryText.kept(of: reply.text) else { return }
        note.order.summary = text
        note.summary = TalkSummary(text, through: older.through)
    }
}
