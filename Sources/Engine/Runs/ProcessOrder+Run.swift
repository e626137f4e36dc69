import Ledger
import Performing

extension ProcessOrder {
    /// What a performer must know to start a run.
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
        guard let rules = spec.process else { return }
        user = rules.user
        umask = rules.umask.map(UInt32.init)
        nice = rules.nice
        switch rules.input {
        case .text(let text): stdin = .text(Array(text.utf8))
        case .file(let path): stdin = .file(path)
        case nil: break
        }
        for (limit, most) in rules.limits ?? [:] { limits[ResourceLimit(limit)] = most }
    }
}

extension ResourceLimit {
    /// The limit of a process for a job's limit.
    fileprivate init(_ limit: JobLimit) {
        self =
            switch limit {
            case .memory: .memoryBytes
            case .cpu: .cpuSeconds
            case .files: .descriptors
            case .processes: .processes
            case .fileSize: .fileBytes
            case .stack: .stackBytes
            case .core: .coreBytes
            }
    }
}
