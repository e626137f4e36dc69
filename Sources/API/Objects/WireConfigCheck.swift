/// A configuration that was checked and is good.
package struct WireConfigCheck: Hashable, Sendable, Codable {
    /// The file, as it was named.
    package var file: String
    /// How many jobs it and the files beside it hold.
    package var jobs: Int
    /// How many bots it describes.
    package var bots: Int
    /// How many channels there are with it.
    package var channels: Int
    /// What is no fault and yet worth a look.
    package var warnings: [WireFault]
    /// How phrases are understood, and what could not be checked; absent when there is nothing to say.
    package var notes: [String]?

    /// What was found.
    package init(file: String, jobs: Int, bots: Int, channels: Int, warnings: [WireFault]) {
        self.file = file
        self.jobs = jobs
        self.bots = bots
        self.channels = channels
        self.warnings = warnings
    }
}
