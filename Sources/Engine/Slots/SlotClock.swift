import Logging
package import Timeline

/// What the clocks showed when the keeper of slots last looked, and whether the one on the wall can be believed.
struct SlotClock {
    /// How long the status reports a new era.
    static let eraNews: Duration = .seconds(86_400)

    /// What happened to the clocks between two looks.
    struct Change: Equatable {
        /// How long the machine slept, if for more than a second.
        var slept: Duration?
        /// How far the clock went back, if by more than a second.
        var wentBack: Duration?
    }

    let machine: ClockEdges
    private let clock: any WallClock
    private var seen: (now: Moment, slept: Duration)
    /// Whether slots wait because the clock is not to be believed yet.
    private(set) var isHeld = false
    private var setBack: (by: Duration, at: Duration)?

    init(_ clock: any WallClock, machine: ClockEdges) {
        self.clock = clock
        self.machine = machine
        seen = (clock.now, machine.slept())
    }

    /// Reads the clocks; what happened since they were last read.
    mutating func readClocks() -> Change {
        let (now, slept) = (clock.now, machine.slept())
        defer { seen = (now, slept) }
        let (nap, back) = (slept - seen.slept, seen.now - now)
        return Change(slept: nap > .seconds(1) ? nap : nil, wentBack: back > .seconds(1) ? back : nil)
    }

    /// Decides whether to wait for the clock to be set; see ``ClockDoubt``.
    ///
    /// - Returns: whether that changed.
    mutating func hold(at now: Moment, decidedUntil: Moment) -> Bool {
        let wasHeld = isHeld
        isHeld = ClockDoubt.holds(
            now, sinceBoot: clock.sinceBoot, isSynchronised: machine.isSynchronised(),
            decidedUntil: decidedUntil)
        return isHeld != wasHeld
    }

    /// A new era began, because the clock went back this far.
    mutating func noteEra(by duration: Duration) { setBack = (duration, clock.sinceBoot) }

    /// By how much the clock went back when the last era began; nil: none did within the last day.
    var recentSetBack: Duration? {
        setBack.flatMap { clock.sinceBoot - $0.at < Self.eraNews ? $0.by : nil }
    }
}

/// What the slot keeper asks of the machine besides the time.
package struct ClockEdges: Sendable {
    /// Whether the kernel believes the wall clock to be in step with a time source.
    package var isSynchronised: @Sendable () -> Bool
    /// How long the machine has slept since it was started.
    package var slept: @Sendable () -> Duration

    /// A machine whose clock is right and that never sleeps, unless said otherwise.
    package init(
        isSynchronised: @escaping @Sendable () -> Bool = { true },
        slept: @escaping @Sendable () -> Duration = { .zero }
    ) {
        self.isSynchronised = isSynchronised
        self.slept = slept
    }
}

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
