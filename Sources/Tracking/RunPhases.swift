/// How long a run was in a stretch of work that it named.
public struct PhaseTime: Hashable, Sendable, Codable {
    /// The name, as ``LiveState/phase`` has it.
    public let name: String
    /// Seconds from the start of the run to the first time it was in it.
    public let start: Double
    /// Seconds it was in it, all times together.
    public internal(set) var seconds: Double

    /// A phase that began `start` seconds after the run, and took `seconds`.
    public init(name: String, start: Double, seconds: Double) {
        (self.name, self.start, self.seconds) = (name, start, seconds)
    }
}

/// Where a run is, as far as only its phase shows it.
public struct PhasePlace: Hashable, Sendable {
    /// The phase it is in.
    public var name: String
    /// Seconds from the start of the run to that of this phase.
    public var since: Double
    /// The part of the phase that is done, 0...1; absent where that is not reported.
    public var progress: Double?

    /// A place in a phase.
    public init(name: String, since: Double, progress: Double? = nil) {
        (self.name, self.since, self.progress) = (name, since, progress)
    }
}

/// Notes which phase an attempt was in for how long.
struct PhaseClock: Hashable, Sendable {
    /// So many names are kept; what comes under further ones is not.
    static let limit = 16

    private var phases: [PhaseTime] = []
    private var current: Int?
    private var since = 0.0

    /// The attempt entered a phase, `elapsed` seconds after its start.
    mutating func enter(_ name: String, at elapsed: Double) {
        close(at: elapsed)
        since = elapsed
        current = phases.firstIndex { $0.name == name }
        guard current == nil, phases.count < Self.limit else { return }
        current = phases.count
        phases.append(PhaseTime(name: name, start: elapsed, seconds: 0))
    }

    /// Where it is; nil: in no phase that is kept.
    func place(progress: Double?) -> PhasePlace? {
        current.map { PhasePlace(name: phases[$0].name, since: since, progress: progress) }
    }

    /// The phases of an attempt that ended `total` seconds after its start.
    func phases(until total: Double) -> [PhaseTime] {
        var whole = self
        whole.close(at: total)
        return whole.phases
    }

    private mutating func close(at elapsed: Double) {
        if let current { phases[current].seconds += max(0, elapsed - since) }
    }
}

/// The last run of a job beside those before it, part by part: where the time went.
public struct ProfileComparison: Hashable, Sendable {
    /// A phase; of a run that names none, a tenth of its progress.
    public struct Part: Hashable, Sendable {
        /// The phase's name, or `30 to 40 %`.
        public let name: String
        /// Seconds it took in the middle of the runs before.
        public let usual: Double
        /// Seconds it took in the last one.
        public let last: Double
        /// How far runs differ in it, in seconds.
        let spread: Double
    }

    /// The parts in the order of the last run.
    public let parts: [Part]
    /// How many runs came before.
    public let runs: Int
    /// Seconds the job took in the middle of the runs before.
    public let usual: Double
    /// Seconds the last run took.
    public let last: Double

    /// Compares the last of `history`, which is ordered by age, with all before it.
    ///
    /// - Returns: `nil` for fewer than four runs.
    public init?(_ history: [RunProfile]) {
        guard let newest = history.last, history.count > FinishTraining.leastRuns else { return nil }
        let past = Array(history.dropLast())
        (runs, last) = (past.count, newest.total)
        var totals = past.map(\.total)
        usual = Statistics.median(&totals)
        if !newest.phases.isEmpty {
            parts = newest.phases.compactMap { phase in
                let times = past.compactMap { run in run.phases.first { $0.name == phase.name }?.seconds }
                return Part(phase.name, times, phase.seconds)
            }
        } else if newest.reportsProgress {
            let reporting = past.filter(\.reportsProgress)
            parts = (0..<10).compactMap { tenth in
                func time(_ run: RunProfile) -> Double {
                    run.seconds(at: Double(tenth + 1) / 10) - run.seconds(at: Double(tenth) / 10)
                }
                return Part("\(tenth * 10) to \(tenth * 10 + 10) %", reporting.map(time), time(newest))
            }
        } else {
            parts = []
        }
    }

    /// The part that made the last run slow: it took at least half as long again as usual, more than runs differ in it,
    /// and that was a tenth of the whole or more; nil: none did.
    public var slow: Part? {
        parts.filter { part in
            let more = part.last - part.usual
            return part.last >= part.usual * 1.5 && more > 3 * part.spread && more >= max(1, usual / 10)
        }.max { $0.last - $0.usual < $1.last - $1.usual }
    }
}

extension ProfileComparison.Part {
    /// A part of these times, of three runs or more.
    fileprivate init?(_ name: String, _ times: [Double], _ last: Double) {
        guard times.count >= FinishTraining.leastRuns else { return nil }
        var sorted = times
        let usual = Statistics.median(&sorted)
        var differences = times.map { abs($0 - usual) }
        (self.name, self.usual, self.last) = (name, usual, last)
        spread = 1.48 * Statistics.median(&differences)
    }
}
