import Engine
import Ledger
import ServiceLifecycle
import Timeline

/// Why a stream of events looks again.
enum Wake: Sendable {
    /// Something may be new.
    case look
    /// Nothing was said for a while.
    case heartbeat
    /// The daemon stops.
    case stop
}

/// What wakes one reader of the event stream: commits, the live board, time, and the daemon's end.
///
/// Conflated: a reader that is slow is woken once for all it missed.
struct Wakes: Sendable {
    let stream: AsyncStream<Wake>
    private let wake: AsyncStream<Wake>.Continuation
    private let commits: AsyncStream<Set<Station>>
    private let taps: AsyncStream<Void>?
    private let clock: any WallClock
    private let heartbeat: Duration

    /// Listens from now on; nothing wakes before ``start(in:)``.
    init(_ control: Control, live: Bool, heartbeat: Duration) {
        (stream, wake) = AsyncStream.makeStream(of: Wake.self, bufferingPolicy: .bufferingNewest(2))
        commits = control.ledger.commits()
        taps = live ? control.board.taps() : nil
        clock = control.clock
        self.heartbeat = heartbeat
    }

    /// Wakes until the group is cancelled; the first time at once.
    func start(in group: inout ThrowingTaskGroup<Void, any Error>) {
        wake.yield(.look)
        group.addTask {
            for await stations in commits where stations.contains(.events) { wake.yield(.look) }
            wake.finish()
        }
        group.addTask {
            guard let taps else { return }
            for await _ in taps { wake.yield(.look) }
        }
        group.addTask {
            while true {
                try await clock.sleep(until: clock.now + heartbeat)
                wake.yield(.heartbeat)
            }
        }
        group.addTask {
            try await gracefulShutdown()
            wake.yield(.stop)
            wake.finish()
        }
    }
}
