/// How much may go on at a time.
package struct RunLimits: Hashable, Sendable {
    /// Runs that are started and have not ended.
    package var running: Int
    /// Runs whose start is ordered and not yet answered.
    ///
    /// The warden starts one after the other, half a millisecond each, so that many orders on their way are no storm; few
    /// would cost a commit for each few starts.
    package var starting: Int

    /// The caps; left out, 64 running, and all of them starting.
    package init(running: Int = 64, starting: Int = 64) {
        self.running = running
        self.starting = starting
    }
}
