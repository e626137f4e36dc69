import Host
import Synchronization
package import Timeline

/// A clock that only moves when the test says so.
///
/// Wait for the code under test to be asleep before moving it: `let until = await clock.nextSleeper()`.
package final class ManualClock: WallClock {
    private struct State {
        var now: Moment
        var sinceBoot: Duration
        var sleepers: [Int: (until: Moment, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var canceled: Set<Int> = []
        var lastTicket = 0
        /// Sleepers that fell asleep and have not been reported yet.
        var reports: [Moment] = []
        var watchers: [(ticket: Int, continuation: CheckedContinuation<Moment, Never>)] = []
    }

    private let state: Mutex<State>

    /// Stands still at `now`, a minute after the machine started unless said otherwise.
    package init(now: Moment, sinceBoot: Duration = .seconds(60)) {
        state = Mutex(State(now: now, sinceBoot: sinceBoot))
    }

    /// What the clock shows.
    package var now: Moment { state.withLock { $0.now } }

    /// Time since the machine started; grows with ``advance(by:)``, not with ``set(to:)``.
    package var sinceBoot: Duration { state.withLock { $0.sinceBoot } }

    /// Moves the clock on and wakes everybody who is due, the earliest first.
    package func advance(by duration: Duration) {
        wake {
            $0.now = $0.now + duration
            $0.sinceBoot += duration
            return false
        }
    }

    /// Moves the clock on to `moment`, which must not have passed.
    package func advance(to moment: Moment) {
        advance(by: moment - now)
    }

    /// Moves the clock on to `moment`, which must not have passed, and wakes nobody yet.
    ///
    /// Who asks meanwhile learns the new time before those who sleep. The next ``advance(by:)`` or ``advance(to:)`` wakes all who are due.
    package func pass(to moment: Moment) {
        state.withLock { state in
            state.sinceBoot += moment - state.now
            state.now = moment
        }
    }

    /// Sets the clock, as an administrator would: every sleeper returns, due or not.
    package func set(to moment: Moment) {
        wake {
            $0.now = moment
            return true
        }
    }

    /// Waits until somebody goes to sleep and returns until when; each sleep is reported once, in order.
    ///
    /// In a test whose time limit has passed it returns at once, so that the others go on.
    package func nextSleeper() async -> Moment {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { watcher in
                let reported: Moment? = state.withLock { state in
                    if !state.reports.isEmpty { return state.reports.removeFirst() }
                    if Task.isCancelled { return state.now }
                    state.watchers.append((ticket, watcher))
                    return nil
                }
                if let reported { watcher.resume(returning: reported) }
            }
        } onCancel: {
            let (watcher, now) = state.withLock { state in
                let index = state.watchers.firstIndex { $0.ticket == ticket }
                return (index.map { state.watchers.remove(at: $0).continuation }, state.now)
            }
            watcher?.resume(returning: now)
        }
    }

    /// Sleeps until the test moves the clock to `moment` or sets it.
    package func sleep(until moment: Moment) async throws {
        try Task.checkCancellation()
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        defer { state.withLock { _ = $0.canceled.remove(ticket) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { add(ticket, until: moment, $0) }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: ticket)
                if sleeper == nil { state.canceled.insert(ticket) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func add(
        _ ticket: Int, until moment: Moment, _ continuation: CheckedContinuation<Void, any Error>
    ) {
        enum Outcome { case canceled, due, asleep(CheckedContinuation<Moment, Never>?) }
        let outcome: Outcome = state.withLock { state in
            if state.canceled.remove(ticket) != nil { return .canceled }
            if moment <= state.now { return .due }
            state.sleepers[ticket] = (moment, continuation)
            if !state.watchers.isEmpty { return .asleep(state.watchers.removeFirst().continuation) }
            state.reports.append(moment)
            return .asleep(nil)
        }
        switch outcome {
        case .canceled: continuation.resume(throwing: CancellationError())
        case .due: continuation.resume()
        case .asleep(let watcher): watcher?.resume(returning: moment)
        }
    }

    private func wake(_ change: @Sendable (inout State) -> Bool) {
        let due = state.withLock { state in
            let everybody = change(&state)
            let due = state.sleepers.filter { everybody || $0.value.until <= state.now }
            for ticket in due.keys { state.sleepers[ticket] = nil }
            return due.sorted { ($0.value.until, $0.key) < ($1.value.until, $1.key) }.map(
                \.value.continuation)
        }
        for sleeper in due { sleeper.resume() }
    }
}

/// The machine's compiled zones.
package enum SystemZones {
    /// The folder they are in.
    package static var folder: String { ZoneFiles().folder }

    /// The bytes of the zone's file.
    package static func bytes(_ name: String) throws -> [UInt8] {
        try ZoneFiles().bytes(of: name)
    }

    /// The rules of the zone.
    package static func zone(_ name: String) throws -> ZoneRules {
        try ZoneFiles().rules(of: name)
    }
}

/// Numbers that look random and come again with the same seed, so that a failing case can be run again.
///
/// - Source: SplitMix64, Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// One of the numbers from 0 up to and without `limit`.
    package mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
}
