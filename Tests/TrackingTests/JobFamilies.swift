import TestSupport

@testable import Tracking

/// Kinds of jobs as they occur, each with its own way to get on; a job of a kind has its habits, a run of
/// it its luck.
enum JobFamily: String, CaseIterable {
    /// The same pace all the way.
    case linear
    /// Quick first, then ever slower.
    case slowing
    /// Slow first, then ever quicker.
    case accelerating
    /// In leaps and pauses that no two runs share.
    case bursty
    /// A few stretches of very unlike pace, alike in all runs.
    case phases
    /// Even, but for one or two long silences anywhere.
    case stalled

    /// The habits of one job of the kind.
    struct Habits {
        let family: JobFamily
        let total: Double
        /// The share of time of each of four equal phases.
        let shares: [Double]
    }

    func makeHabits(_ generator: inout SeededGenerator) -> Habits {
        Habits(
            family: self, total: .random(in: 60...3000, using: &generator),
            shares: (0..<4).map { _ in Double.exp(generator.normal()) })
    }
}

extension JobFamily.Habits {
    /// Seconds at which a run has done each of 200 equal steps.
    func run(_ generator: inout SeededGenerator) -> [Double] {
        let pace = Double.exp(0.15 * generator.normal())
        let steps = 200
        var costs = (1...steps).map { cost($0, of: steps, &generator) }
        if family == .phases {
            let luck = (0..<4).map { _ in Double.exp(0.15 * generator.normal()) }
            for step in costs.indices { costs[step] *= luck[step * 4 / steps] }
        }
        let scale = total * pace / costs.reduce(0, +)
        var times: [Double] = []
        for cost in costs { times.append((times.last ?? 0) + cost * scale) }
        guard family == .stalled else { return times }
        for _ in 0..<Int.random(in: 1...2, using: &generator) {
            let place = Int.random(in: 0..<steps, using: &generator)
            for step in place..<steps { times[step] += total * 0.15 }
        }
        return times
    }

    private func cost(_ step: Int, of steps: Int, _ generator: inout SeededGenerator) -> Double {
        let done = Double(step) / Double(steps)
        let noise = Double.exp(0.1 * generator.normal())
        switch family {
        case .linear, .stalled: return noise
        case .slowing: return noise * (0.1 + done * done * 2)
        case .accelerating: return noise * (0.1 + (1 - done) * (1 - done) * 2)
        case .bursty: return Double.exp(1.5 * generator.normal())
        case .phases: return noise * shares[min(3, (step - 1) * 4 / steps)]
        }
    }
}

extension SeededGenerator {
    /// About normal, mean 0 and deviation 1: the sum of twelve even numbers.
    mutating func normal() -> Double {
        (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &self) }
    }
}
