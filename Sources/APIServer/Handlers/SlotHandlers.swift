import API
import Engine
import Ledger
import Timeline

extension DaemonHandler {
    /// What became of the slot of a job at a moment: its run, or the span with the reason why there is none.
    ///
    /// More than one row where the clock was set back so far that the moment came again; none when the job had
    /// no slot then.
    func slot(of job: String, at text: String) async throws(APIError) -> [WireRun] {
        let moment: Moment
        do {
            moment = try Moment(iso8601: text)
        } catch {
            throw APIError(.badValue, "at: \(error.message)")
        }
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
