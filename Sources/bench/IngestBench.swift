import API
import CronBench
import Engine
import Glibc
import Host
import LedgerSQLite
import Logging
import Timeline
import Tracking
import WardenProtocol

/// What a report costs on its way from a job to the live state, and how many datagrams are taken a second.
enum IngestBench {
    private static let rounds = 200_000

    /// Runs the bench; takes no arguments.
    static func run(arguments: [String]) throws {
        let datagrams = (0..<1000).map { step in
            Array("STATUS=file \(step) of 1000 in /srv/data\nX_PROGRESS=\(step)/1000".utf8)
        }
        let reports = datagrams.compactMap { NotifyDatagram($0[...])?.report }
        let parsed = best {
            var ready = 0
            for round in 0..<rounds where NotifyDatagram(datagrams[round % 1000][...])?.isReady == true {
                ready += 1
            }
            return ready
        }
        print("  a datagram read into a report: \(parsed.short) us")
        let accepted = best {
            var tracker = tracker("run")
            var changes = 0
            for round in 0..<rounds {
                if round % 1000 == 0 { tracker = self.tracker("run") }
                let now = Moment(seconds: 2_000) + .milliseconds(round % 1000 * 100)
                if tracker.receive(reports[round % 1000], from: .native, at: now) == .tick { changes += 1 }
            }
            return changes
        }
        report("an accepted update", "\(accepted.short) us", limit: "0.5 us", isKept: accepted <= 0.5)
        let rate = try received(datagrams)
        report(
            "datagrams a second, from the socket", "\(Int(rate / 1000)) thousand", limit: "200 thousand",
            isKept: rate >= 200_000)
    }

    /// The best of five, in microseconds a round.
    private static func best(_ body: () -> Int) -> Double {
        var (best, sum) = (Double.infinity, 0)
        for _ in 0..<5 {
            let took = ContinuousClock().measure { sum += body() }
            best = min(best, took / .microseconds(1) / Double(rounds))
        }
        // What is counted can't be left out.
        return sum >= 0 ? best : .nan
    }

    private static func tracker(_ id: String) -> LiveTracker {
        let task = LiveTask(id: id, botID: "ops", run: "\(id)#1", name: id, botName: "Ops")
        var tracker = LiveTracker(task: task, incarnation: 1, state: .starting, at: Moment(seconds: 1_000))
        _ = tracker.became(.running, at: Moment(seconds: 1_000))
        return tracker
    }

    /// Datagrams a second that a job sends as fast as they are taken: read, parsed and applied to its live state.
    private static func received(_ datagrams: [[UInt8]]) throws -> Double {
        let folder = try BenchFolder(inMemory: true)
        let path = folder.path + "/notify"
        let socket = try LocalSocket.bindDatagram(path, namingSenders: true)
        let sender = try BenchProcess(
            "python3",
            [
                "-c",
                """
                import socket, sys
                s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect(sys.argv[1])
                print("ready", flush=True)
                while True:
                    for i in range(1000): s.send(b"STATUS=file %d of 1000 in /srv/data\\nX_PROGRESS=%d/1000" % (i, i))
                """, path,
            ], environment: ["BELFRY_RUN_ID": "run"])
        defer { sender.end() }
        _ = try sender.firstLine()
        var tracker = tracker("run")
        var (reader, buffer) = (NotifyReader(run: "run"), NotifyReader.makeBuffer())
        // As the daemon does: one that looks again and again takes the socket's lock from the sender.
        let poll = try EventPoll()
        try poll.add(socket.raw, 1)
        var count = 0
        let watch = Stopwatch()
        while watch.seconds < 2 {
            let read = try reader.read(from: socket, into: &buffer)
            if !read.mayHaveMore { _ = try poll.wait(milliseconds: 1000) }
            count += read.datagrams.count
            for report in read.datagrams.compactMap({ NotifyDatagram($0[...])?.report }) {
                _ = tracker.receive(report, from: .native, at: .now)
            }
        }
        return Double(count) / watch.seconds
    }
}

/// What many people who watch many runs cost the daemon: the board's changes, as events, to each of them.
enum WatchersBench {
    private static let runs = 1000
    private static let watchers = 50
    private static let seconds = 10
    /// How often a watcher is sent what changed, in a second.
    private static let looks = 20

    /// Runs the bench; takes no arguments.
    static func run(arguments: [String]) async throws {
        let folder = try BenchFolder()
        let ledger = try SQLiteLedger(path: folder.path + "/ledger.db")
        let start = Moment(seconds: 1_000)
        let board = LiveBoard(
            ledger: ledger, clock: BenchClock(start), incarnation: 1, logger: Logger(label: "bench"))
        for index in 0..<runs {
            let task = LiveTask(
                id: "run-\(index)", botID: "ops", run: "backup-\(index)#1", name: "backup-\(index)",
                botName: "Ops")
            await board.enter(task, attempt: 1, state: .running, saved: nil, at: start)
        }
        let nowhere = try Descriptor.open("/dev/null", O_WRONLY)
        let texts = LiveTexts()
        var seen = [UInt64](repeating: await board.changes(after: .max).version, count: watchers)
        var bytes = 0
        let before = ProcessorTime.seconds
        for look in 0..<seconds * looks {
            let now = start + .milliseconds(look * 1000 / looks)
            for index in stride(from: look % looks, to: runs, by: looks) {
                var report = ProgressReport(fraction: Double(look) / Double(seconds * looks))
                report.message = "file \(look) of 20000 in /srv/data"
                _ = await board.receive(report, of: "run-\(index)", at: now)
            }
            for watcher in 0..<watchers {
                let changes = await board.changes(after: seen[watcher])
                seen[watcher] = changes.version
                var events: [UInt8] = []
                for state in changes.states { events += try texts.event(of: state, at: now) }
                bytes += events.count
                try nowhere.writeAll(events[...])
            }
        }
        let part = (ProcessorTime.seconds - before) / Double(seconds)
        print(
            "  each run reports once a second; \((Double(bytes) / 1e6 / Double(seconds)).short) MB a second")
        report(
            "\(runs) live runs, \(watchers) watchers", "\((part * 100).short) % of a core", limit: "10 %",
            isKept: part <= 0.1)
    }
}
