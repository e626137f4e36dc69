import Curl
import Glibc
import Host
import Synchronization

/// What else brings notices to webhooks, on the same machine and to the same kind of receiver.
enum WebhookPeers {
    /// How long one figure may take; what has not come by then is not counted.
    private static let longest = 20.0
    private static let oneByOne = 200

    /// Prints how many notices a second they bring, and how long one takes alone.
    static func run(curl: CurlMulti) async throws {
        do {
            try await alertmanager(curl)
        } catch {
            print("  Alertmanager: left out: \(error)")
        }
        do {
            try apprise()
        } catch {
            print("  Apprise: left out: \(error)")
        }
    }

    // MARK: - Alertmanager

    /// Alerts without a wait or a group, so that each is a notification of its own; none of them is durable.
    private static func alertmanager(_ curl: CurlMulti) async throws {
        let (folder, receiver) = (try BenchFolder(), try PeerReceiver())
        let port = try freePort()
        try SmallFile.replace(
            folder.path + "/alertmanager.yml",
            with: Array(
                """
                route: { receiver: hook, group_by: ['...'], group_wait: 0s, group_interval: 1h, repeat_interval: 4h }
                receivers: [{ name: hook, webhook_configs: [{ url: "\(receiver.url)", send_resolved: false }] }]
                """.utf8))
        let peer = try BenchProcess(
            "prometheus-alertmanager",
            [
                "--config.file=\(folder.path)/alertmanager.yml", "--storage.path=\(folder.path)/data",
                "--web.listen-address=127.0.0.1:\(port)", "--cluster.listen-address=",
            ])
        defer { peer.end() }
        let address = "http://127.0.0.1:\(port)"
        try await waitUntil("it is ready") {
            let ready = CurlRequest(url: address + "/-/ready", addressGuard: .open)
            return try await curl.perform(ready).status == 200
        }
        func post(_ numbers: Range<Int>) async throws {
            let alerts = numbers.map { number in
                #"{"labels":{"alertname":"run failed","run":"backup#\#(number)"},"#
                    + #""annotations":{"description":"\#(String(repeating: "x", count: 400))"}}"#
            }
            let request = CurlRequest(
                method: "POST", url: address + "/api/v2/alerts",
                headers: [CurlHeader("Content-Type", "application/json")],
                body: Array("[\(alerts.joined(separator: ","))]".utf8), addressGuard: .open)
            let answer = try await curl.perform(request)
            guard answer.status == 200 else { throw Failed("it answered \(answer.status)") }
        }
        var times: [Double] = []
        for number in 0..<oneByOne {
            let watch = Stopwatch()
            try await post(number..<number + 1)
            try await receiver.wait(for: number + 1)
            times.append(watch.seconds)
        }
        let (count, before) = (10_000, receiver.count)
        let watch = Stopwatch()
        for start in stride(from: 0, to: count, by: 500) {
            try await post(oneByOne + start..<oneByOne + start + 500)
        }
        try? await receiver.wait(for: before + count)
        let came = receiver.count - before
        show("Alertmanager, not durable", came, in: watch.seconds, of: count, alone: Figures(times))
    }

    // MARK: - Apprise

    /// What one object of Apprise sends by `json://`; a notice that fails is lost.
    private static let script = """
        import apprise, sys, time
        bell = apprise.Apprise()
        bell.add(sys.argv[1])
        text, times, start = "x" * 400, [], time.monotonic()
        for number in range(int(sys.argv[2])):
            before = time.monotonic()
            if not bell.notify(title=f"backup#{number} failed", body=text): sys.exit(1)
            times.append(time.monotonic() - before)
        print(*times, flush=True)
        """

    private static func apprise() throws {
        let receiver = try PeerReceiver()
        let folder = Machine.environment["VENV"] ?? ".build/venv-peers"
        let python = folder + "/bin/python"
        guard unsafe access(python, X_OK) == 0 else {
            throw Failed("no Python in \(folder); .ci/peers makes one, and VENV names another")
        }
        let address = "json" + receiver.url.dropFirst("http".count)
        let peer = try BenchProcess(python, ["-c", script, address, "\(oneByOne)"])
        let line = try? peer.firstLine()
        guard peer.status() == 0, let line else {
            throw Failed("the Python in \(folder) has no Apprise, or it could not send")
        }
        let times = line.split(separator: " ").compactMap { Double($0) }
        show(
            "Apprise, one object", receiver.count, in: times.reduce(0, +), of: oneByOne, alone: Figures(times)
        )
    }

    // MARK: - Both

    private static func show(_ name: String, _ came: Int, in seconds: Double, of all: Int, alone: Figures) {
        let lost = came < all ? ", \(all - came) of \(all) not in time" : ""
        print("  \(name): \(Int(Double(came) / seconds)) notices/s\(lost); one alone \(alone.milliseconds)")
    }

    private struct Failed: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    fileprivate static func waitUntil(_ what: String, _ isSo: () async throws -> Bool) async throws {
        let watch = Stopwatch()
        while watch.seconds < longest {
            if (try? await isSo()) == true { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Failed("after \(Int(longest)) s it is not so that \(what)")
    }

    private static func freePort() throws -> UInt16 {
        let (descriptor, port) = try BareSocket.bind()
        close(descriptor)
        return port
    }
}

/// A receiver that wakes whoever waits for the next notice.
private final class PeerReceiver: Sendable {
    private let receiver: BareReceiver
    /// How many have come, after each of them.
    private let counts: AsyncStream<Int>
    private let total: Total

    private final class Total: Sendable {
        let count = Mutex(0)
    }

    init() throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let total = Total()
        (counts, self.total) = (stream, total)
        receiver = try BareReceiver { _ in
            continuation.yield(
                total.count.withLock { count in
                    count += 1
                    return count
                })
            return .status("204 No Content")
        }
    }

    var url: String { "http://127.0.0.1:\(receiver.port)/hook" }
    var count: Int { total.count.withLock { $0 } }

    /// Returns as soon as so many have come in all.
    func wait(for all: Int) async throws {
        if count >= all { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [counts] in
                for await count in counts where count >= all { return }
            }
            group.addTask { try await WebhookPeers.waitUntil("\(all) notices came") { false } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
