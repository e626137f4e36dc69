import API
package import Engine
import Ledger
import Logging
import Timeline
import Tracking

/// Keeps the live states in a file, for bars and widgets that read it often and must not wait.
///
/// Written when a live state or the next slot changes, at most twice a second, and with very many runs so rarely that it
/// takes a hundredth of the time; asleep while nothing happens.
package struct LiveSnapshot: Sendable {
    private static let pace = Duration.milliseconds(500)
    private static let longestPace = Duration.seconds(10)
    private static let endKept = Duration.seconds(60)

    private let control: Control
    private let write: @Sendable ([UInt8]) throws -> Void

    /// A keeper of this daemon's snapshot; each version is passed to `write`.
    package init(_ control: Control, write: @escaping @Sendable ([UInt8]) throws -> Void) {
        (self.control, self.write) = (control, write)
    }

    /// Writes until cancelled; what can't be written is logged once, and tried again with the next change.
    package func run() async throws {
        let (news, rung) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let commits = control.ledger.commits()
        let taps = control.board.taps()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in taps { rung.yield() } }
            group.addTask {
                for await stations in commits where stations.contains(.jobs) { rung.yield() }
            }
            group.addTask { try await writeRepeatedly(news) }
            try await group.next()
            group.cancelAll()
        }
    }

    private func writeRepeatedly(_ news: AsyncStream<Void>) async throws {
        var (last, isFailing) = (WireSnapshot?.none, false)
        for await _ in news {
            // Once more after the pace: the next slot of a job is known only a moment after its commit.
            for _ in 1...2 {
                let begun = control.clock.sinceBoot
                if let next = await snapshot(unlike: last) {
                    do {
                        try write(try WireCoding.encode(next) + [0x0A])
                        (last, isFailing) = (next, false)
                    } catch {
                        if !isFailing {
                            control.logger.warning(
                                "the snapshot of live states can't be written",
                                metadata: ["reason": "\(error)"])
                        }
                        isFailing = true
                    }
                }
                let rest = max(Self.pace, (control.clock.sinceBoot - begun) * 100)
                try await control.clock.sleep(until: control.clock.now + min(rest, Self.longestPace))
            }
        }
        try Task.checkCancellation()
    }

    /// The version that follows `last`; nil: no live state has changed, and the next slot is the same.
    private func snapshot(unlike last: WireSnapshot?) async -> WireSnapshot? {
        let changes = await control.board.changes(after: 0)
        let next = await control.slots.summary().next.map { next in
            WireSnapshot.NextSlot(job: next.job, at: Timestamp(next.slot))
        }
        guard changes.version != last?.seq || next != last?.next else { return nil }
        let now = control.clock.now
        let shown = changes.states.filter { !$0.state.isEnded || now - $0.updatedAt < Self.endKept }
        return WireSnapshot(
            seq: changes.version, at: Timestamp(now), tasks: shown.map { WireLive($0, at: now) }, next: next)
    }
}
