import Delivery
import Engine
import Grouping
import Host
import Ledger
import LedgerSQLite
import Logging
import Timeline

/// Messages taken in over four connections while few or many threads are awake, beside the ledger alone.
enum MessagesBench {
    private static let connections = 4
    private static let bot = BotProfile(
        name: "ops", policy: ThreadPolicy(wait: .seconds(3600), interval: .seconds(3600)))

    /// The first argument: the most threads that are awake, 100,000 when absent.
    static func run(arguments: [String]) async throws {
        let most = arguments.first.flatMap { Int($0) } ?? 100_000
        let folder = try BenchFolder()
        let alone = try await rate(in: folder.path + "/alone", threads: 10, takesIn: false)
        let few = try await rate(in: folder.path + "/few", threads: 10, takesIn: true)
        let many = try await rate(in: folder.path + "/many", threads: most, takesIn: true)
        let again = try await rate(in: folder.path + "/again", threads: 10, takesIn: true)
        print("  the ledger alone: \(alone.short) messages a second over \(connections) connections")
        report(
            "messages, 10 threads awake", "\(few.short) a second, again \(again.short)", limit: "5,000",
            isKept: max(few, again) >= 5000)
        report(
            "messages, \(most) threads awake", "\(many.short) a second", limit: "0.7 of 10 threads",
            isKept: many >= 0.7 * min(few, again))
    }

    private static func rate(in path: String, threads: Int, takesIn: Bool) async throws -> Double {
        let clock = try SystemClock()
        var quiet = Logger(label: "bench")
        quiet.logLevel = .critical
        let ledger = try SQLiteLedger(path: path + ".sqlite")
        let switchboard = Switchboard(
            EngineConfiguration(
                path: nil, zone: "UTC", bots: [bot.name: bot], jobs: [], routing: Routing(routes: []),
                channels: []))
        let board = LiveBoard(ledger: ledger, clock: clock, incarnation: 1, logger: quiet)
        let items = ItemKeeper(
            ledger: ledger, clock: clock, board: board, switchboard: switchboard,
            makeID: { UniqueID.v7(at: clock.now) }, logger: quiet)
        let serving = takesIn ? Task { try await items.run() } : nil
        defer { serving?.cancel() }
        for start in stride(from: 0, to: threads, by: 200) {
            try await ledger.commit(
                (start..<min(start + 200, threads)).flatMap { message(in: $0, at: clock.now) })
        }
        if takesIn {
            let last = try await ledger.lastEvent()
            while try await ledger.cursor(of: ItemKeeper.consumer) < last { await Task.yield() }
        }
        let count = 2000
        let watch = Stopwatch()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for connection in 0..<connections {
                group.addTask {
                    for number in 0..<count {
                        let thread = (number * connections + connection) &* 7919 % threads
                        try await ledger.commit(message(in: thread, at: clock.now))
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = watch.seconds
        await ledger.close()
        return Double(count * connections) / seconds
    }

    private static func message(in thread: Int, at now: Moment) -> [Change] {
        let message = Message(
            id: UniqueID.v7(at: now), bot: bot.name, thread: "thread \(thread)", text: "something happened",
            at: now)
        return [
            .insertMessage(MessageRecord(message: message)),
            .append(NewEvent(.messagePosted(Fact.Post(message.id, bot: message.bot)), at: now)),
        ]
    }
}
