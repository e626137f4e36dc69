/// How much may go on at a time.
package struct RunLimits: Hashable, Sendable {
    /// Runs that are started and have not ended.
    package var running: Int
    /// Runs whose start is ordered and not yet answered.
    package var starting: Int

    /// The caps; left out, 64 running, and two starting a core of two.
    package init(running: Int = 64, starting: Int = 4) {
        self.running = running
        self.starting = starting
    }
}
