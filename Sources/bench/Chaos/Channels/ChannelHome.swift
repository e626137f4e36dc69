import CronBench
import Glibc
import Host
import Ledger
import LedgerSQLite
import Timeline
import Tracking

/// A home whose jobs complete each second, and the channels of six forms that hear of each run.
///
/// Each run says its own name, so that every body has it, whatever its form.
final class ChannelHome: DaemonHome {
    /// The channels that are always there, in the order of their receivers, and the one that comes and goes.
    static let standing = ["hook", "events", "phone", "chat", "inbox", "program"]
    static let fleeting = "fleeting"
    /// What each run reports of itself begins with this and ends with a colon, and what some of them say as a message of
    /// their bot: both have the run's name.
    static let (mark, word) = ("said:", "word:")
    private static let jobCount = 24
    /// The first of them say something each time.
    static let talkers = (0..<4).map { "job-\($0)" }

    /// Where each channel leads to; the program has no port.
    private let ports: [String: UInt16]
    /// The program that is a channel.
    let program: SickProgram
    private var edition = 1
    private var hasFleeting = true

    init(folder: String, ports: [String: UInt16]) throws {
        self.ports = ports
        program = SickProgram(folder: folder)
        try super.init(folder: folder)
        try program.write()
        try writeConfiguration()
    }

    /// How many runs have been started so far.
    var starts: Int {
        let text = (try? SmallFile.text(folder + "/done", limit: 1 << 26)) ?? ""
        return text.utf8.count { $0 == UInt8(ascii: ".") }
    }

    // MARK: The file

    /// Replaces the file by its next edition, in which each channel is another one in something.
    func edit(_ random: inout SeededNumbers) throws {
        edition += 1
        hasFleeting = Bool.random(using: &random)
        try writeConfiguration()
    }

    /// Lists every channel again.
    func complete() throws {
        edition += 1
        hasFleeting = true
        try writeConfiguration()
    }

    private func writeConfiguration() throws {
        // Whoever knows such an address can post there, so it is a secret.
        try SmallFile.replace(
            folder + "/chat", with: Array("http://127.0.0.1:\(port("chat"))/hooks/\(edition / 3)\n".utf8),
            mode: 0o600)
        try SmallFile.replace(folder + "/belfry.yaml", with: Array(configuration.utf8))
    }

    private func port(_ channel: String) -> UInt16 { ports[channel] ?? 0 }

    private var configuration: String {
        let here = "allow: [127.0.0.1/32]"
        let timeout = "timeout: \(2 + edition % 2)s"
        let recipients = edition.isMultiple(of: 2) ? "ops@example.org" : "ops@example.org, all@example.org"
        let names = Self.standing + (hasFleeting ? [Self.fleeting] : [])
        let jobs = (0..<Self.jobCount).map { number in
            let job = "job-\(number)"
            let says = Self.talkers.contains(job)
            return """
                  \(job): { schedule: "* * * * * *", \(says ? "notify: { message: output }, " : "")shell: 'echo . >> \
                \(folder)/done; echo "{\\"message\\":\\"\(Self.mark)$BELFRY_RUN:\\"}" >&$PROGRESS_FD; \
                \(says ? "echo \(Self.word)$BELFRY_RUN:" : "true")' }

                """
        }.joined()
        let fleeting = """
              \(Self.fleeting): { kind: webhook, url: "http://127.0.0.1:\(port(Self.fleeting))/", \(here), \(timeout) }

            """
        return """
            zone: UTC
            bots:
              belfry: { backend: { kind: command }, notifications: { failures: each } }
            jobs:
            \(jobs)channels:
              hook: { kind: webhook, url: "http://127.0.0.1:\(port("hook"))/\(edition / 3)", \(here), \(timeout) }
              events: { kind: cloudevents, url: "http://127.0.0.1:\(port("events"))/", mode: \
            \(edition.isMultiple(of: 2) ? "binary" : "structured"), \(here), \(timeout) }
              phone: { kind: ntfy, url: "http://127.0.0.1:\(port("phone"))/topic-\(edition)", \(here), \(timeout) }
              chat: { kind: slack, url: "http://127.0.0.1:\(port("chat"))", webhook: { file: \(folder)/chat }, \
            \(here), \(timeout) }
              inbox: { kind: mail, url: "smtp://127.0.0.1:\(port("inbox"))", tls: none, from: bell@example.org, \
            to: [\(recipients)], \(here), \(timeout) }
              program: { kind: command, command: [sh, \(program.path), edition-\(edition)], \(timeout) }
            \(hasFleeting ? fleeting : "")routes:
              - { when: [started, completed, message], to: [\(names.joined(separator: ", "))] }
              - { when: [failed, lost], to: [hook] }

            """
    }

    // MARK: Coming to rest

    /// Tries every channel, as a person does who wants to know whether it works again, and waits for nothing; the commands.
    func tryChannels() throws -> [Int32] {
        try (Self.standing + [Self.fleeting]).map { try begin("channel", "test", $0) }
    }

    /// Waits until every entry is sent, and ends the daemon; whether that came to pass within so many seconds.
    ///
    /// What failed waits for its own next try, minutes ahead; a person's retry makes it due. `faults` gets what was given up
    /// before that.
    func comeToRest(within seconds: Double, _ faults: inout [String]) async throws -> Bool {
        let watch = Stopwatch()
        try complete()
        while try run("reload").code != 0, watch.seconds < seconds { usleep(100_000) }
        var unpaused = Set((0..<Self.jobCount).map { "job-\($0)" })
        while !unpaused.isEmpty, watch.seconds < seconds {
            for job in unpaused where try run("job", "pause", job).code == 0 { unpaused.remove(job) }
        }
        let (code, text) = try run("outbox", "list", "--state", "dead,expired,discarded,superseded", "--json")
        if code != 0 || text.split(whereSeparator: \.isWhitespace) != ["[]"] {
            faults.append("entries were given up: \(text.prefix(600))")
        }
        while watch.seconds < seconds {
            for channel in Self.standing + [Self.fleeting] {
                try run("outbox", "retry", "--channel", channel)
            }
            for _ in 0..<50 {
                if try isIdle() {
                    stop()
                    if try await isFollowed() { return true }
                    try launch()
                }
                usleep(100_000)
            }
        }
        stop()
        return false
    }

    /// Whether every run that completed has its entries.
    private func isFollowed() async throws -> Bool {
        let ledger = try SQLiteLedger(path: folder + "/state/ledger.sqlite")
        let completed = try await ledger.runs(RunFilter()).filter { $0.state == .completed }
        let followed = Set(
            try await ledger.outbox(states: [], limit: .max).filter { $0.channel == "hook" }.compactMap(\.run)
        )
        await ledger.close()
        return completed.allSatisfy { followed.contains($0.id) }
    }
}
