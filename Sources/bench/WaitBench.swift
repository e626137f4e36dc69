import Glibc
import Host
import Synchronization
import TestSupport
import Tracking

/// A thousand messages of one thread whose bot waits a second for company: one notice on the desktop and one webhook, and
/// when they arrive.
///
/// The whole path: a daemon, a bus with a notification server on it, and a receiver of webhooks in this process. Needs
/// `dbus-daemon` and the Python packages of the tests.
enum WaitBench {
    private static let count = 1000
    private static let rounds = 5
    /// In seconds: the wait, and what everything else may take.
    private static let limit = 1.03

    /// Prints the figures of all rounds.
    static func run() async throws {
        let arrivals = Arrivals()
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let reading = Task { [lines = server.process.lines] in
            for await line in lines where line.contains(#""Notify""#) { arrivals.note(line, at: .desktop) }
        }
        let receiver = try BareReceiver { request in
            arrivals.note(String(decoding: request, as: UTF8.self), at: .webhook)
            return .status("204 No Content")
        }
        let folder = try BenchFolder()
        let daemon = try BenchDaemon(
            folder: folder.path, configuration: configuration(port: receiver.port),
            environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        defer {
            daemon.end()
            reading.cancel()
        }
        let posters = try MessagePosters(4, at: daemon.socket)
        // Once around, for connections and caches.
        try await round(0, posters, arrivals)
        var posted: [Double] = []
        var times: [Arrivals.Place: [Double]] = [:]
        for number in 1...rounds {
            let (postTime, notices) = try await round(number, posters, arrivals)
            posted.append(postTime)
            for (place, seconds) in notices { times[place, default: []].append(seconds) }
        }
        print(
            "  \(count) messages of one thread over four connections, a wait of 1 s, \(rounds) times; posted within "
                + "\((Figures(posted).at(1) * 1000).short) ms; from before the first request to the notice's arrival"
        )
        for place in Arrivals.Place.allCases {
            let figures = Figures(times[place] ?? [])
            report(
                "one notice of \(count) messages, \(place.rawValue)",
                "median \((figures.median * 1000).short), last \((figures.at(1) * 1000).short) ms",
                limit: "1,030 ms", isKept: figures.median <= limit)
        }
    }

    /// Posts a thousand messages in a thread of their own; how long that took, and when the one notice was at each place.
    ///
    /// - Throws: ``Failed`` where it was not one notice that counts all of them.
    @discardableResult
    private static func round(
        _ number: Int, _ posters: MessagePosters, _ arrivals: Arrivals
    ) async throws -> (posted: Double, notices: [Arrivals.Place: Double]) {
        let thread = "round-\(number)."
        let (start, watch) = (ContinuousClock.now, Stopwatch())
        try posters.post(count) { #"{"bot":"ops","thread":"\#(thread)","text":"message \#($0)"}"# }
        let posted = watch.seconds
        // Longer than an update of the notice, or a second one, would take.
        try await Task.sleep(for: .milliseconds(3500))
        var notices: [Arrivals.Place: Double] = [:]
        for place in Arrivals.Place.allCases {
            let found = arrivals.about(thread, at: place)
            guard let one = found.first, found.count == 1, one.text.contains(place.sign(of: count)) else {
                throw Failed(
                    description: "\(found.count) notices of \(thread) \(place.rawValue), posted within "
                        + "\((posted * 1000).short) ms; one of \(count) messages was expected")
            }
            notices[place] = (one.at - start) / .seconds(1)
        }
        return (posted, notices)
    }

    private static func configuration(port: UInt16) -> String {
        """
        zone: UTC
        bots:
          ops: { notifications: { wait: 1s } }
        channels:
          desk: { kind: desktop }
          hook: { kind: webhook, url: "http://127.0.0.1:\(port)/hook", allow: [127.0.0.1] }
        routes:
          - { when: [failed, message], to: [desk, hook] }

        """
    }

    private struct Failed: Error, CustomStringConvertible { let description: String }
}

/// What arrived where, and when.
private final class Arrivals: Sendable {
    /// Where notices arrive.
    enum Place: String, CaseIterable {
        case desktop = "on the desktop"
        case webhook = "by webhook"

        /// What a notice of so many messages contains.
        func sign(of count: Int) -> String {
            switch self {
            case .desktop: "\(count) new"
            case .webhook: #""count":\#(count)"#
            }
        }
    }

    private let arrived = Mutex<[(place: Place, text: String, at: ContinuousClock.Instant)]>([])

    func note(_ text: String, at place: Place) {
        let now = ContinuousClock.now
        arrived.withLock { $0.append((place, text, now)) }
    }

    /// The notices that name a thread, in their order.
    func about(_ thread: String, at place: Place) -> [(text: String, at: ContinuousClock.Instant)] {
        arrived.withLock { all in
            all.filter { $0.place == place && $0.text.contains(thread) }.map { ($0.text, $0.at) }
        }
    }
}
