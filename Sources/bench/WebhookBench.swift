import Curl
import Delivery
import Glibc
import Timeline
import WebhookChannel

/// Signed webhooks to a receiver on this machine, beside a bare socket that does the same to the same
/// receiver in the same run.
enum WebhookBench {
    /// Posts `count` webhooks (20,000 unless the first argument says otherwise) in each figure.
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
