import Engine
import Host
import Ledger
import Synchronization
import Timeline

/// Waits for more of an output that somebody else writes.
///
/// The kernel reports each write. The end of the run follows the last one soon, and is looked for at growing intervals.
final class OutputGrowth {
    /// What ended a wait.
    enum Occasion {
        /// More was written.
        case written
        /// It is time to look what is true now.
        case unknown
    }

    /// What the thread that reports writes leaves for the reader.
    private final class Arrivals: Sendable {
        let bell = Bell()
        private let last = Mutex<WriteNotices.Notice?>(nil)

        func note(_ notice: WriteNotices.Notice) {
            last.withLock { last in
                if case .closed? = last { return }
                last = notice
            }
            bell.ring()
        }

        func take() -> WriteNotices.Notice? {
            last.withLock { last in
                defer { last = nil }
                return last
            }
        }
    }

    /// What is watched.
    private enum Place {
        case nowhere
        /// For the folder that the log will be in.
        case above
        /// For the log.
        case folder
        /// What the log has outgrown its head by.
        case pieces
    }

    private static let shortestPause = Duration.milliseconds(10)
    private static let longestPause = Duration.seconds(1)
    /// The longest where nobody reports writes.
    private static let blindPause = Duration.milliseconds(100)

    private let log: OutputLog
    private let notices: WriteNotices
    private let clock: any WallClock
    private let arrivals = Arrivals()
    private var watch: WriteNotices.Watch?
    private var place = Place.nowhere
    private var pause = OutputGrowth.shortestPause

    /// Begins to watch a log that may not be there yet.
    init(of log: OutputLog, _ notices: WriteNotices, clock: any WallClock) {
        self.log = log
        self.notices = notices
        self.clock = clock
    }

    /// Waits until there is a reason to look again.
    func wait() async throws -> Occasion {
        // Something may have been written before it was watched.
        if follow() { return .written }
        let deadline = clock.sinceBoot + pause
        while true {
            let left = max(.zero, deadline - clock.sinceBoot)
            try await arrivals.bell.wait(until: clock.now + left, on: clock)
            switch arrivals.take() {
            case .written:
                pause = Self.longestPause
                return .written
            case .closed:
                pause = Self.shortestPause
                return .unknown
            case nil:
                if follow() { return .written }
                guard clock.sinceBoot >= deadline else { continue }
                pause = min(pause * 2, watch == nil ? Self.blindPause : Self.longestPause)
                return .unknown
            }
        }
    }

    /// Watches where the next bytes are written to; whether that is elsewhere than before.
    private func follow() -> Bool {
        if place != .pieces, log.hasPieces {
            watch = notices.watch(folder: log.pieceFolder) { [arrivals] in arrivals.note($0) }
            place = .pieces
            return true
        }
        guard place == .nowhere || place == .above else { return false }
        if place == .nowhere {
            // The job's first run makes its folder.
            watch = notices.watch(SmallFile.parent(of: log.path)) { [arrivals] in arrivals.note($0) }
            if watch != nil { place = .above }
        }
        guard let inside = notices.watch(log.path, { [arrivals] in arrivals.note($0) }) else { return false }
        (watch, place) = (inside, .folder)
        return true
    }
}
