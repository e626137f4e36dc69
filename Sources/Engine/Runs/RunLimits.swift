/// How much may go on at a time.
package struct RunLimits: Hashable, Sendable {
    /// Runs that are to be started, or are started, and have not ended.
    ///
    /// Starts have no cap of their own: the warden makes one after the other, half a millisecond each, so that many
    /// orders on their way are no storm, and with few of them each few starts would cost a commit.
    package var running: Int

    /// The caps; left out, 64 running.
    package init(running: Int = 64) {
        self.running = running
    }
}
