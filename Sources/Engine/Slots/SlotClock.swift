import Logging
import Timeline

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

    /// Looks at the clocks.
    mutating func look() -> Change {
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
