import CronBench
import Glibc
import Timeline
import Tracking

/// Replays synthetic jobs and prints how far off each way to estimate the finish is, and how often the band holds.
///
/// - Source: progress.md, section 5.3: 49 moments of each run; the error of the time left as a part of the run's whole
///   time, capped at 10 times that.
enum EtaBench {
    private static let jobs = 12
    private static let runs = 6
    private static let past = 20

    /// Runs the bench: `[SEED] [--traces FOLDER]`.
    static func run(arguments: [String]) {
        if let place = arguments.firstIndex(of: "--traces"), place + 1 < arguments.count {
            RecordedTraces.run(folder: arguments[place + 1])
        }
        let seed = arguments.first.flatMap { UInt64($0) } ?? 1
        print("eta: \(jobs) jobs x \(runs) runs of each kind, \(past) past runs, seed \(seed); % of a run")
        let names = ["blend", "naive", "mean of 3", "median of 10", "band holds"]
        print("  " + "kind".padded(to: 14) + names.map { $0.padded(to: 14) }.joined())
        var all = Errors()
        var replayed: [[Double]] = []
        for kind in SyntheticJob.Kind.allCases {
            let errors = errors(of: kind, past: past, seed: seed, &replayed)
            print("  " + kind.rawValue.padded(to: 14) + errors.cells.map { $0.padded(to: 14) }.joined())
            all.add(errors)
        }
        print("  " + "mean".padded(to: 14) + all.cells.map { $0.padded(to: 14) }.joined())
        let history = min(all.mean(all.mean3), all.mean(all.median10))
        let blend = all.mean(all.blend)
        report("mean error", "\((blend * 100).short) %", limit: "9 %", isKept: blend <= 0.09)
        report(
            "beside the best by past times", (blend / history).short, limit: "0.75",
            isKept: blend <= 0.75 * history)
        let share = Double(all.covered) / Double(max(1, all.banded))
        report(
            "band holds", "\((share * 100).short) %", limit: "72-88 %", isKept: (0.72...0.88).contains(share))
        for few in [3, 4, 5, 10] { reportFew(few, seed: seed) }
        BarPeers.report(on: replayed, beside: blend)
    }

    /// How often the band holds that is shown after a few runs.
    private static func reportFew(_ count: Int, seed: UInt64) {
        var all = Errors()
        var ignored: [[Double]] = []
        for kind in SyntheticJob.Kind.allCases {
            all.add(errors(of: kind, past: count, seed: seed &+ 100, &ignored))
        }
        let share = Double(all.coveredShown) / Double(max(1, all.shown))
        let spoken = Double(all.shown) / Double(max(1, all.looks))
        report(
            "band holds after \(count) runs, where it is shown",
            "\((share * 100).short) %, in \((spoken * 100).short) % of looks", limit: "70 %",
            isKept: share >= 0.7)
    }

    private static func errors(
        of kind: SyntheticJob.Kind, past: Int, seed: UInt64, _ replayed: inout [[Double]]
    ) -> Errors {
        var numbers = SeededNumbers(seed: seed)
        var errors = Errors()
        for _ in 0..<jobs {
            let job = SyntheticJob(kind, &numbers)
            let history = (0..<past).compactMap { _ in job.profile(&numbers) }
            let estimator = FinishEstimator(history: history)
            let totals = history.map(\.total)
            for _ in 0..<runs {
                let times = job.run(&numbers)
                replayed.append(times)
                replay(
                    times, estimator, mean3: totals.suffix(3).reduce(0, +) / 3,
                    median10: Figures(Array(totals.suffix(10))).median, into: &errors)
            }
        }
        return errors
    }

    private static func replay(
        _ times: [Double], _ estimator: FinishEstimator, mean3: Double, median10: Double,
        into errors: inout Errors
    ) {
        guard let total = times.last else { return }
        let start = Moment(seconds: 1_700_000_000)
        let end = start + .seconds(total)
        var trace = RunTrace()
        var step = 0
        for look in 1..<50 {
            let elapsed = total * Double(look) / 50
            while step < times.count, times[step] <= elapsed {
                trace.note(Double(step + 1) / Double(times.count), at: times[step])
                step += 1
            }
            guard trace.count > 0, trace.progress < 1 else { continue }
            func error(_ left: Double) -> Double { min(abs(max(0, left) - (total - elapsed)) / total, 10) }
            let finish = estimator.finish(of: trace, startedAt: start, at: start + .seconds(elapsed))
            errors.looks += 1
            errors.blend += error((finish.map { ($0.at - start) / .seconds(1) } ?? median10) - elapsed)
            errors.naive += error(trace.elapsed / trace.progress - elapsed)
            errors.mean3 += error(mean3 - elapsed)
            errors.median10 += error(median10 - elapsed)
            guard let low = finish?.low, let high = finish?.high else { continue }
            errors.banded += 1
            if low <= end, end <= high { errors.covered += 1 }
            guard finish?.claim(at: start + .seconds(elapsed)) != nil else { continue }
            errors.shown += 1
            if low <= end, end <= high { errors.coveredShown += 1 }
        }
    }

    /// The sums over all looks at runs of a kind.
    private struct Errors {
        var blend = 0.0
        var naive = 0.0
        var mean3 = 0.0
        var median10 = 0.0
        var looks = 0
        var banded = 0
        var covered = 0
        var shown = 0
        var coveredShown = 0

        func mean(_ sum: Double) -> Double { sum / Double(max(1, looks)) }

        var cells: [String] {
            [blend, naive, mean3, median10].map { (mean($0) * 100).short }
                + ["\((Double(covered) / Double(max(1, banded)) * 100).short) %"]
        }

        mutating func add(_ other: Errors) {
            blend += other.blend
            naive += other.naive
            mean3 += other.mean3
            median10 += other.median10
            looks += other.looks
            banded += other.banded
            covered += other.covered
            shown += other.shown
            coveredShown += other.coveredShown
        }
    }
}

/// A job as they occur, with its habits; each run has its own luck.
struct SyntheticJob {
    /// The ways in which jobs get on.
    enum Kind: String, CaseIterable {
        case linear, slowing, accelerating, bursty, phases, stalled
    }

    private static let steps = 1000
    private let kind: Kind
    private let total: Double
    /// The share of time of each of four equal phases.
    private let shares: [Double]

    init(_ kind: Kind, _ numbers: inout SeededNumbers) {
        self.kind = kind
        total = .random(in: 60...3000, using: &numbers)
        shares = (0..<4).map { _ in exp(numbers.normal()) }
    }

    /// Seconds at which a run has done each of its equal steps.
    func run(_ numbers: inout SeededNumbers) -> [Double] {
        let steps = Self.steps
        let luck = (0..<4).map { _ in kind == .phases ? exp(0.15 * numbers.normal()) : 1 }
        let costs = (0..<steps).map { cost(Double($0) / Double(steps), &numbers) * luck[$0 * 4 / steps] }
        let scale = total * exp(0.15 * numbers.normal()) / costs.reduce(0, +)
        var times: [Double] = []
        for cost in costs { times.append((times.last ?? 0) + cost * scale) }
        guard kind == .stalled else { return times }
        for _ in 0..<Int.random(in: 1...2, using: &numbers) {
            for step in Int.random(in: 0..<steps, using: &numbers)..<steps { times[step] += total * 0.15 }
        }
        return times
    }

    /// What another run leaves behind, as it is read again from its stored form.
    func profile(_ numbers: inout SeededNumbers) -> RunProfile? {
        let times = run(&numbers)
        var trace = RunTrace()
        for (index, time) in times.enumerated() {
            trace.note(Double(index + 1) / Double(times.count), at: time)
        }
        return RunProfile(trace, total: times[times.count - 1]).flatMap { RunProfile(bytes: $0.bytes) }
    }

    private func cost(_ done: Double, _ numbers: inout SeededNumbers) -> Double {
        let noise = exp(0.1 * numbers.normal())
        switch kind {
        case .linear, .stalled: return noise
        case .slowing: return noise * (0.1 + done * done * 2)
        case .accelerating: return noise * (0.1 + (1 - done) * (1 - done) * 2)
        case .bursty: return exp(1.5 * numbers.normal())
        case .phases: return noise * shares[min(3, Int(done * 4))]
        }
    }
}

extension SeededNumbers {
    /// About normal, mean 0 and deviation 1: the sum of twelve even numbers.
    fileprivate mutating func normal() -> Double {
        (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &self) }
    }
}
