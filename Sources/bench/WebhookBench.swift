import Curl
import Delivery
import Engine
import Glibc
import Host
import Ledger
import LedgerSQLite
import Logging
import Synchronization
import Timeline
import WebhookChannel

/// Signed webhooks to a receiver on this machine, beside a bare socket that does the same to the same
/// receiver in the same run; then Alertmanager, Apprise, and the way through the whole daemon.
enum WebhookBench {
    /// Posts `count` webhooks (20,000 unless the first argument differs) in each figure.
    static func run(arguments: [String]) async throws {
        let count = arguments.first.flatMap { Int($0) } ?? 20_000
        let receiver = try BareReceiver()
        let curl = try CurlMulti()
        defer { curl.close() }
        let channel = try makeChannel(port: receiver.port, curl: curl)

        let bare = try bareSocket(receiver, posts: count)
        let serial = try await posts(count, at: 1, channel)
        report("webhook, signed, one connection", serial, floor: bare)
        for width in [4, 16, 64] {
            report(
                "webhook, signed, \(width) at once", try await posts(count, at: width, channel), floor: bare)
        }
        let expected = count * 5
        guard receiver.count >= expected else { throw SocketFailed() }

        print("  others, and then the whole way through a ledger:")
        try await WebhookPeers.run(curl: curl)
        try await FanoutBench.run(arguments: [])
        try await PathBench.run(arguments: [])
    }

    private static func makeChannel(port: UInt16, curl: CurlMulti) throws -> HTTPSender {
        let reach = try HTTPReach(
            url: try HTTPAddress("http://127.0.0.1:\(port)/hook"),
            allow: [try AddressException("127.0.0.1")])
        return try HTTPSender(
            name: "bench", form: WebhookForm(reach),
            secrets: FormSecrets(["secret": ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]]),
            userAgent: "Belfry/bench", curl: curl)
    }

    /// A body of the size a `run.failed` usually has.
    private static let body = Array(
        (#"{"type":"run.failed","data":""# + String(repeating: "x", count: 400) + #""}"#).utf8)

    /// Posts a second, `width` of them under way at any time.
    private static func posts(_ count: Int, at width: Int, _ channel: HTTPSender) async throws -> Double {
        let now = Moment(seconds: 1_800_000_000)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<width {
                group.addTask {
                    for number in stride(from: lane, to: count, by: width) {
                        let parcel = Parcel(
                            id: "evt_\(number)", type: "run.failed", timestamp: now, body: body, attempt: 1)
                        _ = try await channel.deliver(parcel, at: now)
                    }
                }
            }
            try await group.waitForAll()
        }
        return Double(count) / (ContinuousClock.now - start).inSeconds
    }

    /// Posts a second of a loop that writes the same request and waits for its answer.
    private static func bareSocket(_ receiver: BareReceiver, posts count: Int) throws -> Double {
        let connection = try receiver.connectBare()
        defer { close(connection) }
        let head =
            "POST /hook HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            + "webhook-id: evt_1\r\nwebhook-timestamp: 1800000000\r\n"
            + "webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=\r\n"
            + "Content-Length: \(body.count)\r\n\r\n"
        let request = Array(head.utf8) + body
        var answer = [UInt8](repeating: 0, count: 256)
        let start = ContinuousClock.now
        for _ in 0..<count {
            guard unsafe write(connection, request, request.count) == request.count,
                unsafe read(connection, &answer, answer.count) > 0
            else { throw SocketFailed() }
        }
        return Double(count) / (ContinuousClock.now - start).inSeconds
    }

    private static func report(_ name: String, _ figure: Double, floor: Double) {
        let ratio = Int(figure / floor * 100)
        print(
            "\(name): \(Int(figure))/s, bare socket \(Int(floor))/s, ratio \(ratio) %; limit >= 12000/s, many at once"
        )
    }
}

extension Duration {
    fileprivate var inSeconds: Double { self / .seconds(1) }
}

/// The cheapest honest receiver: reads each request whole, answers it, keeps the connection.
///
/// One thread a connection, so that what is measured is the sender.
final class BareReceiver: Sendable {
    /// What happens to a request.
    enum Reply {
        /// A status line's end, such as `204 No Content`, and no body.
        case status(String)
        /// The connection is closed without a word.
        case hangUp
        /// A stream of events, piece by piece; `write` returns false once nobody reads it any more.
        case stream((_ write: (String) -> Bool) -> Void)
    }

    let port: UInt16
    private let descriptor: Int32
    private let received = Mutex(0)
    private let reply: @Sendable (ArraySlice<UInt8>) -> Reply

    /// Listens on a free port of 127.0.0.1; `reply` sees each request, its head and its body.
    init(
        _ reply: @escaping @Sendable (ArraySlice<UInt8>) -> Reply = { _ in .status("204 No Content") }
    ) throws {
        self.reply = reply
        (descriptor, port) = try BareSocket.bind()
        guard listen(descriptor, 512) == 0 else { throw SocketFailed() }
        try BackgroundThread.start(named: "receiver") { [descriptor] in
            while let connection = BareSocket.accept(on: descriptor) {
                try? BackgroundThread.start(named: "connection") { self.serve(connection) }
            }
        }
    }

    /// A blocking connection to it, for the comparison.
    func connectBare() throws -> Int32 {
        let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let address: [UInt8] =
            [2, 0, UInt8(port >> 8), UInt8(port & 0xff), 127, 0, 0, 1] + [UInt8](repeating: 0, count: 8)
        let code = unsafe address.withUnsafeBytes { bytes in
            guard let raw = bytes.baseAddress else { return Int32(-1) }
            return unsafe connect(
                connection, raw.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard code == 0 else { throw SocketFailed() }
        return connection
    }

    /// How many requests have been answered.
    var count: Int { received.withLock { $0 } }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var buffer: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while case let count = unsafe read(connection, &part, part.count), count > 0 {
            buffer.append(contentsOf: part[..<count])
            while let length = RequestLength.of(buffer), length <= buffer.count {
                let reply = reply(buffer[..<length])
                buffer.removeFirst(length)
                received.withLock { $0 += 1 }
                switch reply {
                case .hangUp: return
                case .status(let text):
                    _ = BareSocket.send("HTTP/1.1 \(text)\r\nContent-Length: 0\r\n\r\n", to: connection)
                case .stream(let write): Self.stream(write, to: connection)
                }
            }
        }
    }

    private static func stream(_ work: ((String) -> Bool) -> Void, to connection: Int32) {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        guard BareSocket.send(head, to: connection) else { return }
        work { BareSocket.send("\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n", to: connection) }
        _ = BareSocket.send("0\r\n\r\n", to: connection)
    }
}

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
