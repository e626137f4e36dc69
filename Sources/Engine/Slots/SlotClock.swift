import Delivery
import Ledger
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
    package static let longestWait: Duration = .seconds(300)
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
        guard !isSynchronised, sinceBoot < longestWait else { return false }
        return now < floor || decidedUntil - now > SlotKeeper.eraStep || now - decidedUntil > longestStop
    }
}

// What the slot keeper does when the clock was set, or is not set yet.

extension SlotKeeper {
    /// Before a clock that nobody could believe: up to here all slots were decided.
    private static let trustedFact = "slots.trusted"

    /// Notes what happened to the clocks since the last look.
    func readClocks() {
        let change = watch.readClocks()
        if let slept = change.slept {
            logger.notice("the machine slept", metadata: ["duration.ms": "\(slept.milliseconds)"])
        }
        if let back = change.wentBack {
            waiting.clamp(at: clock.now)
            book.clampChains(at: clock.now)
            logger.notice(
                "the clock went back",
                metadata: [
                    "duration.ms": "\(back.milliseconds)",
                    "slot.at": "\(progress.watermark.decidedUntil.iso8601)",
                ])
        }
    }

    /// Whether to wait for the clock to be set.
    func holds(at now: Moment) -> Bool {
        if watch.hold(at: now, decidedUntil: progress.watermark.decidedUntil) {
            if watch.isHeld {
                logger.warning("the clock is not set yet; slots wait", metadata: ["now": "\(now.iso8601)"])
            } else {
                logger.notice("slots are decided again", metadata: ["now": "\(now.iso8601)"])
            }
        }
        return watch.isHeld
    }

    /// The clock went back so far that wall time may repeat: slots of the same moments are others from here on.
    func beginEra(at now: Moment) async throws(LedgerError) {
        let watermark = progress.watermark
        let next = progress.newEra(from: now)
        var changes = [Change.moveWatermark(from: watermark, to: next.watermark)]
        if now < ClockDoubt.floor, watermark.decidedUntil >= ClockDoubt.floor {
            let trusted = String(watermark.decidedUntil.microseconds)
            changes.append(.setFact(name: Self.trustedFact, value: trusted))
        }
        let back = Duration.seconds((watermark.decidedUntil - now).milliseconds / 1000)
        changes.append(.append(NewEvent(.clockBack(Fact.ClockBack(by: back)), at: now)))
        try await ledger.commit(changes)
        watch.noteEra(by: back)
        logger.warning("the clock went back; a new era begins", metadata: ["era": "\(next.watermark.era)"])
        progress = next
        book.restart(after: now)
    }

    /// A clock that showed a year before Belfry was set: what counts is what was decided before it.
    func returnToTrustedTime(at now: Moment) async throws(LedgerError) {
        let stored = try await ledger.fact(named: Self.trustedFact).flatMap { Int64($0) }
        let trusted = min(stored.map(Moment.init(microseconds:)) ?? now, now)
        let next = progress.newEra(from: trusted)
        try await ledger.commit([
            .moveWatermark(from: progress.watermark, to: next.watermark),
            .setFact(name: Self.trustedFact, value: nil),
        ])
        logger.notice(
            "clock corrected; slots resume from before the error",
            metadata: ["era": "\(next.watermark.era)", "slot.at": "\(trusted.iso8601)"])
        progress = next
        book.restart(after: trusted)
    }
}
