package import Timeline

/// When the wall clock of a machine that has just started is not to be believed yet.
///
/// Pure: what the clocks show in, a verdict out.
package enum ClockDoubt {
    /// No clock that is right shows less: Belfry is younger.
    package static let floor = Moment(seconds: 1_767_225_600)  // 2026-01-01
    /// After the machine's start so long is waited for a time source, and no longer: many have none.
    package static let patience: Duration = .seconds(300)
    /// What a stop longer than this says is doubted while the clock is not in step.
    package static let longestStop: Duration = .seconds(86_400)

    /// Whether to decide no slots yet, because the clock is probably about to be set.
    ///
    /// - Parameters:
    ///   - now: what the wall clock shows.
    ///   - sinceBoot: how long the machine has been up.
    ///   - isSynchronised: whether the kernel believes the clock to be in step with a time source.
    ///   - decidedUntil: the watermark.
    /// - Returns: whether slots wait.
    package static func holds(
        _ now: Moment, sinceBoot: Duration, isSynchronised: Bool, decidedUntil: Moment
    ) -> Bool {
        guard !isSynchronised, sinceBoot < patience else { return false }
        return now < floor || decidedUntil - now > SlotKeeper.eraStep || now - decidedUntil > longestStop
    }
}
