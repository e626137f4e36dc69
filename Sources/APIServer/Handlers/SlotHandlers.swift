import API
import Engine
import Ledger
import Timeline

extension DaemonHandler {
    /// What happened to the slot of a job at a moment: its run, or the span with the reason why there is none.
    ///
    /// More than one row where the clock was set back so far that the moment came again; none when the job had
    /// no slot then.
    func slot(of job: String, at moment: Moment) async throws(APIError) -> [WireRun] {
        var rows: [WireRun] = []
        let newest = try await reading { () async throws(LedgerError) in
            try await control.ledger.watermark()
        }
        for era in (0...(newest?.era ?? 0)).reversed() {
            let run = try await reading { () async throws(LedgerError) in
                try await control.ledger.run(job: job, cause: RunCause.slot(moment, era: era))
            }
            if let run { rows.append(await shown(run)) }
        }
        let spans = try await reading { () async throws(LedgerError) in
            try await control.ledger.spans(of: job, limit: .max)
        }
        return rows + spans.filter { $0.first <= moment && moment <= $0.last }.map(WireRun.init)
    }
}
