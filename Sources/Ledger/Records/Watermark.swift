package import Timeline

/// Up to where every slot of every job is decided.
///
/// There is one, not one a job.
package struct Watermark: Hashable, Sendable, Codable {
    /// Every slot at or before this moment has a row.
    package var decidedUntil: Moment
    /// Rises when the clock went back so far that wall time may repeat; slots of two eras are different slots.
    package var era: Int

    package init(decidedUntil: Moment, era: Int) {
        self.decidedUntil = decidedUntil
        self.era = era
    }
}
