import CronBench
import Glibc
import Host
import Ledger
import LedgerSQLite
import Timeline

/// A home with jobs in it, and the daemon that is killed over and over.
///
/// What each job does it writes to the file `done` itself, one line a start, and one more at its end where it
/// takes its time: the ledger's word is compared with that.
final class ChaosHome: DaemonHome {
    /// The jobs that take their time: more than most daemons here live.
    private static let slow = (count: 4, period: 4)
    /// The jobs that fail at first, and have time for another attempt before their next slot.
    private static let clumsy = (count: 4, period: 10)
    /// The jobs that leave a process behind, hold a lock by it, and may be done again when they are lost.
    private static let untidy = (count: 3, period: 5)
    /// The jobs whose runs wait for their part of a spread that is longer than their interval, each by another policy.
    private static let spread = (policies: ["skip", "queue-one", "queue-all"], period: 2)

    private let quick: Int
    private let ports: (hook: UInt16, sick: UInt16)
    /// Its bots, and what was said to them.
    var talk: ChaosTalk
    /// The gateway that two of its bots are behind.
    let gateway: ChaosGateway
    /// What is asked in it, and the desktop where it is shown.
    let questions: ChaosQuestions
    /// The jobs that change between the kills.
    private(set) var edits = ChaosEdits()

    /// Makes the home: `quick` jobs that start every second, and webhooks to two ports of this machine.
    init(
        folder: String, quick: Int, ports: (hook: UInt16, sick: UInt16), questions: ChaosQuestions
    ) throws {
        self.quick = quick
        self.ports = ports
        talk = try ChaosTalk()
        gateway = try ChaosGateway(home: folder)
        self.questions = questions
        try super.init(folder: folder, bus: questions.desktop.address)
        try SmallFile.replace(folder + "/scribe", with: Array(ChaosTalk.program(done: done).utf8))
        try writeConfiguration()
    }

    /// The names of all jobs, with the seconds from slot to slot.
    var periods: [String: Int] {
        var periods = Dictionary(uniqueKeysWithValues: quickJobs.map { ($0, 1) })
        for job in slowJobs { periods[job] = Self.slow.period }
        for job in clumsyJobs { periods[job] = Self.clumsy.period }
        for job in untidyJobs { periods[job] = Self.untidy.period }
        for job in spreadJobs { periods[job] = Self.spread.period }
        for job in ChaosEdits.edited + ChaosEdits.fleeting { periods[job] = 1 }
        for job in ChaosTalk.jobs + [ChaosTalk.programJob] { periods[job] = ChaosTalk.period }
        for job in ChaosGateway.jobs { periods[job] = ChaosGateway.period }
        if questions.areAsked { periods[ChaosQuestions.job] = ChaosQuestions.period }
        return periods
    }

    private var quickJobs: [String] { (0..<quick).map { "quick-\($0)" } }
    private var slowJobs: [String] { (0..<Self.slow.count).map { "slow-\($0)" } }
    private var clumsyJobs: [String] { (0..<Self.clumsy.count).map { "clumsy-\($0)" } }
    private var untidyJobs: [String] { (0..<Self.untidy.count).map { "untidy-\($0)" } }

    private var spreadJobs: [String] { Self.spread.policies.map { "spread-\($0)" } }

    /// Writes the file as the current edition has it, with each edited job changed.
    private func writeConfiguration() throws {
        try SmallFile.replace(folder + "/belfry.yaml", with: Array(configuration().utf8))
    }

    private func configuration() -> String {
        let edition = edits.current
        let words = "\"\(edition.number) $BELFRY_RUN_ID $BELFRY_ATTEMPT"
        var jobs = ""
        for job in ChaosEdits.edited + edition.present.sorted() {
            jobs += """
                  \(job): { schedule: "* * * * * *", shell: 'echo \(words) begin" >> \(done)' }

                """
        }
        jobs += steadyJobs
        return """
            zone: UTC
            \(questions.lines)bots:
            \(talk.bots)\(gateway.bots)jobs:
            \(jobs)\(talk.jobLines)\(gateway.jobLines)\(questionJob)channels:
              hook: { kind: webhook, url: "http://127.0.0.1:\(ports.hook)/hook", allow: [127.0.0.1/32] }
              sick: { kind: webhook, url: "http://127.0.0.1:\(ports.sick)/hook", allow: [127.0.0.1/32] }
            \(questions.channel)routes:
              - { when: [completed, failed, lost, missed, recovered, canceled, message], to: [hook, sick] }
            \(questions.route)
            """
    }

    private var questionJob: String {
        questions.jobLines(
            begin: "echo \"0 $BELFRY_RUN_ID $BELFRY_ATTEMPT begin\" >> \(done)",
            belfry: programs.binaries + "/belfry", folder: folder)
    }

    /// The jobs that stay as they are.
    private var steadyJobs: String {
        let words = "\"0 $BELFRY_RUN_ID $BELFRY_ATTEMPT"
        var jobs = ""
        for (number, job) in quickJobs.enumerated() {
            let end = number == 0 ? "exit 3" : "exit 0"
            jobs += """
                  \(job): { schedule: "* * * * * *", shell: 'echo \(words) begin" >> \(done); \(end)' }

                """
        }
        for (number, job) in slowJobs.enumerated() {
            jobs += """
                  \(job): { schedule: "\(number)-59/\(Self.slow.period) * * * * *", shell: 'echo \(words) begin" >> \
                \(done); sleep 2.5; echo \(words) end" >> \(done)' }

                """
        }
        for (number, job) in clumsyJobs.enumerated() {
            jobs += """
                  \(job): { schedule: "\(number)-59/\(Self.clumsy.period) * * * * *", \
                retry: { attempts: 3, backoff: 1s }, shell: 'echo \(words) begin" >> \(done); \
                test $BELFRY_ATTEMPT -gt 1' }

                """
        }
        for (number, job) in untidyJobs.enumerated() {
            // Whoever finds the lock of its run taken says so: another attempt is still at it.
            jobs += """
                  \(job): { schedule: "\(number)-59/\(Self.untidy.period) * * * * *", \
                retry: { attempts: 3, backoff: 1s, onLost: true }, shell: 'echo \(words) begin" >> \(done); \
                (setsid flock -n \(folder)/lock-$BELFRY_RUN_ID sleep 2.5 || echo \(words) beside" >> \(done)) & \
                sleep 1' }

                """
        }
        for (job, policy) in zip(spreadJobs, Self.spread.policies) {
            jobs += """
                  \(job): { schedule: "*/\(Self.spread.period) * * * * *", spread: 5s, overlap: \(policy), \
                shell: 'echo \(words) begin" >> \(done)' }

                """
        }
        return jobs
    }

    private var done: String { folder + "/done" }

    /// What the jobs wrote, line by line.
    var lines: [Substring] {
        (try? SmallFile.text(done, limit: 1 << 30))?.split(separator: "\n") ?? []
    }

    // MARK: Edits

    /// Replaces the file by its next edition; ``reload()`` or ``launch()`` loads it.
    func edit(_ random: inout SeededNumbers) throws {
        edits.advance(&random, at: .now)
        try writeConfiguration()
    }

    /// Asks the daemon to load the file and waits for nothing; the request's process.
    func reload() throws -> Int32 { try begin("reload") }

    /// Notes whether the reload of edition `number` has succeeded.
    func noteReload(_ pid: Int32, of number: Int) {
        if status(of: pid) == 0 { edits.loaded(number, by: .now) }
    }

    /// Starts the daemon, which loads the file, and waits for nothing.
    override func launch() throws {
        edits.loaded(edits.current.number, by: .now)
        try super.launch()
    }

    // MARK: Coming to rest

    /// Waits until nothing is under way, ends the daemon, and starts it again for what still waits for more of its
    /// thread: `status` does not count it; false when that takes `seconds`.
    func comeToRest(within seconds: Double) async throws -> Bool {
        let watch = Stopwatch()
        while try settle(within: seconds - watch.seconds) {
            stop()
            let ledger = try SQLiteLedger(path: folder + "/state/ledger.sqlite")
            let waiting = try await ledger.itemsToWake(limit: 1)
            await ledger.close()
            // What repeats itself after hours is nothing to wait for.
            if waiting.allSatisfy({ $0.flushAt.map { $0 > .now + .seconds(60) } ?? true }) { return true }
            try launch()
        }
        stop()
        return false
    }

    /// Lists every job again, pauses them all and waits until nothing is under way; false when that takes `seconds`.
    func settle(within seconds: Double) throws -> Bool {
        let watch = Stopwatch()
        edits.complete(at: .now)
        try writeConfiguration()
        while try run("reload").code != 0, watch.seconds < seconds { usleep(100_000) }
        edits.loaded(edits.current.number, by: .now)
        // What an outage left waits for the channel's own next try, or for a test of the channel.
        try run("channel", "test", "sick")
        var unpaused = Set(periods.keys)
        while watch.seconds < seconds {
            for job in unpaused where try run("job", "pause", job).code == 0 { unpaused.remove(job) }
            if unpaused.isEmpty, try isIdle(), areQuestionsAtRest() { return true }
            usleep(100_000)
        }
        return false
    }

    /// What of its questions is not at rest, while a daemon runs; nil: nothing.
    private(set) var unrest: String?

    private func areQuestionsAtRest() -> Bool {
        unrest = questions.unrest(programs)
        return unrest == nil
    }
}
