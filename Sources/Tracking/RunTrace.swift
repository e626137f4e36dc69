/// How one attempt got on: the seconds it needed to reach each of 64 equal steps of progress.
public struct RunTrace: Hashable, Sendable, Codable {
    /// The number of equal steps a run's progress is divided into.
    public static let steps = 64

    /// The last progress reported, 0...1.
    public private(set) var progress = 0.0
    /// Seconds from the start to the report with ``progress``.
    public private(set) var elapsed = 0.0
    /// The longest time between two reports, in seconds.
    public private(set) var largestGap = 0.0
    /// Reports noted so far.
    public private(set) var count = 0
    /// Seconds at which each step was reached, as far as it is; a step within one report is interpolated.
    public private(set) var reached: [Double] = [0]

    /// A trace of an attempt without a report yet.
    public init() {}

    /// Notes that `progress` (0...1) was reported `elapsed` seconds after the start.
    ///
    /// What lies before the last report, in progress or in time, is ignored.
    public mutating func note(_ progress: Double, at elapsed: Double) {
        guard progress.isFinite, elapsed.isFinite, elapsed >= self.elapsed, progress >= self.progress else {
            return
        }
        let next = min(progress, 1)
        while reached.count <= Self.steps {
            let step = Double(reached.count) / Double(Self.steps)
            guard step <= next else { break }
            let part = next > self.progress ? (step - self.progress) / (next - self.progress) : 1
            reached.append(self.elapsed + (elapsed - self.elapsed) * part)
        }
        largestGap = max(largestGap, elapsed - self.elapsed)
        self.progress = next
        self.elapsed = elapsed
        count += 1
    }

    /// Seconds that the last sixteenth of the progress took; `nil` before there was one.
    var recentSeconds: Double? {
        let before = progress - FinishExperts.recentStretch
        guard before > 0 else { return nil }
        let place = before * Double(Self.steps)
        let step = Int(place)
        guard step + 1 < reached.count else { return nil }
        return elapsed - (reached[step] + (reached[step + 1] - reached[step]) * (place - Double(step)))
    }
}
