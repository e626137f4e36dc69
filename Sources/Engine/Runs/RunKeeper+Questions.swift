import Grouping
import Ledger
import Logging
import Timeline
import Tracking

// What jobs ask by datagrams.

extension RunKeeper {
    /// Asks a person for a run, once for each key; the run goes on.
    ///
    /// It is written at once, apart from the run's own steps: the same datagram again, or the job by that key, finds it.
    func ask(_ asked: ReportedQuestion, in run: RunRecord) async {
        let (id, now) = (ReportedQuestion.id(of: asked.key, in: run.id), clock.now)
        var question = Question(id: id, bot: run.bot, text: asked.text, choices: asked.choices, askedAt: now)
        question.run = run.name
        question.takesText = asked.choices.isEmpty
        question.fallback = asked.fallback
        question.deadline = asked.openFor.map { now + $0 }
        do throws(LedgerError) {
            guard try await ledger.question(id: id) == nil else { return }
            _ = try await ledger.commitUnlessFenced(QuestionRecord(question, run: run.id).asking())
        } catch {
            logger.error(
                "what a job asked could not be recorded",
                metadata: ["run.id": "\(run.name)", "reason": "\(error)"])
        }
    }
}
