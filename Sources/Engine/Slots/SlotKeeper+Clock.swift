import Delivery
import Ledger
import Logging
import Timeline

extension SlotKeeper {
    /// Before a clock that nobody could believe: up to here all slots were decided.
    private static let trustedFact = "slots.trusted"

    /// Notes what became of the clocks since the last look.
    func lookAtClock() {
        let (now, slept) = (clock.now, machine.slept())
        if slept - seen.slept > .seconds(1) {
            let duration = (slept - seen.slept).milliseconds
            logger.notice("the machine slept", metadata: ["duration.ms": "\(duration)"])
        }
        if seen.now - now > .seconds(1) {
            waiting.clamp(at: now)
            book.clampChains(at: now)
            logger.notice(
                "the clock went back",
                metadata: [
                    "duration.ms": "\((seen.now - now).milliseconds)",
                    "slot.at": "\(watermark.decidedUntil.iso8601)",
                ])
        }
        seen = (now, slept)
    }

    /// Whether to wait for the clock to be set; see ``ClockDoubt``.
    func hold(at now: Moment) {
        let holds = ClockDoubt.holds(
            now, sinceBoot: clock.sinceBoot, isSynchronised: machine.isSynchronised(),
            decidedUntil: watermark.decidedUntil)
        if holds, !isHeld {
            logger.warning("the clock is not set yet; slots wait", metadata: ["now": "\(now.iso8601)"])
        } else if !holds, isHeld {
            logger.notice("slots are decided again", metadata: ["now": "\(now.iso8601)"])
        }
        isHeld = holds
    }

    /// The clock went back so far that wall time may repeat: slots of the same moments are others from here on.
    func beginEra(at now: Moment) async throws(LedgerError) {
        let next = Watermark(decidedUntil: now, era: watermark.era + 1)
        var changes = [Change.moveWatermark(from: watermark, to: next)]
        if now < ClockDoubt.floor, watermark.decidedUntil >= ClockDoubt.floor {
            let trusted = String(watermark.decidedUntil.microseconds)
            changes.append(.setFact(name: Self.trustedFact, value: trusted))
        }
        let back = Duration.seconds((watermark.decidedUntil - now).milliseconds / 1000)
        changes.append(.append(NewEvent(.clockBack(Fact.ClockBack(by: back)), at: now)))
        try await ledger.commit(changes)
        setBack = (back, clock.sinceBoot)
        logger.warning("the clock went back; a new era begins", metadata: ["era": "\(next.era)"])
        watermark = next
        book.restart(after: now)
    }

    /// A clock that showed a year before Belfry was set: what counts is what was decided before it.
    func returnToTrustedTime(at now: Moment) async throws(LedgerError) {
        let stored = try await ledger.fact(named: Self.trustedFact).flatMap { Int64($0) }
        let trusted = min(stored.map(Moment.init(microseconds:)) ?? now, now)
        let next = Watermark(decidedUntil: trusted, era: watermark.era + 1)
        try await ledger.commit([
            .moveWatermark(from: watermark, to: next), .setFact(name: Self.trustedFact, value: nil),
        ])
        logger.notice(
            "the clock was set; slots go on from before it was wrong",
            metadata: ["era": "\(next.era)", "slot.at": "\(trusted.iso8601)"])
        watermark = next
        book.restart(after: trusted)
    }
}
