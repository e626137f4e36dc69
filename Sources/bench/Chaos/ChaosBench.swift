import CronBench
import Glibc
import Host
import Timeline

/// Kills the daemon, and then the warden, at random moments under load, over and over; then counts.
///
/// An OpenClaw gateway and the notification server are killed beside them. Between the kills jobs are edited, removed
/// and added again, with and without a daemon, questions are asked, answered and left, and one of two receivers has
/// outages. Not a figure but a proof: it ends with 1 when a slot was lost or doubled, a job started twice, beside itself
/// or by an outdated definition, a notice lost or delivered under two ids, a run left open or, while its warden
/// lived, lost, or a question answered twice, answered to nobody, or still on the screen. After a hundred kills it also
/// ends with 1 when something that it is to prove never happened; a shorter run, or one on a slow machine, meets what it
/// meets, and prints what it did not.
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
        var asks = true

        init(_ arguments: [String]) throws {
            var rest = arguments[...]
            while let word = rest.popFirst() {
                switch word {
                case "--seed": seed = try Self.number(rest.popFirst())
                case "--jobs": jobs = try Self.number(rest.popFirst())
                case "--no-questions": asks = false
                default: rounds = try Self.number(word)
                }
            }
        }

        private static func number<Number: FixedWidthInteger>(_ word: String?) throws -> Number {
            guard let number = word.flatMap({ Number($0) }) else {
                throw BenchProcess.Failed(
                    program: "bench chaos [ROUNDS] [--seed SEED] [--jobs JOBS] [--no-questions]")
            }
            return number
        }
    }

    /// After so many kills everything that is to be proved must have happened.
    private static let killsThatProve = 100

    /// Kills the daemon as often as the first argument, 20 times without one, and the warden a fifth as often.
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
        let questions = try await ChaosQuestions(seed: random.next(), areAsked: options.asks)
        let home = try ChaosHome(
            folder: folder.path, quick: options.jobs, ports: (receivers.0.port, receivers.1.port),
            questions: questions)
        let watch = Stopwatch()
        var course = Course(victim: victim)
        try home.gateway.launch()
        try questions.showsAgain()
        try home.launch()
        try questions.begin(with: home.programs) { steady.link(of: $0) ?? sick.link(of: $0) }
        defer { questions.stop() }
        for round in 1...rounds {
            let isIll = Int.random(in: 0..<3, using: &random) == 0
            sick.set(isIll ? .allCases.randomElement(using: &random) : nil)
            if Int.random(in: 0..<3, using: &random) == 0 {
                await questions.desktop.kill()
                if Bool.random(using: &random) { try questions.showsAgain() }
            } else {
                try questions.showsAgain()
            }
            try course.run(round, in: home, &random)
        }
        sick.set(nil)
        try questions.showsAgain()
        try speakInPeace(after: rounds, in: home)
        var faults = course.faults
        if home.gateway.hasEnded { faults.append("the gateway ended by itself") }
        if try !(await home.comeToRest(within: 180)) {
            faults.append("it does not come to rest: \(home.unrest ?? "runs or deliveries are under way")")
        }
        questions.stop()
        let kills = course.kills
        let verdict = try await ChaosVerdict(
            of: home, kills: kills, threads: course.threads, webhooks: ["hook": steady, "sick": sick],
            mayLose: victim == .warden)
        faults += verdict.faults
        let unproved = unproved(verdict, victim, refused: sick.refused)
        if kills.count >= killsThatProve { faults += unproved }
        show(
            verdict, victim, kills: kills.count, seconds: watch.seconds, edits: home.edits.editions.count,
            refused: sick.refused, gatewayKills: home.gateway.kills, faults)
        if kills.count < killsThatProve, !unproved.isEmpty {
            print("    not met in \(kills.count) kills: \(unproved.joined(separator: ", "))")
        }
        if !faults.isEmpty { folder.isKept = true }
        return faults.isEmpty
    }

    /// Says something until it is accepted, when nothing is killed any more: on a slow machine all that was said in the
    /// rounds may have come to nothing.
    private static func speakInPeace(after rounds: Int, in home: ChaosHome) throws {
        for number in rounds + 1...rounds + 100 {
            if home.status(of: try home.talk.speak(number, in: home)) == 0 {
                return home.talk.accepted(number)
            }
            // The daemon may still be starting.
            usleep(200_000)
        }
    }

    /// What has happened to a home so far, round by round.
    private struct Course {
        let victim: Victim
        /// When something was killed.
        private(set) var kills: [Moment] = []
        /// The threads of the messages that were accepted.
        private(set) var threads: [String] = []
        private(set) var faults: [String] = []

        init(victim: Victim) { self.victim = victim }

        /// Edits the file, lives for a while with a message in it, and kills.
        mutating func run(_ round: Int, in home: ChaosHome, _ random: inout SeededNumbers) throws {
            // The gateway dies before the other victim, with it, or lives on.
            let strike = Int.random(in: 0..<3, using: &random)
            if strike == 0 {
                home.gateway.kill()
                try home.gateway.launch()
            }
            let change = ChangeTime.allCases.randomElement(using: &random) ?? .never
            var reload: (pid: Int32, edition: Int)?
            if change == .underDaemon {
                try home.edit(&random)
                reload = (try home.reload(), home.edits.current.number)
            }
            var prompt: Int32?
            let isAsking = Int.random(in: 0..<4, using: &random) > 0
            if isAsking { home.questions.order(2 * round) }
            let message = try ChaosBench.lead(&random) {
                home.questions.order(2 * round + 1)
                prompt = try home.talk.speak(round, in: home)
                return try home.begin("notify", "news", "--thread", "news-\(round)")
            }
            if home.hasDaemonEnded() {
                faults.append("round \(round): the daemon ended by itself")
                try home.launch()
            }
            if strike == 1 { home.gateway.kill() }
            defer { relaunch(home.gateway, strike == 1) }
            switch victim {
            case .daemon:
                kills.append(.now)
                home.kill()
                if Bool.random(using: &random) { home.questions.leaveUnseen() }
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
            if let prompt, home.status(of: prompt) == 0 { home.talk.accepted(round) }
        }

        /// Starts the gateway again where it was killed.
        private mutating func relaunch(_ gateway: ChaosGateway, _ wasKilled: Bool) {
            guard wasKilled else { return }
            do { try gateway.launch() } catch { faults.append("the gateway can't be started: \(error)") }
        }
    }

    /// What never came to pass, and so was not proved.
    private static func unproved(_ verdict: ChaosVerdict, _ victim: Victim, refused: Int) -> [String] {
        var missing: [String] = []
        if verdict.talk.replied == 0 || verdict.talk.answered == 0 { missing.append("no bot replied") }
        if verdict.gateway.replied == 0 { missing.append("no gateway replied") }
        missing += verdict.questions.unproved
        if refused == 0 { missing.append("no receiver had an outage") }
        switch victim {
        case .warden:
            if verdict.lost + verdict.retries == 0 { missing.append("no run lost its warden") }
        case .daemon:
            if verdict.adopted == 0 { missing.append("no run was adopted") }
            if verdict.changed == 0 { missing.append("no slot was missed by a changed definition") }
            if verdict.talk.cut == 0 { missing.append("no reply was cut off") }
            if verdict.talk.outlived == 0 { missing.append("no program's reply outlived a daemon") }
            if verdict.gateway.outlived == 0 { missing.append("no reply of a gateway outlived a daemon") }
            if verdict.questions.outlived == 0, verdict.questions.areAsked {
                missing.append("no question outlived a daemon")
            }
        }
        return missing
    }

    /// A life of random length, sometimes no longer than a daemon's start, with a message at a random moment.
    fileprivate static func lead(_ random: inout SeededNumbers, speak: () throws -> Int32) rethrows -> Int32?
    {
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
        gatewayKills: Int, _ faults: [String]
    ) {
        let lost = victim == .warden ? "\(verdict.lost) lost" : "\(verdict.adopted) adopted"
        print(
            """
              \(victim.rawValue) killed \(kills) times in \(seconds.short) s: \(verdict.slots) slots, \
            \(verdict.runs) runs, \(lost), \(verdict.retries) retries, \(verdict.starts) starts reported by the \
            jobs, \(edits) editions with \(verdict.changed) slots missed by them, \(verdict.notices) notices in \
            \(verdict.deliveries) deliveries, \(refused) of them refused in outages; \(verdict.talk.replied) prompts \
            replied to, \(verdict.talk.cut) cut off, \(verdict.talk.written) replies of a program, \
            \(verdict.talk.outlived) of them across a kill, \(verdict.rung) rings of replies, \
            \(verdict.talk.answered) sayings answered, \
            \(verdict.talk.summaries) summaries; the gateway killed \
            \(gatewayKills) times, \(verdict.gateway.replied) prompts replied to, \(verdict.gateway.outlived) of them across a \
            kill of the daemon, \(verdict.gateway.lost) lost by it, \(verdict.gateway.unsent) never sent; \
            \(verdict.questions.words)
            """)
        report(
            "lost, doubled, executed twice, outdated, undelivered", "\(faults.count) faults", limit: "0",
            isKept: faults.isEmpty)
        for fault in faults.prefix(40) { print("    \(fault)") }
    }
}

/// The jobs of a chaos home whose definition changes between the kills, and when each change took effect.
///
/// An edited job prints its edition when it starts, so that a run of an outdated definition is seen. A fleeting job is
/// removed from the file and added again.
struct ChaosEdits {
    /// One state of the file.
    struct Edition {
        var number: Int
        /// The fleeting jobs that the file lists.
        var present: Set<String>
        /// Just before the file was replaced: no earlier run can belong to this edition.
        var writtenAt: Moment
        /// When a daemon had certainly loaded it: no later run may belong to an older one.
        ///
        /// Nil while none has.
        var effectiveAt: Moment?
    }

    static let edited = (0..<3).map { "edited-\($0)" }
    static let fleeting = (0..<2).map { "fleeting-\($0)" }

    private(set) var editions: [Edition]

    init() {
        editions = [
            Edition(
                number: 1, present: Set(Self.fleeting), writtenAt: Moment(seconds: 0),
                effectiveAt: Moment(seconds: 0))
        ]
    }

    /// What the file contains now.
    var current: Edition { editions[editions.count - 1] }

    /// Makes the next edition, to be written at once: every edited job changes, a fleeting one comes or goes.
    mutating func advance(_ random: inout SeededNumbers, at now: Moment) {
        var next = Edition(number: current.number + 1, present: current.present, writtenAt: now)
        let toggled = Self.fleeting[Int.random(in: 0..<Self.fleeting.count, using: &random)]
        if next.present.remove(toggled) == nil { next.present.insert(toggled) }
        editions.append(next)
    }

    /// Makes the edition in which every job is there.
    mutating func complete(at now: Moment) {
        editions.append(
            Edition(number: current.number + 1, present: Set(Self.fleeting), writtenAt: now))
    }

    /// Notes that a daemon has loaded the edition of this number, and with it replaced all before.
    mutating func loaded(_ number: Int, by moment: Moment) {
        for index in editions.indices
        where editions[index].number <= number && editions[index].effectiveAt == nil {
            editions[index].effectiveAt = moment
        }
    }

    // MARK: What may be

    /// The editions under which a run that was queued at `moment` may have been made.
    func mayBe(at moment: Moment) -> ClosedRange<Int> {
        let oldest = editions.last { $0.effectiveAt.map { $0 < moment } ?? false }?.number ?? 1
        let newest = editions.last { $0.writtenAt <= moment }?.number ?? 1
        return oldest...max(oldest, newest)
    }

    /// Whether an edition that may have been loaded at `moment` listed the job.
    func mayBeListed(_ job: String, at moment: Moment) -> Bool {
        !Self.fleeting.contains(job) || present(in: mayBe(at: moment)).contains { $0.contains(job) }
    }

    /// Whether every edition listed the job that may have been loaded at `moment`, or in the time before it in which a
    /// busy machine's daemon starts: one that was replaced within a second counts.
    func wasListed(_ job: String, at moment: Moment) -> Bool {
        guard Self.fleeting.contains(job) else { return true }
        let oldest = mayBe(at: moment - .seconds(30)).lowerBound
        return present(in: oldest...mayBe(at: moment).upperBound).allSatisfy { $0.contains(job) }
    }

    private func present(in range: ClosedRange<Int>) -> [Set<String>] {
        editions.filter { range.contains($0.number) }.map(\.present)
    }
}
