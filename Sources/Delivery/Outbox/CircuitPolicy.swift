/// When a channel that keeps failing is left alone, and when it is given up.
package struct CircuitPolicy: Hashable, Codable, Sendable {
    /// Opens after this many failures in a row.
    package var failuresInARow: Int
    /// Opens when more than half of the last this many failed; at most 32.
    package var window: Int
    /// How long to leave it alone after each opening in a row, the first one first; the last one repeats.
    package var probeAfter: [Duration]
    /// Disables it after only failures for this long, counted while it was tried.
    package var disableAfter: Duration
    /// The most that the time between two failures counts: a machine that sleeps does not try.
    package var longestGap: Duration
    /// Never disables it for fewer failures than this, however far apart.
    package var leastFailuresToDisable: Int

    /// A policy; left out: 5 in a row, half of 20, probes after 30 s up to an hour, disabled after 5 days.
    package init(
        failuresInARow: Int = 5, window: Int = 20,
        probeAfter: [Duration] = [
            .seconds(30), .seconds(60), .seconds(300), .seconds(900), .seconds(1800), .seconds(3600),
        ],
        disableAfter: Duration = .seconds(5 * 86_400), longestGap: Duration = .seconds(3600),
        leastFailuresToDisable: Int = 10
    ) {
        self.failuresInARow = failuresInARow
        self.window = min(window, 32)
        self.probeAfter = probeAfter
        self.disableAfter = disableAfter
        self.longestGap = longestGap
        self.leastFailuresToDisable = leastFailuresToDisable
    }
}
