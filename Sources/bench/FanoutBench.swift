import Curl
import Delivery
import Engine
import Host
import Ledger
import LedgerSQLite
import Logging
import WebhookChannel

/// The whole way of signed webhooks, from rows that wait in the ledger to their receipts, over eight channels.
enum FanoutBench {
    private static let channels = 8
    /// The most that a waiting entry may take in memory, in bytes.
    private static let bytesAnEntry = 2048.0
    private static let aSecond = 6000.0

    /// Sends so many entries in all: 24,000 unless the first argument differs.
    static func run(arguments: [String]) async throws {
        let count = (arguments.first.flatMap { Int($0) } ?? 24_000) / channels * channels
        let folder = try BenchFolder()
        let (clock, receiver, curl) = (try SystemClock(), try BareReceiver(), try CurlMulti())
        let ledger = try SQLiteLedger(path: folder.path + "/ledger.sqlite")
        let names = (0..<channels).map { "hook\($0)" }
        let configured = try names.map { try makeChannel($0, to: receiver, by: curl) }
        let configuration = ActiveConfiguration(
            EngineConfiguration(
                path: nil, zone: "UTC", bots: [:], jobs: [],
                routing: Routing(routes: [Route(when: [.failed], to: names)]), channels: configured))
        var quiet = Logger(label: "bench")
        quiet.logLevel = .critical
        let pump = OutboxPump(
            ChannelTools(
                ledger: ledger, clock: clock, activeConfiguration: configuration, board: ChannelBoard(),
                makeID: { UniqueID.v7(at: clock.now) }, logger: quiet))

        // Once around, for what is allocated once.
        try await fill(ledger, names, channels * 100, clock)
        let before = residentBytes()
        try await fill(ledger, names, count, clock)
        let grown = max(0, residentBytes() - before) / Double(count)
        report(
            "memory of a waiting entry", "\(grown.short) bytes", limit: "<= 2048",
            isKept: grown <= bytesAnEntry)

        let all = count + channels * 100
        let watch = Stopwatch()
        let serving = Task { try await pump.run() }
        while try await ledger.outboxCounts()[.delivered, default: 0] < all {
            try await Task.sleep(for: .milliseconds(20))
        }
        let rate = Double(all) / watch.seconds
        serving.cancel()
        _ = await serving.result
        report(
            "signed webhooks, row to receipt, 8 channels", "\(Int(rate))/s", limit: ">= 6000/s",
            isKept: rate >= aSecond)
        guard receiver.count == all else { throw Failed(description: "\(receiver.count) of \(all) came") }
        curl.close()
        await ledger.close()
    }

    private struct Failed: Error, CustomStringConvertible { let description: String }

    private static func makeChannel(
        _ name: String, to receiver: BareReceiver, by curl: CurlMulti
    ) throws -> HTTPSender {
        let reach = try HTTPReach(
            url: try HTTPAddress("http://127.0.0.1:\(receiver.port)/\(name)"),
            allow: [try AddressException("127.0.0.1")])
        return try HTTPSender(
            name: name, form: WebhookForm(reach),
            secrets: FormSecrets(["secret": ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]]),
            userAgent: "Belfry/bench", curl: curl)
    }

    /// Puts entries in line, of the size that a `run.failed` usually has.
    private static func fill(
        _ ledger: SQLiteLedger, _ names: [String], _ count: Int, _ clock: SystemClock
    ) async throws {
        let body = Array(
            (#"{"type":"run.failed","data":""# + String(repeating: "x", count: 400) + #""}"#).utf8)
        for start in stride(from: 0, to: count, by: 800) {
            let now = clock.now
            try await ledger.commit(
                (start..<min(start + 800, count)).map { number in
                    let id = UniqueID.v7(at: now)
                    return .insertOutbox(
                        OutboxRecord(
                            id: id, channel: names[number % names.count], cause: "event:\(id)",
                            type: "run.failed",
                            reason: "exitCode", createdAt: now, nextAt: now, body: body))
                })
        }
    }

    /// What this process has in memory, as the kernel counts it.
    private static func residentBytes() -> Double {
        let words = ((try? SmallFile.text("/proc/self/statm", limit: 4096)) ?? "").split(separator: " ")
        return words.count > 1 ? (Double(words[1]) ?? 0) * 4096 : 0
    }
}
