import Delivery
import Ledger
import Logging

/// What a person asks for by a button on a notice of a job.
package enum JobPress: Hashable, Sendable {
    /// The run that a notice is about; nil: slots that never got one.
    package struct Run: Hashable, Sendable {
        package var job: String
        package var ordinal: Int?

        package init(job: String, ordinal: Int?) { (self.job, self.ordinal) = (job, ordinal) }
    }

    /// The job is to run once more.
    case runAgain(Run)
    /// The run is to end.
    case cancel(Run)
    /// The processes of the run are to stop, or to go on.
    case setPaused(Bool, Run)
}

extension Control {
    /// Does what a button asks for; a refusal is logged, as nobody waits for an answer.
    package func act(on press: JobPress) async {
        do throws(EngineError) {
            switch press {
            case .cancel(let run):
                guard let ordinal = run.ordinal else { return }
                try await cancel(try await self.run(named: run.job, ordinal))
            case .setPaused(let isPaused, let run):
                guard let ordinal = run.ordinal else { return }
                try await setPaused(isPaused, try await self.run(named: run.job, ordinal))
            case .runAgain(let run):
                let made = try await runAgain(run)
                logger.info("run requested by a button", metadata: ["run": "\(made.name)"])
            }
        } catch {
            logger.notice("what a button asked for was refused", metadata: ["reason": "\(error)"])
        }
    }

    private func runAgain(_ run: JobPress.Run) async throws(EngineError) -> RunRecord {
        guard let ordinal = run.ordinal else { return try await runNow(run.job, force: false, key: nil) }
        return try await retry(try await self.run(named: run.job, ordinal))
    }
}
