import Ledger

/// A run that waits for its turn: as much of it as the order of turns needs.
struct Waiting: Hashable {
    let id: String
    let job: String
    let bot: String
    /// Higher ones first.
    let priority: Int
    let isForced: Bool
    /// Who performs it.
    let performer: PerformerKind
    /// What it must find open.
    let gates: [Gate]
    /// Where it counts while it is under way: its key, and its job in any case.
    ///
    /// In this order it leaves: others of its key have waited longer than its job's next run.
    let places: [Gate.Name]
    /// The clocks when it began to wait.
    let since: ClockReading?

    /// `spec` is what it executes; nil when nobody knows any more: then it waits for its performer only.
    init(
        _ run: RunRecord, _ spec: JobSpec?, performer: PerformerKind = .warden, since: ClockReading? = nil
    ) {
        self.performer = performer
        self.since = since
        id = run.id
        job = run.job
        bot = run.bot
        priority = spec?.priority ?? 0
        isForced = run.isForced
        let narrow = spec?.gates(isForced: run.isForced) ?? []
        gates = narrow + [Gate(name: .performer(performer), width: .max)]
        places = narrow.map(\.name).filter { $0 != .job(run.job) } + [.job(run.job)]
    }
}
