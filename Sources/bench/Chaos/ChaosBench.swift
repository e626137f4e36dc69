import CronBench
import Glibc
import Host
import Timeline

/// Kills the daemon, and then the warden, at random moments under load, over and over; then counts.
///
/// Between the kills jobs are edited, removed and added again, with and without a daemon, and one of two receivers has
/// outages. Not a figure but a proof: it ends with 1 when a slot was lost or doubled, a job started twice, beside itself
/// or by an outdated definition, a notice lost or delivered under two ids, or a run left open or, while its warden
/// lived, lost.
enum ChaosBench {
    /// What is killed.
    private enum Victim: String {
        case daemon, warden
    }

    /// When a round edits the file.
    private enum ChangeTime: CaseIterable {
        case never, underDaemon, whileStopped
    }

    private struct Options {
        var rounds = 20
        var seed = UInt64.random(in: 0 ... .max)
        var jobs = 36

        init(_ arguments: [String]) throws {
            var rest = arguments[...]
            while let word = rest.popFirst() {
                switch word {
                case "--seed": seed = try Self.number(rest.popFirst())
                case "--jobs": jobs = try Self.number(rest.popFirst())
                default: rounds = try Self.number(word)
                }
            }
        }

        private static func number<Number: FixedWidthInteger>(_ word: String?) throws -> Number {
            guard let number = word.flatMap({ Number($0) }) else {
                throw BenchProcess.Failed(program: "bench chaos [ROUNDS] [--seed SEED] [--jobs JOBS]")
            }
            return number
        }
    }

    /// Kills the daemon as often as the first argument says, 20 times without one, and the warden a fifth as often.
    static func run(arguments: [String]) async throws {
        let options = try Options(arguments)
        print("  \(options.rounds) rounds, seed \(options.seed)")
        var random = SeededNumbers(seed: options.seed)
        let isDaemonSafe = try await loop(.daemon, rounds: options.rounds, options, &random)
        let isWardenSafe = try await loop(.warden, rounds: max(4, options.rounds / 5), options, &random)
        if !isDaemonSafe || !isWardenSafe { exit(1) }
    }

    /// Kills, comes to rest, and judges; whether all is well.
    private static func loop(
        _ victim: Victim, rounds: Int, _ options: Options, _ random: inout SeededNumbers
    ) async throws -> Bool {
        let folder = try BenchFolder()
        let steady = WebhookBook(seed: random.next())
        let sick = WebhookBook(seed: random.next())
        let receivers = try (BareReceiver { steady.take($0) }, BareReceiver { sick.take($0) })
        let home = try ChaosHome(
            folder: folder.path, quick: options.jobs, ports: (receivers.0.port, receivers.1.port))
        let watch = Stopwatch()
        var kills: [Moment] = []
        var threads: [String] = []
        var faults: [String] = []
        try home.launch()
        for round in 1...rounds {
            let isIll = Int.random(in: 0..<3, using: &random) == 0
            sick.set(isIll ? .allCases.randomElement(using: &random) : nil)
            let change = ChangeTime.allCases.randomElement(using: &random) ?? .never
            var reload: (pid: Int32, edition: Int)?
            if change == .underDaemon {
                try home.edit(&random)
                reload = (try home.reload(), home.edits.current.number)
            }
            let message = try lead(&random) { try home.begin("notify", "news", "--thread", "news-\(round)") }
            if home.hasDaemonEnded() {
                faults.append("round \(round): the daemon ended by itself")
                try home.launch()
            }
            switch victim {
            case .daemon:
                kills.append(.now)
                home.kill()
                if let reload { home.noteReload(reload.pid, of: reload.edition) }
                if change == .whileStopped { try home.edit(&random) }
                try home.launch()
            case .warden:
                if let reload { home.noteReload(reload.pid, of: reload.edition) }
                if let warden = home.warden {
                    kills.append(.now)
                    kill(warden, SIGKILL)
                }
            }
            if let message, home.status(of: message) == 0 { threads.append("news-\(round)") }
        }
        sick.set(nil)
        if try !home.settle(within: 120) { faults.append("it does not come to rest") }
        home.stop()
        let verdict = try await ChaosVerdict(
            of: home, kills: kills, threads: threads, webhooks: ["hook": steady, "sick": sick],
            mayLose: victim == .warden)
        faults += verdict.faults
        // What never came to pass was not proved.
        if victim == .daemon, kills.count >= 10, verdict.adopted == 0 { faults.append("no run was adopted") }
        if victim == .daemon, kills.count >= 10, verdict.changed == 0 {
            faults.append("no slot was missed by a changed definition")
        }
        if kills.count >= 10, sick.refused == 0 { faults.append("no receiver had an outage") }
        if victim == .warden, kills.count >= 4, verdict.lost + verdict.retries == 0 {
            faults.append("no run lost its warden")
        }
        show(
            verdict, victim, kills: kills.count, seconds: watch.seconds, edits: home.edits.editions.count,
            refused: sick.refused, faults)
        if !faults.isEmpty { folder.isKept = true }
        return faults.isEmpty
    }

    /// A life of random length, sometimes no longer than a daemon's start, with a message at a random moment.
    private static func lead(_ random: inout SeededNumbers, speak: () throws -> Int32) rethrows -> Int32? {
        let length = Int.random(in: 0..<100, using: &random) < 15 ? 0...300 : 300...2500
        let milliseconds = UInt32(Int.random(in: length, using: &random))
        let moment = UInt32.random(in: 0...milliseconds, using: &random)
        usleep(moment * 1000)
        let message = Bool.random(using: &random) ? try speak() : nil
        usleep((milliseconds - moment) * 1000)
        return message
    }

    private static func show(
        _ verdict: ChaosVerdict, _ victim: Victim, kills: Int, seconds: Double, edits: Int, refused: Int,
        _ faults: [String]
    ) {
        let lost = victim == .warden ? "\(verdict.lost) lost" : "\(verdict.adopted) adopted"
        print(
            """
              \(victim.rawValue) killed \(kills) times in \(seconds.short) s: \(verdict.slots) slots, \
            \(verdict.runs) runs, \(lost), \(verdict.retries) retries, \(verdict.starts) starts reported by the \
            jobs, \(edits) editions with \(verdict.changed) slots missed by them, \(verdict.notices) notices in \
            \(verdict.deliveries) deliveries, \(refused) of them refused in outages
            """)
        report(
            "lost, doubled, executed twice, outdated, undelivered", "\(faults.count) faults", limit: "0",
            isKept: faults.isEmpty)
        for fault in faults.prefix(40) { print("    \(fault)") }
    }
}
