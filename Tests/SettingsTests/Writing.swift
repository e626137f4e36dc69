import Delivery
import Grouping
import Host
import Ledger
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Settings

@Suite struct `a job in the form of a file` {
    private let reader: ConfigurationReader = {
        let zones = ZoneFiles()
        return ConfigurationReader(
            hostZone: "Europe/Vienna", zone: { try? zones.rules(of: $0) }, readSecret: { _ in "" })
    }()

    private func spec(_ schedule: ScheduleSpec? = nil, _ change: (inout JobSpec) -> Void = { _ in })
        -> JobSpec
    {
        var spec = JobSpec(
            name: "backup", action: .command(["restic", "--json", "backup", "/home"]),
            schedule: schedule ?? ScheduleSpec(kind: .manual, text: "", zone: "Europe/Vienna"))
        change(&spec)
        return spec
    }

    private func text(_ spec: JobSpec) -> String { JobSource(spec, by: reader).text }

    private func read(_ text: String) throws(SettingsError) -> JobSpec {
        try reader.readJob(SourceText(name: "backup.yaml", text: text))
    }

    @Test func `is what a person would write`() {
        let schedule = ScheduleSpec(kind: .cron, text: "30 2 * * *", zone: "Europe/Berlin", gap: "skip")
        let job = spec(schedule) {
            $0.bot = "ops"
            $0.environment = ["LEVEL": "3", "REPOSITORY": "/mnt/backup"]
            $0.catchUp.mode = .none
            $0.timeout = .seconds(7200)
            $0.rules.umask = 0o27
        }
        #expect(
            text(job) == """
                jobs:
                  backup:
                    schedule: { cron: "30 2 * * *", zone: Europe/Berlin, gap: skip }
                    bot: ops
                    command: [restic, --json, backup, /home]
                    env:
                      LEVEL: "3"
                      REPOSITORY: /mnt/backup
                    catchUp: { mode: none }
                    timeout: 2h
                    umask: "027"

                """)
    }

    @Test func `keeps that a prompt is tried once, and only where that is written`() throws {
        for tries in ["", "    retry: { attempts: 1 }\n"] {
            let source = "jobs:\n  backup:\n    schedule: manual\n    bot: sage\n    prompt: Hi\n\(tries)"
            let job = try read(source)
            #expect(job.isTriedOnce == !tries.isEmpty)
            #expect(text(job).contains("retry: { attempts: 1 }") == !tries.isEmpty)
            #expect(try read(text(job)).isTriedOnce == job.isTriedOnce)
        }
    }

    @Test func `shows a script line by line`() throws {
        let job = spec { $0.action = .shell("set -e\n\ncd /home\n  tar c . | gzip >\"$OUT\"\n") }
        #expect(
            text(job) == """
                jobs:
                  backup:
                    schedule: manual
                    shell: |
                      set -e

                      cd /home
                        tar c . | gzip >"$OUT"

                """)
        #expect(try read(text(job)) == job)
        let prompt = spec { $0.action = .prompt("What is new?\n- mail\n- news\n") }
        #expect(try read(text(prompt)) == prompt)
        let words = spec { $0.action = .command(["bash", "-c", "one\ntwo", "-", ""]) }
        #expect(try read(text(words)) == words)
    }

    /// One value for every row of the table that is not by default.
    static let everyField: @Sendable (inout JobSpec) -> Void = { spec in
        spec.bot = "ops"
        spec.environment = ["A": "", "B C": "x: y # z", "Ü": "true"]
        spec.secretFiles = ["TOKEN": "/run/secrets/a b"]
        spec.directory = "/srv/my data"
        spec.overlap = .queueOne
        spec.catchUp = CatchUpPolicy(mode: .all, within: .seconds(7200), burst: 7)
        spec.spread = .milliseconds(1500)
        spec.timeout = .seconds(90)
        spec.grace = .zero
        spec.attempts = 3
        spec.retriesLost = true
        spec.backoff = .seconds(61)
        spec.leftovers = LeftoverPolicy(wait: .zero, then: .fail)
        spec.priority = -5
        spec.concurrency = ConcurrencyKey(key: "disk, [a]: {b}", max: 2)
        (spec.urgency, spec.icon, spec.notifyAfter) = (.low, "/srv/a b.png", .zero)
        spec.notify = .only([.failed, .completed])
        (spec.alertAfter, spec.sound) = (3, "bell: a")
        (spec.sounds, spec.preview) = (["failed": "/srv/a b.oga", "sent": "bell"], "hidden")
        (spec.labels, spec.outputMessage) = (["host": "db1", "a/b": "x: y"], .tail)
        spec.outputChannel = "in, box"
        spec.usually = .seconds(300)
        spec.progress = ProgressReading(tool: .tar, total: 60 << 20)
        spec.checks.file = "/srv/a b"
        spec.checks.output = "/done in \\d+ s/i"
        spec.checks.command = ["verify", "-x", "a, b"]
        spec.checks.timeout = .seconds(90)
        spec.rules.user = "0"
        spec.rules.nice = -20
        spec.rules.umask = 0
        spec.rules.input = .text("one\ntwo\n")
        spec.rules.hasTerminal = true
        spec.rules.limits = Dictionary(uniqueKeysWithValues: JobLimit.allCases.map { ($0, 1 << 20) })
    }

    @Test func `keeps every field of the table`() throws {
        let job = spec(nil, Self.everyField)
        // A job has one action.
        let others = ["shell", "prompt", "url.", "ensure.reply", "session", "wake."]
        for row in JobFields.standard.rows where !others.contains(where: row.key.hasPrefix) {
            #expect(row.get(job) != row.standard, "\(row.key) has no value here that is not by default")
        }
        #expect(try read(text(job)) == job)
        let silent = spec { $0.notify = .never }
        #expect(text(silent).contains("notify: { when: none }"))
        #expect(try read(text(silent)) == silent)
        let file = spec { $0.rules.input = .file("/etc/hosts") }
        #expect(try read(text(file)) == file)
        #expect(try read(text(spec())) == spec())
    }

    @Test func `keeps the script before a prompt`() throws {
        let job = spec {
            $0.action = .prompt("Hi")
            $0.wakeRule.command = ["any", "a, b"]
            $0.wakeRule.timeout = .seconds(5)
        }
        #expect(try read(text(job)) == job)
    }

    @Test func `keeps every part of a request`() throws {
        let plain = spec { $0.action = .url(URLAction(url: "https://example.org/hook?a=b")) }
        #expect(text(plain).contains("    url: \"https://example.org/hook?a=b\"\n"))
        #expect(try read(text(plain)) == plain)
        var request = URLAction(url: "http://10.0.0.1:8080/x")
        (request.method, request.allow) = ("PUT", ["10.0.0.0/8", "host.lan"])
        let flow = spec { $0.action = .url(request) }
        #expect(
            text(flow).contains(
                "url: { url: \"http://10.0.0.1:8080/x\", method: PUT, allow: [\"10.0.0.0/8\", host.lan] }"))
        #expect(try read(text(flow)) == flow)
        request.headers = ["Accept": "text/plain; q=1", "X-A": ""]
        request.secretFiles = ["Authorization": "/run/secrets/a b"]
        request.body = "one\n  two\n"
        request.expect = ["2xx", "304", "400-404"]
        let job = spec { $0.action = .url(request) }
        for row in JobFields.standard.rows where row.key.hasPrefix("url.") {
            #expect(row.get(job) != nil, "\(row.key)")
        }
        #expect(try read(text(job)) == job)
    }

    @Test(arguments: [
        ScheduleSpec(kind: .startup, text: "", zone: "Europe/Vienna"),
        ScheduleSpec(kind: .startup, text: "15m", zone: "Europe/Vienna"),
        ScheduleSpec(kind: .cron, text: "@daily", zone: "UTC", fold: "both"),
        ScheduleSpec(kind: .cron, text: "H H(0-3) * * mon-fri", zone: "America/New_York"),
        ScheduleSpec(kind: .every, text: "15m", zone: "Europe/Vienna"),
        ScheduleSpec(
            kind: .every, text: "15m", zone: "Europe/Vienna", anchor: Moment(seconds: 1_795_413_600)),
        ScheduleSpec(kind: .after, text: "30s", zone: "Europe/Vienna"),
        ScheduleSpec(kind: .at, text: "2030-01-31T08:00:00+01:00", zone: "Europe/Berlin"),
        ScheduleSpec(kind: .calendar, text: "2w fri 17:00 from 2026-11-27", zone: "Europe/Berlin"),
        ScheduleSpec(kind: .calendar, text: "3d 08:00:30", zone: "Europe/Vienna", gap: "skip", fold: "last"),
        ScheduleSpec(
            kind: .cron, text: "30 9 * * 1-5", zone: "Europe/Berlin", phrase: "every weekday at 9:30"),
    ])
    func `keeps its schedule`(schedule: ScheduleSpec) throws {
        let job = spec(schedule)
        #expect(try read(text(job)).isWritten(as: job), "\(text(job))")
    }

    @Test func `names a phrase only where a file means the same by it`() throws {
        // A file refuses a phrase whose first day depends on when it is read.
        let schedule = ScheduleSpec(
            kind: .calendar, text: "2w fri 17:00 from 2026-11-27", zone: "Europe/Berlin",
            phrase: "every other friday at 5pm")
        let written = text(spec(schedule))
        #expect(!written.contains("words") && written.contains("from: \"2026-11-27\""))
        _ = try read(written)
    }

    @Test func `reads back as the same text, whatever that is`() throws {
        var random = SeededGenerator(seed: 20_261_123)
        let pieces = [
            "a", " ", "  ", "\n", "\n\n", "\t", "#", ": ", "- ", "'", "\"", "\\", "|", ">", "%", "&x", "*x",
            "!",
            "---", "...", "{", "}", "[", "]", ",", "~", "true", "0x1", "1:30", "é", "日", "🎉", "\r", "\u{85}",
            "\u{2028}", "\u{FEFF}", "\u{7F}", "\u{1B}", "\u{A0}", "\u{FFFE}", "\u{1}", "=", "@", "`", "?",
        ]
        for _ in 0..<4000 {
            func text(_ longest: Int) -> String {
                let text = (0..<random.below(longest)).map { _ in pieces[random.below(pieces.count)] }
                    .joined()
                // The parser drops a mark of the encoding at the beginning of a text.
                return String(String.UnicodeScalarView(text.unicodeScalars.drop { $0 == "\u{FEFF}" }))
            }
            let job = spec {
                let script = text(12)
                $0.action = random.below(2) == 0 ? .shell("x" + script) : .command(["/x", script, text(5)])
                $0.environment = ["A" + text(4).filter { $0 != "=" }: text(8), "B": script]
                $0.rules.input = .text(text(9))
            }
            #expect(try read(self.text(job)) == job, "\(self.text(job))")
        }
        let long = spec { $0.environment = [String(repeating: "N", count: 3000): "v\nw"] }
        #expect(try read(text(long)) == long)
    }

    @Test(arguments: [
        ("", "one job is expected, found 0"), ("jobs: {}", "one job is expected, found 0"),
        ("jobs: { a: { schedule: manual, shell: x }, b: { schedule: manual, shell: x } }", "found 2"),
        ("zone: UTC", "unknown key \"zone\""), ("jobs: [", "not YAML"),
        ("jobs: { a: { schedule: manual, shell: x, timeut: 3s } }", "did you mean \"timeout\"?"),
    ])
    func `is refused with the place`(text: String, problem: String) {
        let error = #expect(throws: SettingsError.self) { try read(text) }
        #expect(error?.description.contains(problem) == true, "\(error?.description ?? "")")
    }
}
