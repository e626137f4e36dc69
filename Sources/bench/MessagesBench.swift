import CronBench
import Delivery
import Glibc
import Grouping
import Host
import Ledger
import LedgerSQLite
import Timeline

/// Messages posted to a daemon over four connections while few or many threads are awake, beside the ledger alone.
enum MessagesBench {
    private static let connections = 4
    private static let count = 8000
    private static let text = "something happened"

    private struct Measured {
        /// Messages a second.
        var rate: Double
        /// What the daemon spent on one, in seconds of a core.
        var cost: Double
    }

    /// The first argument: the most threads that are awake, 100,000 when absent.
    static func run(arguments: [String]) async throws {
        let most = arguments.first.flatMap { Int($0) } ?? 100_000
        let folder = try BenchFolder()
        let alone = try await ledgerAlone(in: folder.path + "/alone.sqlite")
        let few = try posted(in: folder.path + "/few", threads: 10)
        let many = try posted(in: folder.path + "/many", threads: most)
        let again = try posted(in: folder.path + "/again", threads: 10)
        print(
            """
              the ledger alone, \(connections) callers: \(alone.short) messages a second; CPU time of the daemon for \
            each: \(micros(few)) and \(micros(again)) among 10 threads, \(micros(many)) among \(most)
            """)
        report(
            "messages, 10 threads awake", "\(few.rate.short) a second, again \(again.rate.short)",
            limit: "5,000", isKept: max(few.rate, again.rate) >= 5000)
        report(
            "messages, \(most) threads awake", "\(many.rate.short) a second",
            limit: "5,000 and 0.7 of 10 threads",
            isKept: many.rate >= max(5000, 0.7 * min(few.rate, again.rate)))
    }

    private static func micros(_ measured: Measured) -> String { "\((measured.cost * 1e6).short) us" }

    /// What the daemon accepts: a request each over the control socket, until the items' cursor has passed the last.
    private static func posted(in folder: String, threads: Int) throws -> Measured {
        guard unsafe mkdir(folder, 0o700) == 0 else { throw HostError.last("mkdir", folder) }
        let daemon = try BenchDaemon(
            folder: folder, bots: "ops: { notifications: { wait: 1h } }")
        defer { daemon.end() }
        let posters = try MessagePosters(connections, at: daemon.socket)
        try posters.post(threads) { body(thread: $0) }
        let before = try daemon.cpuSeconds()
        let watch = Stopwatch()
        try posters.post(count) { body(thread: $0 &* 7919 % threads) }
        while try !areTakenIn(folder + "/state/ledger.sqlite") { usleep(500) }
        let seconds = watch.seconds
        return Measured(
            rate: Double(count) / seconds, cost: (try daemon.cpuSeconds() - before) / Double(count))
    }

    private static func body(thread: Int) -> String {
        "{\"bot\":\"ops\",\"thread\":\"thread \(thread)\",\"text\":\"\(text)\"}"
    }

    private static func areTakenIn(_ ledger: String) throws -> Bool {
        let query = """
            SELECT (SELECT seq FROM consumer WHERE name = 'items') >= (SELECT max(seq) FROM event)
            """
        return try BareTable.integer(query, in: ledger) == 1
    }

    /// The same rows without requests, and without anybody who makes items of them.
    private static func ledgerAlone(in path: String) async throws -> Double {
        let ledger = try SQLiteLedger(path: path)
        let watch = Stopwatch()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for connection in 0..<connections {
                group.addTask {
                    for number in 0..<count / connections {
                        try await ledger.commit(message(in: (number * connections + connection) % 10))
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = watch.seconds
        await ledger.close()
        return Double(count) / seconds
    }

    private static func message(in thread: Int) -> [Change] {
        let now = Moment.now
        let message = Message(
            id: UniqueID.v7(at: now), bot: "ops", thread: "thread \(thread)", text: text, at: now)
        return [
            .insertMessage(MessageRecord(message: message)),
            .append(NewEvent(.messagePosted(Fact.Post(message.id, bot: message.bot)), at: now)),
        ]
    }
}

/// Connections to a control socket that each post one message after the other, in one thread: what is measured is the
/// daemon.
final class MessagePosters {
    private let sockets: [Descriptor]

    init(_ count: Int, at path: String) throws {
        sockets = try (0..<count).map { _ in try LocalSocket.connect(path) }
    }

    /// Posts `count` messages, each on a connection whose last one was answered.
    func post(_ count: Int, _ makeBody: (Int) -> String) throws {
        var next = 0
        var answered = 0
        var answers = [[UInt8]](repeating: [], count: sockets.count)
        for place in sockets.indices where next < count {
            try send(makeBody(next), on: place)
            next += 1
        }
        var waiting = sockets.map { pollfd(fd: $0.raw, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while answered < count {
            guard unsafe poll(&waiting, nfds_t(waiting.count), 10_000) > 0 else { throw SocketFailed() }
            for place in sockets.indices where waiting[place].revents != 0 {
                let length = unsafe recv(sockets[place].raw, &buffer, buffer.count, 0)
                guard length > 0 else { throw SocketFailed() }
                answers[place] += buffer[..<length]
                guard try Self.isWhole(answers[place]) else { continue }
                answers[place] = []
                answered += 1
                if next < count {
                    try send(makeBody(next), on: place)
                    next += 1
                }
            }
        }
    }

    private func send(_ body: String, on place: Int) throws {
        let request =
            "POST /v1/notify HTTP/1.1\r\nhost: belfry\r\ncontent-type: application/json\r\n"
            + "content-length: \(body.utf8.count)\r\n\r\n\(body)"
        guard try LocalSocket.send(Array(request.utf8)[...], over: sockets[place]) == request.utf8.count
        else { throw SocketFailed() }
    }

    /// Whether an answer has arrived with its body; found byte by byte, which costs next to nothing.
    private static func isWhole(_ answer: [UInt8]) throws -> Bool {
        guard let end = place(after: "\r\n\r\n", in: answer[...]) else { return false }
        let head = answer[..<end]
        guard head.starts(with: "HTTP/1.1 201".utf8) else { throw SocketFailed() }
        guard
            let start = place(after: "content-length: ", in: head)
                ?? place(after: "Content-Length: ", in: head)
        else { throw SocketFailed() }
        var length = 0
        for byte in head[start...] {
            guard (0x30...0x39).contains(byte) else { break }
            length = length * 10 + Int(byte - 0x30)
        }
        return answer.count >= end + length
    }

    /// The place behind the first occurrence of `word`.
    private static func place(after word: StaticString, in bytes: ArraySlice<UInt8>) -> Int? {
        word.withUTF8Buffer { word in
            guard let last = unsafe word.last else { return nil }
            for place in bytes.indices where place - bytes.startIndex >= word.count - 1 {
                guard bytes[place] == last else { continue }
                let start = place + 1 - word.count
                if unsafe bytes[start...place].elementsEqual(word) { return place + 1 }
            }
            return nil
        }
    }
}

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
        var vain: [Double] = []
        for index in 0..<searches {
            let text = ["word\(index) nobody", "disk nobody\(index)", "disk tape", "no word1"][index % 4]
            let watch = Stopwatch()
            let hits = try await ledger.search(text, bot: nil, since: nil, limit: 20)
            vain.append(watch.seconds)
            guard hits.messages.isEmpty else { throw BenchProcess.Failed(program: "a search for nothing") }
        }
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
        report(
            "a search that finds nothing", Figures(vain).milliseconds, limit: "p95 20 ms",
            isKept: Figures(vain).at(0.95) <= 0.02)
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
