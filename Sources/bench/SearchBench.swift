import CronBench
import Grouping
import Ledger
import LedgerSQLite
import Timeline

/// How long a search among many messages takes, with the ranked answers and with those that are too many to rank.
enum SearchBench {
    private static let batch = 5000
    private static let searches = 200

    /// The first argument: how many messages there are, a million when absent.
    static func run(arguments: [String]) async throws {
        let count = arguments.first.flatMap { Int($0) } ?? 1_000_000
        let folder = try BenchFolder()
        let ledger = try SQLiteLedger(path: folder.path + "/ledger.sqlite")
        var numbers = SeededNumbers(seed: 1)
        let watch = Stopwatch()
        for start in stride(from: 0, to: count, by: batch) {
            try await ledger.commit(
                (start..<min(count, start + batch)).map { .insertMessage(message($0, &numbers)) })
        }
        print("search: \(count) messages, written in \(watch.seconds.short) s")
        var (times, ranked): ([Double], Int) = ([], 0)
        for index in 0..<searches {
            let text = index % 4 == 3 ? "disk" : "word\(index * 37 % 5000) disk"
            let bot = index % 2 == 0 ? nil : "bot-\(index % 10)"
            let since = index % 5 == 0 ? Moment(seconds: Int64(count / 2)) : nil
            let watch = Stopwatch()
            let hits = try await ledger.search(text, bot: bot, since: since, limit: 20)
            times.append(watch.seconds)
            if hits.isRanked { ranked += 1 }
        }
        await ledger.close()
        let figures = Figures(times)
        report(
            "a search (\(ranked) of \(searches) ranked)", figures.milliseconds, limit: "p95 20 ms",
            isKept: figures.at(0.95) <= 0.02)
    }

    /// A message of a few words: one that every other has, and others that few have.
    private static func message(_ index: Int, _ numbers: inout SeededNumbers) -> MessageRecord {
        // Each bot says both.
        var words = [index / 10 % 2 == 0 ? "disk" : "tape"]
        for _ in 0..<7 { words.append("word\(Int.random(in: 0..<5000, using: &numbers))") }
        return MessageRecord(
            message: Message(
                id: "m\(index)", bot: "bot-\(index % 10)", thread: "main", text: words.joined(separator: " "),
                at: Moment(seconds: Int64(index))))
    }
}
