import Engine
import Host
import Ledger
import LedgerSQLite
import Logging
import Synchronization
import Timeline

/// Many jobs whose slots fall on one second: from the second to the last durable row.
enum HerdBench {
    static func run(arguments: [String]) async throws {
        let count = arguments.first.flatMap { Int($0) } ?? 10_000
        var ours: [Double] = []
        var bare: [Double] = []
        var lean: [Double] = []
        for _ in 0..<5 {
            bare.append(try await bareCommit(count, .run))
            lean.append(try await bareCommit(count, .wide))
            ours.append(try await herd(count))
        }
        let (peer, taken) = (Figures(bare).median, Figures(ours).median)
        print(
            """
              one bare SQLite commit of the same \(count) rows: \((peer * 1000).short) ms; of rows with a third of \
            the columns and two indexes: \((Figures(lean).median * 1000).short) ms (medians of 5)
            """)
        report(
            "\(count) slots due in one second, all durable",
            "\((taken * 1000).short) ms, \((taken / peer).short) x", limit: "<= 2 x",
            isKept: taken <= 2 * peer)
    }

    /// The same number of rows, of what a run holds, in plain C.
    private static func bareCommit(_ count: Int, _ width: BareTable.Width) async throws -> Double {
        let folder = try BenchFolder()
        let path = folder.path + "/bare.db"
        if width == .run { await (try SQLiteLedger(path: path)).close() }
        let table = try BareTable(path: path, width: width)
        let jobs = (0..<count).map { "job-\($0)" }
        let ids = (0..<count).map { UniqueID.v7(at: Moment(microseconds: 1_800_000_000_000_000 + Int64($0))) }
        let watch = Stopwatch()
        try table.insert(jobs, slot: 1_800_003_600_000_000, ids: ids, cause: "slot:0:1800003600000000")
        return watch.seconds
    }

    /// Makes ids in order, one a microsecond.
    private static func makeIDs(after start: Moment) -> @Sendable () -> String {
        let ids = Mutex<Int64>(0)
        return {
            let number = ids.withLock { number in
                number += 1
                return number
            }
            return UniqueID.v7(at: Moment(microseconds: start.microseconds + number))
        }
    }

    private static func herd(_ count: Int) async throws -> Double {
        let folder = try BenchFolder()
        let start = Moment(seconds: 1_800_000_000)
        let clock = BenchClock(start)
        var quiet = Logger(label: "bench")
        quiet.logLevel = .critical
        let ledger = try SQLiteLedger(path: folder.path + "/ledger.sqlite")
        let keeper = try await SlotKeeper(
            ledger: ledger, clock: clock, zones: { $0 == "UTC" ? .utc : nil }, census: RunCensus(),
            notes: RunNotes(), makeID: makeIDs(after: start), logger: quiet)
        let serving = Task { try await keeper.run() }
        defer { serving.cancel() }
        _ = try await keeper.change(
            (0..<count).map { number in
                .put(
                    JobSpec(
                        name: "job-\(number)", action: .command(["true"]),
                        schedule: ScheduleSpec(kind: .cron, text: "0 * * * *", zone: "UTC")),
                    origin: .cli, place: nil)
            })
        let commits = ledger.commits()
        await clock.waitForSleeper()
        let watch = Stopwatch()
        let slot = Moment(seconds: (start.seconds / 3600 + 1) * 3600)
        clock.advance(to: slot)
        // With the last of them the watermark moves; what is reported is durable.
        for await stations in commits where stations.contains(.runs) {
            if try await ledger.watermark()?.decidedUntil == slot { break }
        }
        let seconds = watch.seconds
        guard try await ledger.runs(RunFilter(limit: count)).count == count else {
            throw HostError.malformed(path: folder.path, problem: "not every slot became a run")
        }
        await ledger.close()
        return seconds
    }
}
