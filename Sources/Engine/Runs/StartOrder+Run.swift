import Ledger
import WardenProtocol

extension StartOrder {
    /// What the warden must know to start a run.
    init(_ run: RunRecord, _ spec: JobSpec, _ places: RunPlaces) {
        let work: Work =
            switch spec.action {
            case .command(let words): .command(words)
            case .shell(let text): .shell(text)
            }
        self.init(
            key: RunKey(run: run.id, attempt: run.attempt), work: work,
            environment: RunEnvironment(run: run, spec: spec, socket: places.socket).values,
            folder: spec.directory, timeout: spec.timeout, grace: spec.grace,
            output: .init(path: places.output(of: run.id, job: run.job, attempt: run.attempt)))
    }
}
