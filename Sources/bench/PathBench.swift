import Curl
import Delivery
import Engine
import Glibc
import Host
import Ledger
import LedgerSQLite
import Logging
import Timeline
import WebhookChannel

/// From a committed event to the request at the receiver, nothing else waiting.
enum PathBench {
    static func run(arguments: [String]) async throws {
        let count = arguments.first.flatMap { Int($0) } ?? 300
        let folder = try BenchFolder()
        let sync = try syncTimes(in: folder.path, count: count)
        let taken = try await path(in: folder.path, count: count)
        let syncAgain = try syncTimes(in: folder.path, count: count)
        let disk = min(sync.median, syncAgain.median)
        print("  fdatasync of 4 KiB here: \(sync.milliseconds); again \(syncAgain.milliseconds)")
        report(
            "event to webhook", taken.milliseconds, limit: "p50 <= fdatasync + 0.3 ms",
            isKept: taken.median <= disk + 0.0003)
    }

    private static func syncTimes(in folder: String, count: Int) throws -> Figures {
        let file = try Descriptor.open(folder + "/sync", O_RDWR | O_CREAT, mode: 0o600)
        let page = [UInt8](repeating: 7, count: 4096)
        return Figures(
            try (0..<count).map { _ in
                let watch = Stopwatch()
                // Over itself: a file that grows pays for its length as well, which a log in use does not.
                lseek(file.raw, 0, SEEK_SET)
                try file.writeAll(page[...])
                guard fdatasync(file.raw) == 0 else { throw HostError.last("fdatasync") }
                return watch.seconds
            })
    }

    private static func makeChannel(to receiver: BareReceiver, by curl: CurlMulti) throws -> HTTPSender {
        let reach = try HTTPReach(
            url: try HTTPAddress("http://127.0.0.1:\(receiver.port)/hook"),
            allow: [try AddressException("127.0.0.1")])
        return try HTTPSender(
            name: "hook", form: WebhookForm(reach),
            secrets: FormSecrets(["secret": ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]]),
            userAgent: "Belfry/bench", curl: curl)
    }

    private static func path(in folder: String, count: Int) async throws -> Figures {
        let clock = try SystemClock()
        let (arrivals, arrived) = AsyncStream.makeStream(of: ContinuousClock.Instant.self)
        let receiver = try BareReceiver { _ in
            arrived.yield(.now)
            return .status("204 No Content")
        }
        var requests = arrivals.makeAsyncIterator()
        let curl = try CurlMulti()
        let channel = try makeChannel(to: receiver, by: curl)
        var quiet = Logger(label: "bench")
        quiet.logLevel = .critical
        let ledger = try SQLiteLedger(path: folder + "/ledger.sqlite")
        let activeConfiguration = ActiveConfiguration(
            EngineConfiguration(
                path: nil, zone: "UTC", bots: [:], jobs: [],
                routing: Routing(routes: [Route(when: [.failed, .test], to: ["hook"])]), channels: [channel]))
        let board = LiveBoard(ledger: ledger, clock: clock, incarnation: 1, logger: quiet)
        let items = ItemKeeper(
            ledger: ledger, clock: clock, board: board, activeConfiguration: activeConfiguration,
            makeID: { UniqueID.v7(at: clock.now) }, logger: quiet)
        let pump = OutboxPump(
            ChannelTools(
                ledger: ledger, clock: clock, activeConfiguration: activeConfiguration,
                board: ChannelBoard(), makeID: { UniqueID.v7(at: clock.now) }, logger: quiet))
        let serving = [Task { try await items.run() }, Task { try await pump.run() }]
        defer { serving.forEach { $0.cancel() } }
        var times: [Double] = []
        for number in 0..<count + 20 {
            let start = ContinuousClock.now
            try await ledger.commit([
                .append(NewEvent(.test(channel: "hook"), at: clock.now))
            ])
            guard let end = await requests.next() else { break }
            // The first ones pay for the connection and cold caches.
            if number >= 20 { times.append((end - start) / .seconds(1)) }
            while try await ledger.outboxCounts()[.pending, default: 0] > 0 {
                try await Task.sleep(for: .microseconds(200))
            }
        }
        curl.close()
        await ledger.close()
        return Figures(times)
    }
}
