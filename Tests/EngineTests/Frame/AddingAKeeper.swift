import Delivery
import Grouping
import Ledger
import LedgerSQLite
import Logging
import Synchronization
import TestSupport
import Testing
import Timeline

@testable import Engine

/// Appends an event each time it serves: at the start, and whenever something was said.
private actor Greeter: Keeper {
    let ledger: any Ledger
    var loop: KeeperLoop
    private var failure: LedgerError?

    init(_ ledger: any Ledger, _ clock: any WallClock, _ logger: Logger = quiet, failing: LedgerError? = nil)
    {
        self.ledger = ledger
        failure = failing
        loop = KeeperLoop(clock: clock, logger: logger, complaint: "greetings can't be recorded")
    }

    func wakers() -> [Waker] { [commitsThatTouch(.talk)] }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        if let failure { throw failure }
        try await ledger.commit([.append(NewEvent(.test(channel: "greeter"), at: loop.clock.now))])
        return .whenRung
    }

    func fail(_ error: LedgerError?) { failure = error }

    func ring() { loop.bell.ring() }
}

@Suite(.timeLimit(.minutes(5))) struct `a keeper in a few lines` {
    private let folder: TemporaryFolder
    private let ledger: SQLiteLedger
    private let clock = ManualClock(now: at("10:00:00"))

    init() throws {
        folder = try TemporaryFolder()
        ledger = try folder.ledger()
    }

    private func isServed(times count: Int64) async throws {
        let commits = ledger.commits()
        if try await ledger.lastEvent() == count { return }
        for await _ in commits where try await ledger.lastEvent() == count { return }
    }

    @Test func `serves at the start and whenever something wakes it, until it is cancelled`() async throws {
        let keeper = Greeter(ledger, clock)
        let serving = Task { try await keeper.follow() }
        try await isServed(times: 1)
        let message = Message(id: "m", bot: "ops", thread: "main", text: "hello", at: clock.now)
        try await ledger.commit([.insertMessage(MessageRecord(message: message))])
        try await isServed(times: 2)
        await keeper.ring()
        try await isServed(times: 3)
        serving.cancel()
        await #expect(throws: CancellationError.self) { try await serving.value }
        await ledger.close()
    }

    @Test func `tries again while the ledger refuses, less often each time, and logs that once`() async throws
    {
        let lines = Lines()
        let keeper = Greeter(
            ledger, clock, Logger(label: "test") { _ in LinesHandler(lines: lines) },
            failing: .readOnly(path: "ledger.db"))
        let serving = Task { try await keeper.follow() }
        for seconds in [1, 2, 3, 4, 5, 5] {
            #expect(await clock.nextSleeper() == clock.now + .seconds(seconds))
            clock.advance(by: .seconds(seconds))
        }
        #expect(await clock.nextSleeper() == clock.now + .seconds(5))
        await keeper.fail(nil)
        clock.advance(by: .seconds(5))
        try await isServed(times: 1)
        #expect(lines.all == ["greetings can't be recorded"])
        // Another trouble is another line.
        await keeper.fail(.full)
        await keeper.ring()
        #expect(await clock.nextSleeper() == clock.now + .seconds(1))
        #expect(lines.all.count == 2)
        serving.cancel()
        _ = await serving.result
        await ledger.close()
    }

    @Test func `ends with an error that only a restart can clear`() async throws {
        let keeper = Greeter(ledger, clock, failing: .syncFailed(detail: "no more"))
        await #expect(throws: LedgerError.self) { try await keeper.follow() }
        await ledger.close()
    }

    @Test func `ends when what wakes it ends`() async throws {
        let keeper = Greeter(ledger, clock)
        let serving = Task { try await keeper.follow() }
        try await isServed(times: 1)
        await ledger.close()
        try await serving.value
    }
}

@Suite(.timeLimit(.minutes(5))) struct `an inbox` {
    @Test func `is taken whole, in order, and lets its producer go on`() async {
        let inbox = Inbox<Int>(limit: 2)
        inbox.put(1)
        await inbox.room()
        inbox.put([2, 3])
        async let room: Void = inbox.room()
        #expect(inbox.takeAll() == [1, 2, 3])
        await room
        #expect(inbox.takeAll().isEmpty)
    }

    @Test func `lets a cancelled producer go`() async {
        let inbox = Inbox<Int>(limit: 1)
        inbox.put(1)
        let producing = Task { await inbox.room() }
        producing.cancel()
        await producing.value
    }

    @Test func `wakes its owner for each element that a waker brings`() async throws {
        let inbox = Inbox<Int>()
        let bell = Bell()
        let (numbers, send) = AsyncStream.makeStream(of: Int.self)
        send.yield(7)
        send.finish()
        try await Waker.each(of: numbers, into: inbox).run(bell)
        try await bell.wait(until: nil, on: ManualClock(now: at("10:00:00")))
        #expect(inbox.takeAll() == [7])
    }
}

/// The messages that were logged.
private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

private struct LinesHandler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.add("\(event.message)") }
}
