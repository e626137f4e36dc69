import NIOCore
import Synchronization

/// Closes connections whose clients are too slow.
///
/// All deadlines share one timer of the event loop, which is set again only for an earlier one: a request that is
/// answered in time wakes nobody for its deadlines.
final class Deadlines: Sendable {
    /// A deadline under way.
    struct Ticket: Sendable {
        fileprivate let number: UInt64
        fileprivate let owner: Deadlines

        /// It was met.
        func cancel() { owner.state.withLock { _ = $0.waiting.removeValue(forKey: number) } }
    }

    private struct State {
        var waiting: [UInt64: (due: NIODeadline, channel: any Channel)] = [:]
        var last: UInt64 = 0
        /// When the timer goes off; nil: there is none.
        var timer: NIODeadline?
    }

    private let state = Mutex(State())

    /// Closes `channel` after `patience`, unless the ticket is cancelled before.
    func close(_ channel: any Channel, after patience: Duration) -> Ticket {
        let due = NIODeadline.now() + TimeAmount(patience)
        let (number, isFirst) = state.withLock { state in
            state.last += 1
            state.waiting[state.last] = (due, channel)
            let isFirst = state.timer.map { due < $0 } ?? true
            if isFirst { state.timer = due }
            return (state.last, isFirst)
        }
        if isFirst { arm(channel.eventLoop, at: due) }
        return Ticket(number: number, owner: self)
    }

    private func arm(_ loop: any EventLoop, at due: NIODeadline) {
        loop.scheduleTask(deadline: due) { self.check(on: loop, at: due) }
    }

    /// Closes what is due, and continues with the next deadline, if there is one.
    private func check(on loop: any EventLoop, at due: NIODeadline) {
        let now = NIODeadline.now()
        let (late, next) = state.withLock { state -> ([any Channel], NIODeadline?) in
            // An earlier timer has taken over.
            guard state.timer == due else { return ([], nil) }
            let late = state.waiting.filter { $0.value.due <= now }
            for number in late.keys { state.waiting[number] = nil }
            state.timer = state.waiting.values.map(\.due).min()
            return (late.values.map(\.channel), state.timer)
        }
        for channel in late { channel.close(promise: nil) }
        if let next { arm(loop, at: next) }
    }
}
