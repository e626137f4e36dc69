import Timeline

/// How long after its slot a run starts, where not at once.
package enum SlotDelay {
    /// The part of `spread` that the job of this name always waits: from zero up to, not including, `spread`.
    ///
    /// By the name alone, so that a restart does not draw it anew.
    package static func spread(_ spread: Duration, of name: String) -> Duration {
        guard spread > .zero else { return .zero }
        return .microseconds(Int64(hash(name) % UInt64(spread.microseconds)))
    }

    /// How many jobs that catch up start at once.
    static let atOnce = 8
    /// Between the starts of the others.
    static let step: Duration = .milliseconds(250)
    /// What catches up waits no longer than this for the others.
    package static let longestPace: Duration = .seconds(600)

    /// How long the job that is caught up as the `number`th, from 0, waits for those before it.
    ///
    /// After a sleep or a stop not everything starts in one second.
    static func pace(_ number: Int) -> Duration {
        min(longestPace, step * max(0, number - atOnce + 1))
    }

    /// - Source: FNV-1a, 64 bit, and the last step of MurmurHash3: short names that differ in one letter lie far
    ///   apart.
    private static func hash(_ name: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash >> 33
    }
}
