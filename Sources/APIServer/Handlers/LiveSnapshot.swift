import API
package import Engine
import Ledger
import Logging
import Timeline
import Tracking

/// Keeps the live states in a file, for bars and widgets that look often and must not wait.
///
/// Written when a live state, a job or a slot changes, at most twice a second, and with very many runs so seldom that it
/// takes a hundredth of the time; asleep while nothing happens.
package struct LiveSnapshot: Sendable {
    private static let pace = Duration.milliseconds(500)
    private static let longestPace = Duration.seconds(10)
    private static let endKept = Duration.seconds(60)

    private let control: Control
    private let write: @Sendable ([UInt8]) throws -> Void

    /// A snapshot of this daemon, each version of which is given to `write`.
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
            // Once more after the pace: who commits a job knows its next slot only then.
            for isFirst in [true, false] {
                let begun = control.clock.sinceBoot
                let next = await current()
                if isFirst || next.tasks != last?.tasks || next.next != last?.next {
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

    private func current() async -> WireSnapshot {
        let now = control.clock.now
        let changes = await control.board.changes(after: 0)
        let shown = changes.states.filter { !$0.state.isEnded || now - $0.updatedAt < Self.endKept }
        let next = await control.slots.summary().next.map { next in
            WireSnapshot.NextSlot(job: next.job, at: Timestamp(next.slot))
        }
        return WireSnapshot(
            seq: changes.version, at: Timestamp(now), tasks: shown.map { WireLive($0, at: now) }, next: next)
    }
}
