import CronBench
import Glibc
import Host
import Synchronization
import Timeline

/// Deliveries over six forms while receivers die, hang and refuse, channels are edited, and the daemon is killed.
///
/// Not a figure but a proof: it ends with 1 when something was never delivered, came under two ids, in another order than
/// its job's runs have, or was given up.
enum ChannelChaos {
    private static let kills = 10

    private struct Options {
        var deliveries = 10_000
        var seed = UInt64.random(in: 0 ... .max)

        init(_ arguments: [String]) throws {
            var rest = arguments[...]
            while let word = rest.popFirst() {
                let text = word == "--seed" ? rest.popFirst() : word
                guard let number = text.flatMap({ UInt64($0) }) else {
                    throw BenchProcess.Failed(program: "bench chaos-channels [DELIVERIES] [--seed SEED]")
                }
                if word == "--seed" { seed = number } else { deliveries = Int(clamping: number) }
            }
        }
    }

    /// Makes so many deliveries, 10,000 unless the first argument differs, and kills the daemon ten times meanwhile.
    static func run(arguments: [String]) async throws {
        let options = try Options(arguments)
        print("  \(options.deliveries) deliveries, seed \(options.seed)")
        var random = SeededNumbers(seed: options.seed)
        let folder = try BenchFolder()
        let book = DeliveryBook()
        let receivers = try receivers(book, &random)
        let home = try ChannelHome(folder: folder.path, ports: receivers.mapValues(\.port))
        let weather = Weather(receivers, home.program, seed: random.next())
        let watch = Stopwatch()
        var faults: [String] = []
        try home.launch()
        try weather.begin()
        // The start and the end of each.
        let runs = options.deliveries / ChannelHome.standing.count / 2
        for kill in 1...kills {
            if Bool.random(using: &random) {
                try home.edit(&random)
                _ = home.status(of: try home.begin("reload"))
            }
            let tests = try home.tryChannels()
            while home.starts < runs * kill / (kills + 1), !home.hasDaemonEnded() { usleep(20_000) }
            usleep(UInt32.random(in: 0..<500_000, using: &random))
            if home.daemon == nil { faults.append("the daemon ended by itself before kill \(kill)") }
            home.kill()
            if Bool.random(using: &random) { try home.edit(&random) }
            try home.launch()
            for test in tests { _ = home.status(of: test) }
        }
        while home.starts < runs + runs / 20 { usleep(50_000) }
        try weather.end()
        if try !(await home.comeToRest(within: 300, &faults)) { faults.append("it does not come to rest") }
        let verdict = try await ChannelVerdict(of: home, book)
        faults += verdict.faults
        var answered: [SickReceiver.Mood: Int] = [:]
        for receiver in receivers.values { answered.merge(receiver.answered, uniquingKeysWith: +) }
        let moods = answered.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            "\($0.key.rawValue) \($0.value)"
        }
        print(
            """
              \(book.requests) requests; \(kills) kills in \(watch.seconds.short) s: \(verdict.runs) runs, \(verdict.entries) entries over \
            \(ChannelHome.standing.count + 1) channels, \(verdict.accepted) times accepted, \(verdict.repeated) of them \
            again under the same id; receivers: \(moods.joined(separator: ", ")); \(weather.changes) changes of them
            """)
        report(
            "undelivered, doubled, out of order, given up, reports lost", "\(faults.count) faults",
            limit: "0",
            isKept: faults.isEmpty)
        for fault in faults.prefix(40) { print("    \(fault)") }
        guard faults.isEmpty else {
            folder.isKept = true
            exit(1)
        }
    }

    /// The receivers of all channels but the program.
    private static func receivers(
        _ book: DeliveryBook, _ random: inout SeededNumbers
    ) throws -> [String: SickReceiver] {
        let kinds: [(channel: String, language: SickReceiver.Language, idHeader: String?)] = [
            ("hook", .http, "webhook-id"), ("events", .http, "ce-id"), ("phone", .http, nil),
            ("chat", .http, nil),
            ("inbox", .mail, "message-id"), (ChannelHome.fleeting, .http, "webhook-id"),
        ]
        var receivers: [String: SickReceiver] = [:]
        for kind in kinds {
            receivers[kind.channel] = try SickReceiver(kind.language, seed: random.next()) {
                book.receive($0, over: kind.channel, idHeader: kind.idHeader, isAccepted: $1)
            }
        }
        return receivers
    }

    /// Changes the moods of receivers, on a thread of its own.
    private final class Weather: Sendable {
        private let receivers: [String: SickReceiver]
        private let seed: UInt64
        private let state = Mutex((isOver: false, hasEnded: true, changes: 0))
        private let program: SickProgram

        init(_ receivers: [String: SickReceiver], _ program: SickProgram, seed: UInt64) {
            (self.receivers, self.program, self.seed) = (receivers, program, seed)
        }

        /// How often one of them changed.
        var changes: Int { state.withLock(\.changes) }

        func begin() throws {
            state.withLock { $0.hasEnded = false }
            try BackgroundThread.start(named: "weather") { [self] in
                var random = SeededNumbers(seed: seed)
                while !state.withLock({ $0.isOver }) {
                    change(&random)
                    usleep(UInt32.random(in: 50_000..<600_000, using: &random))
                }
                state.withLock { $0.hasEnded = true }
            }
        }

        private func change(_ random: inout SeededNumbers) {
            // Half of the time it is well, or nearly so.
            let moods: [SickReceiver.Mood] =
                SickReceiver.Mood.allCases + [.well, .well, .mixed, .mixed, .mixed]
            guard let mood = moods.randomElement(using: &random),
                let name = ChannelHome.standing.randomElement(using: &random)
            else { return }
            state.withLock { $0.changes += 1 }
            if name == "program" {
                try? program.set(mood)
                return
            }
            try? receivers[name]?.set(mood)
            if Bool.random(using: &random) {
                try? receivers[ChannelHome.fleeting]?.set(moods.randomElement(using: &random) ?? .well)
            }
        }

        /// Makes everybody well, for good.
        func end() throws {
            state.withLock { $0.isOver = true }
            while !state.withLock({ $0.hasEnded }) { usleep(10_000) }
            for receiver in receivers.values { try receiver.set(.well) }
            try program.set(.well)
        }
    }
}
