package import Timeline
package import Tracking

/// Shows all runs together in the terminal's tab or task bar.
///
/// Some terminals remove a bar that is not refreshed for 15 s, so it is said again every 10 s. Whoever ends
/// the program, also by a signal, writes ``clear``.
///
/// - Source: ConEmu, OSC 9;4. Ends in ST and never in BEL: VTE ignores the latter form.
package struct TaskbarProgress: Sendable {
    /// The bytes that take the bar away.
    package static let clear = bytes(0, nil)
    /// How often the bar is said again.
    package static let heartbeat = Duration.seconds(10)

    private struct Shown: Hashable {
        var state: Int
        var percent: Int?
    }

    private var shown: Shown?
    private var saidAt = Moment.distantPast

    /// Nothing is shown yet.
    package init() {}

    /// The bytes to write for the runs as they are; none when nothing changed and no heartbeat is due.
    package mutating func update(_ runs: [LiveState], at now: Moment) -> [UInt8] {
        let next = Self.summary(runs)
        guard next != shown || (next != nil && now - saidAt >= Self.heartbeat) else { return [] }
        let wasShown = shown != nil
        shown = next
        saidAt = now
        guard let next else { return wasShown ? Self.clear : [] }
        return Self.bytes(next.state, next.percent)
    }

    /// Yellow while a run waits for a person or is stuck, else normal with the mean of what is known, else
    /// busy.
    private static func summary(_ runs: [LiveState]) -> Shown? {
        let alive = runs.filter { $0.state.isUnderWay }
        guard !alive.isEmpty else { return nil }
        let known = alive.compactMap(\.progress)
        let mean = known.isEmpty ? nil : Int(known.reduce(0, +) / Double(known.count) * 100 + 1e-9)
        if alive.contains(where: { $0.state != .running && $0.state != .starting }) {
            return Shown(state: 4, percent: mean ?? 0)
        }
        return mean.map { Shown(state: 1, percent: $0) } ?? Shown(state: 3, percent: nil)
    }

    private static func bytes(_ state: Int, _ percent: Int?) -> [UInt8] {
        Array("\u{1B}]9;4;\(state)\(percent.map { ";\($0)" } ?? "")\u{1B}\\".utf8)
    }
}
