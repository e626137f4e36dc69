import Ledger
import Logging
import Timeline

/// An actor that takes the ledger's rows one station further.
///
/// The frame is the same for all of them, and is ``follow()``: serve, wait until something rings the bell or until the
/// moment that the last service named, and serve again. While the ledger refuses, it serves again after 1 s, 2 s and so
/// on up to ``KeeperLoop/longestWait``, and at once when the ledger accepts writes again; the trouble is logged once.
/// The frame ends when its task is cancelled, when a waker ends, and with an error that only a restart can clear.
///
/// A keeper adds what wakes it, and the service:
/// ```swift
/// actor Greeter: Keeper {
///     let ledger: any Ledger
///     var loop: KeeperLoop
///
///     func wakers() -> [Waker] { [commitsThatTouch(.talk)] }
///
///     func serve() async throws(LedgerError) -> KeeperLoop.Next {
///         try await ledger.commit([.setFact(name: "greeted", value: "\(loop.clock.now)")])
///         return .whenRung
///     }
/// }
/// ```
/// It finds out by itself what is due: rings are conflated, and some come for nothing.
protocol Keeper: Actor {
    nonisolated var ledger: any Ledger { get }
    var loop: KeeperLoop { get set }

    /// What rings the bell, besides this keeper's own methods.
    func wakers() -> [Waker]

    /// Does what is due.
    ///
    /// - Returns: when to serve next though nobody rings.
    func serve() async throws(LedgerError) -> KeeperLoop.Next

    /// Whether what failed in this way may succeed later; left out, ``LedgerError/mayPass``.
    nonisolated func mayPass(_ error: LedgerError) -> Bool
}

extension Keeper {
    func wakers() -> [Waker] { [] }

    nonisolated func mayPass(_ error: LedgerError) -> Bool { error.mayPass }

    /// Rings when a commit touches the station, on the thread that commits: nobody else is woken on the way.
    func commitsThatTouch(_ station: Station) -> Waker {
        let bell = loop.bell
        return .observing(ledger.observeCommits { if $0.contains(station) { bell.ring() } })
    }

    nonisolated var retriesWhenSound: Waker {
        Waker { [weak self, conditions = ledger.conditions()] _ in
            for await condition in conditions where condition == .sound { await self?.retryAtOnce() }
        }
    }

    /// Serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear; `CancellationError`.
    func follow() async throws {
        let (bell, wakers) = (loop.bell, wakers() + [retriesWhenSound])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for waker in wakers { group.addTask { try await waker.run(bell) } }
            group.addTask { try await self.serveRepeatedly() }
            try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }

    private func serveRepeatedly() async throws {
        while true {
            let next: KeeperLoop.Next
            do throws(LedgerError) {
                next = try await serve()
                loop.noteSuccess()
            } catch {
                guard mayPass(error) else { throw error }
                next = loop.noteFailure(error)
            }
            switch next {
            case .atOnce: try Task.checkCancellation()
            case .at(let moment): try await loop.bell.wait(until: moment, on: loop.clock)
            case .whenRung: try await loop.bell.wait(until: nil, on: loop.clock)
            }
        }
    }

    private func retryAtOnce() {
        if loop.isFailing { loop.bell.ring() }
    }
}

/// A keeper's bell and clock, and how often in a row it has failed.
struct KeeperLoop {
    /// When to serve next.
    enum Next: Hashable {
        /// More is due already.
        case atOnce
        /// At this moment, or when the bell is rung.
        case at(Moment)
        /// Not before the bell is rung.
        case whenRung

        /// At the earliest of these moments; `nil` stands for never.
        static func earliest(_ moments: Moment?...) -> Next {
            moments.compactMap(\.self).min().map { .at($0) } ?? .whenRung
        }
    }

    /// The longest wait after a failure.
    static let longestWait: Duration = .seconds(5)

    let bell: Bell
    let clock: any WallClock
    let logger: Logger
    /// What is logged when the ledger refuses, such as `slots can't be recorded`; nil: the keeper logs it.
    private let complaint: Logger.Message?
    private(set) var failures = 0

    init(clock: any WallClock, logger: Logger, complaint: Logger.Message?, bell: Bell = Bell()) {
        self.clock = clock
        self.logger = logger
        self.complaint = complaint
        self.bell = bell
    }

    /// Whether it failed the last time.
    var isFailing: Bool { failures > 0 }

    mutating func noteSuccess() { failures = 0 }

    mutating func noteFailure(_ error: LedgerError) -> Next {
        failures += 1
        if failures == 1, let complaint { logger.error(complaint, metadata: ["reason": "\(error)"]) }
        return .at(clock.now + min(.seconds(failures), Self.longestWait))
    }
}

/// What both clocks showed at once, to find out later how far the wall clock was set meanwhile.
struct ClockReading: Hashable {
    var now: Moment
    /// By the clock that nobody sets.
    var sinceBoot: Duration

    init(now: Moment, sinceBoot: Duration) {
        self.now = now
        self.sinceBoot = sinceBoot
    }

    /// Both times of one moment: they are read again where the clock moved between the two.
    init(of clock: any WallClock) {
        var (now, sinceBoot) = (clock.now, clock.sinceBoot)
        for _ in 0..<3 {
            let after = clock.now
            if after >= now, after - now < .milliseconds(1) { break }
            (now, sinceBoot) = (after, clock.sinceBoot)
        }
        self.init(now: now, sinceBoot: sinceBoot)
    }

    /// How far the clock on the wall was set between this reading and a `later` one; below zero: back.
    func change(until later: ClockReading) -> Duration {
        (later.now - now) - (later.sinceBoot - sinceBoot)
    }
}

/// Something that wakes a keeper; runs beside its loop, and its end ends the keeper.
struct Waker: Sendable {
    let run: @Sendable (Bell) async throws -> Void

    init(_ run: @escaping @Sendable (Bell) async throws -> Void) {
        self.run = run
    }

    /// Lives as long as what is observed, whose observer rings.
    static func observing(_ observation: Observation) -> Waker {
        Waker { _ in await observation.waitForEnd() }
    }

    /// Rings for each element that matters.
    static func each<Element: Sendable>(
        _ stream: AsyncStream<Element>, where matters: @escaping @Sendable (Element) -> Bool = { _ in true }
    ) -> Waker {
        Waker { bell in for await element in stream where matters(element) { bell.ring() } }
    }

    /// Sets the flag for each element, and rings.
    static func each(_ stream: AsyncStream<Void>, setting flag: Flag) -> Waker {
        Waker { bell in
            for await _ in stream {
                flag.set(true)
                bell.ring()
            }
        }
    }

    /// Puts each element into the inbox and rings; waits while the inbox is full.
    static func each<Element: Sendable>(
        of elements: some AsyncSequence<Element, Never> & Sendable, into inbox: Inbox<Element>
    ) -> Waker {
        Waker { bell in
            for await element in elements {
                inbox.put(element)
                bell.ring()
                await inbox.room()
            }
        }
    }
}

extension LedgerError {
    /// Whether the ledger as it is open now may accept the same changes later.
    ///
    /// Where it can't, the daemon ends and is started again: a failed sync is never repeated.
    var mayPass: Bool {
        switch self {
        case .fenced, .full, .readOnly, .locked, .damaged, .storage: true
        case .newer, .syncFailed, .closed: false
        }
    }
}

/// Work that shares a commit, and of which each piece is committed alone once a guard has refused the whole: somebody
/// moved one of its rows meanwhile.
///
/// The owner commits ``next`` until there is none, and reports each result.
struct SharedCommit<Work> {
    /// What is neither committed nor refused.
    private(set) var rest: ArraySlice<Work>
    private var isSplit = false

    init(_ work: some Sequence<Work>) {
        rest = ArraySlice(work)
    }

    /// What to commit next; nil: nothing is left.
    var next: [Work]? {
        guard let first = rest.first else { return nil }
        return isSplit ? [first] : Array(rest)
    }

    /// Whether ``next`` is one piece, which is given up when a guard refuses it.
    var isSingle: Bool { isSplit || rest.count == 1 }

    /// ``next`` is committed.
    mutating func committed() { rest = isSplit ? rest.dropFirst() : [] }

    /// A guard refused ``next``: if it is one piece it is given up, else each piece is committed alone from now on.
    mutating func refused() {
        if isSingle { rest = rest.dropFirst() }
        isSplit = true
    }
}

extension Ledger {
    /// Commits the changes.
    ///
    /// - Returns: false when a guard refuses them: the row of one was moved meanwhile.
    func commitUnlessFenced(_ changes: [Change]) async throws(LedgerError) -> Bool {
        do throws(LedgerError) {
            try await commit(changes)
            return true
        } catch {
            guard case .fenced = error else { throw error }
            return false
        }
    }
}
