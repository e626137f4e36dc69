import Delivery
import Ledger
import Logging
import Timeline

extension SlotKeeper {
    /// Before a clock that nobody could believe: up to here all slots were decided.
    private static let trustedFact = "slots.trusted"

    /// Notes what happened to the clocks since the last look.
    func lookAtClock() {
        let change = watch.look()
        if let slept = change.slept {
            logger.notice("the machine slept", metadata: ["duration.ms": "\(slept.milliseconds)"])
        }
        if let back = change.wentBack {
            waiting.clamp(at: clock.now)
            book.clampChains(at: clock.now)
            logger.notice(
                "the clock went back",
                metadata: [
                    "duration.ms": "\(back.milliseconds)", "slot.at": "\(watermark.decidedUntil.iso8601)",
                ])
        }
    }

    /// Whether to wait for the clock to be set.
    func holds(at now: Moment) -> Bool {
        if watch.hold(at: now, decidedUntil: watermark.decidedUntil) {
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
        let next = Watermark(decidedUntil: now, era: watermark.era + 1)
        var changes = [Change.moveWatermark(from: watermark, to: next)]
        if now < ClockDoubt.floor, watermark.decidedUntil >= ClockDoubt.floor {
            let trusted = String(watermark.decidedUntil.microseconds)
            changes.append(.setFact(name: Self.trustedFact, value: trusted))
        }
        let back = Duration.seconds((watermark.decidedUntil - now).milliseconds / 1000)
        changes.append(.append(NewEvent(.clockBack(Fact.ClockBack(by: back)), at: now)))
        try await ledger.commit(changes)
        watch.noteEra(by: back)
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
