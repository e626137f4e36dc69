import Delivery
import Grouping
import Ledger
import Settings
import Testing
import Tracking

@Suite struct `a job of a file` {
    @Test func `is read with all its policies`() throws {
        let configuration = try read(
            """
            zone: Europe/Berlin
            bots:
              ops: { notifications: { sound: dialog-warning, wait: 3s, preview: 80 } }
            jobs:
              home-backup:
                bot: ops
                schedule: { cron: "30 2 * * *", zone: America/New_York, gap: skip, fold: both }
                command: [restic, backup, --json, /home]
                env: { RESTIC_REPOSITORY: /mnt/backup }
                cwd: /home
                overlap: queue-one
                catchUp: { mode: all, within: 12h, burst: 50 }
                spread: 10m
                timeout: 2h
                grace: 30s
                retry: { attempts: 3, onLost: true, backoff: 1m }
                leftovers: { wait: 5m, then: fail }
                priority: -7
                concurrency: { key: backup disk, max: 2 }
            """)
        let job = try #require(configuration.jobs.first)
        var expected = JobSpec(
            name: "home-backup", bot: "ops",
            action: .command(["restic", "backup", "--json", "/home"]),
            schedule: ScheduleSpec(
                kind: .cron, text: "30 2 * * *", zone: "America/New_York", gap: "skip", fold: "both"))
        expected.environment = ["RESTIC_REPOSITORY": "/mnt/backup"]
        expected.directory = "/home"
        expected.catchUp = CatchUpPolicy(mode: .all, within: .seconds(12 * 3600), burst: 50)
        expected.spread = .seconds(600)
        expected.timeout = .seconds(7200)
        expected.grace = .seconds(30)
        expected.overlap = .queueOne
        expected.leftovers = LeftoverPolicy(wait: .seconds(300), then: .fail)
        (expected.attempts, expected.retriesLost, expected.backoff) = (3, true, .seconds(60))
        expected.priority = -7
        expected.concurrency = ConcurrencyKey(key: "backup disk", max: 2)
        #expect(job.spec == expected)
        #expect(job.place == "belfry.yaml:5")
        #expect(configuration.bots.first?.soundName == "dialog-warning")
        #expect(configuration.bots.first?.policy.wait == .seconds(3))
        #expect(configuration.bots.first?.policy.previewCharacters == 80)
    }

    @Test func `says how its notices look, as its bot does`() throws {
        let configuration = try read(
            """
            bots:
              ops: { notifications: { icon: /usr/share/pixmaps/robot.png, urgency: low } }
              web: { notifications: { icon: face-monkey } }
            jobs:
              a: { schedule: manual, shell: cat, notify: { urgency: normal, icon: drive-harddisk, sound: bell } }
              b: { schedule: manual, shell: cat, notify: { sounds: { failed: alarm }, preview: 40 } }
              c: { schedule: manual, shell: cat, notify: { preview: hidden } }
            """)
        #expect(configuration.bots.map(\.icon) == ["/usr/share/pixmaps/robot.png", "face-monkey"])
        #expect(configuration.bots.map(\.urgency) == [.low, nil])
        #expect(configuration.jobs.map(\.spec.urgency) == [.normal, nil, nil])
        #expect(configuration.jobs.map(\.spec.icon) == ["drive-harddisk", nil, nil])
        #expect(configuration.jobs.map(\.spec.sound) == ["bell", nil, nil])
        #expect(configuration.jobs.map(\.spec.sounds) == [[:], ["failed": "alarm"], [:]])
        #expect(configuration.jobs.map(\.spec.preview) == [nil, "40", "hidden"])
    }

    @Test(arguments: [
        (
            "bots: { ops: { notifications: { icon: icons/robot.png } } }",
            "belfry.yaml:1:39: bots.ops.notifications.icon: \"icons/robot.png\" is neither an icon's name nor an absolute path"
        ),
        ("bots: { ops: { notifications: { urgency: loud } } }", "\"loud\" is not known here"),
        (
            "jobs: { a: { schedule: manual, shell: cat, notify: { icon: ./robot.png } } }",
            "jobs.a.notify.icon: \"./robot.png\" is neither an icon's name nor an absolute path"
        ),
        (
            "jobs: { a: { schedule: manual, shell: cat, notify: { urgency: high } } }",
            "\"high\" is not known here"
        ),
        (
            "jobs: { a: { schedule: manual, shell: cat, notify: loudly } }",
            "write notify: { when: [failed] }"
        ),
        (
            "jobs: { a: { schedule: manual, shell: cat, notify: { sounds: { loud: x } } } }",
            "\"loud\" is no kind of news; the kinds are sent, status, failed, question, completed"
        ),
        (
            "jobs: { a: { schedule: manual, shell: cat, notify: { preview: 9 } } }",
            "is neither hidden nor a number from 10 to 500"
        ),
    ])
    func `names what is no icon and no urgency`(_ text: String, _ fault: String) {
        let error = #expect(throws: SettingsError.self) { try read(text) }
        #expect(error?.description.contains(fault) == true, "\(String(describing: error))")
    }

    @Test func `says who its processes are, what they read and how much they may use`() throws {
        let configuration = try read(
            """
            jobs:
              a:
                schedule: manual
                shell: cat
                user: nobody
                umask: 027
                nice: -5
                stdin: { text: "hello\\n" }
                limits: { memory: 2G, cpu: 90m, files: 64, processes: 10, fileSize: 512K, core: 0 }
              b: { schedule: manual, shell: cat, stdin: { file: /etc/hosts } }
              c: { schedule: manual, shell: cat, stdin: none }
            """)
        var rules = ProcessRules()
        (rules.user, rules.umask, rules.nice) = ("nobody", 0o27, -5)
        rules.input = .text("hello\n")
        rules.limits = [
            .memory: 2 << 30, .cpu: 5400, .files: 64, .processes: 10, .fileSize: 512 << 10, .core: 0,
        ]
        #expect(
            configuration.jobs.map(\.spec.process?.input) == [.text("hello\n"), .file("/etc/hosts"), nil])
        #expect(configuration.jobs[0].spec.process == rules)
        #expect(configuration.jobs[2].spec.process == nil)
    }

    @Test func `needs only what it does and when`() throws {
        let configuration = try read("jobs: { tick: { schedule: '* * * * * *', shell: date } }")
        let expected = JobSpec(
            name: "tick", action: .shell("date"),
            schedule: ScheduleSpec(kind: .cron, text: "* * * * * *", zone: "Europe/Vienna"))
        #expect(configuration.jobs.map(\.spec) == [expected])
    }

    @Test func `takes the zone of the file unless it names one`() throws {
        let configuration = try read(
            """
            zone: Asia/Tokyo
            jobs:
              here: { schedule: "0 9 * * *", shell: date }
              there: { schedule: { cron: "0 9 * * *", zone: UTC }, shell: date }
              asked: { schedule: manual, shell: date }
            """)
        #expect(configuration.jobs.map(\.spec.schedule.zone) == ["Asia/Tokyo", "UTC", "Asia/Tokyo"])
        #expect(configuration.jobs.map(\.spec.schedule.kind) == [.cron, .cron, .manual])
    }

    @Test func `may stand in a file of jobs.d`() throws {
        let configuration = try read(
            "bots: { ops: }\njobs: { a: { schedule: manual, shell: date } }",
            jobs: ["jobs.d/more.yaml": "# more\njobs:\n  b: { bot: ops, schedule: manual, shell: date }"])
        #expect(configuration.jobs.map(\.place) == ["belfry.yaml:2", "jobs.d/more.yaml:3"])
    }

    @Test func `is refused when another has its name, in whatever file`() {
        let job = "{ schedule: manual, shell: date }"
        #expect(
            refusal("jobs:\n  a: \(job)", jobs: ["jobs.d/more.yaml": "jobs:\n  b: \(job)\n  a: \(job)"])
                == """
                jobs.d/more.yaml:3:3: jobs: there is a job "a" already, at belfry.yaml:2; \
                give one of them another name
                    a: { schedule: manual, shell: date }
                    ^
                """)
        #expect(
            refusal("jobs:\n  backup: \(job)\n  # and\n  other: \(job)\n  \"backup\": \(job)\n") == """
                belfry.yaml:5:3: "backup" is given twice; the first is at belfry.yaml:2; \
                give one another name, or remove it
                    "backup": { schedule: manual, shell: date }
                    ^^^^^^
                """)
    }

    @Test func `is refused when a tag hides that its name stands twice`() {
        let job = "{ schedule: manual, shell: date }"
        #expect(refusal("jobs:\n  7: \(job)\n  !!int 7: \(job)").contains("\"7\" is given twice"))
    }

    @Test(arguments: [
        ("Backup", "begins with a-z or 0-9"), ("back up", "holds only a-z"),
        ("logs", "a subcommand of belfry run has this name"),
        ("''", "can't be empty"), ("-x", "begins with a-z or 0-9"),
    ])
    func `is refused with a bad name`(name: String, reason: String) {
        let shown = refusal("jobs:\n  \(name): { schedule: manual, shell: date }")
        #expect(shown.contains("belfry.yaml:2:"))
        #expect(shown.contains(reason))
    }

    @Test(arguments: [
        ("{}", "prompt: Hi", "belfry"),
        ("{ ops: { backend: { kind: command } } }", "bot: ops, prompt: Hi", "ops"),
        ("{ ops: }", "bot: ops, prompt: Hi", "ops"),
    ])
    func `is refused when its bot answers nobody`(bots: String, job: String, bot: String) {
        let shown = refusal("bots: \(bots)\njobs:\n  a: { schedule: manual, \(job) }\n")
        #expect(
            shown.contains(
                "belfry.yaml:3:3: jobs.a: bot \"\(bot)\" answers nobody: it has no backend; "
                    + "give it one: bots.\(bot).backend, or write bot: and the name of one that has"))
    }

    @Test func `is refused when it does nothing, or two things`() {
        #expect(
            refusal("jobs:\n  idle: { schedule: manual }") == """
                belfry.yaml:2:3: jobs.idle: this job does nothing; \
                give it a command: [program, argument], a shell: text, a prompt: for its bot, or a url:
                    idle: { schedule: manual }
                    ^^^^
                """)
        #expect(
            refusal("jobs:\n  torn: { schedule: manual, command: [a], shell: b }")
                .contains("a job has one of command, shell, prompt and url, not two"))
        #expect(
            refusal("jobs:\n  empty: { schedule: manual, command: [] }")
                .contains("belfry.yaml:2:39: jobs.empty.command: a command has at least one word"))
        #expect(refusal("jobs:\n  empty:").contains("belfry.yaml:2:3: jobs.empty: this job does nothing"))
    }

    @Test func `whose command or schedule is misspelt gets that fault alone`() {
        for job in ["{ schedule: manual, comand: [a] }", "{ shcedule: manual, shell: a }"] {
            let shown = refusal("jobs:\n  a: \(job)")
            #expect(shown.contains("did you mean"))
            #expect(shown.split(separator: "\n").count == 3, "one fault only: \(shown)")
        }
        #expect(refusal("jobs:\n  a: { schedule: manual, nice: 99 }").contains("this job does nothing"))
    }

    @Test func `whose schedule is a list of something else has each part refused at its place`() {
        let shown = refusal("jobs:\n  a: { schedule: [1, 2], shell: a }")
        #expect(shown.contains("schedule[0]: expected 5, 6 or 7 fields, found 1"))
        #expect(shown.contains("schedule[1]: expected 5, 6 or 7 fields, found 1"))
    }

    @Test func `that can never work is read, with a warning at the key at fault`() throws {
        let text = "jobs:\n  a: { schedule: manual, command: [nope] }"
        let configuration = try read(text) { reader in
            reader.doubts = { _ in [("command", "there is no program \"nope\"", "install it")] }
        }
        #expect(configuration.jobs.count == 1)
        #expect(
            configuration.warnings.map(\.description) == [
                """
                belfry.yaml:2:35: jobs.a.command: there is no program "nope"; install it
                    a: { schedule: manual, command: [nope] }
                                                    ^
                """
            ])
    }

    @Test func `is refused when a running daemon has another one of its name, or only warned of`() throws {
        let text = "jobs:\n  a: { schedule: manual, shell: date }"
        do throws(SettingsError) {
            _ = try read(text) { $0.takenNames = ["a"] }
            Issue.record("not refused")
        } catch {
            #expect(error.description.hasPrefix("belfry.yaml:2:3: jobs: the running daemon has a job \"a\""))
            #expect(error.description.contains("belfry job rm a"))
        }
        let warned = try read(text) { reader in
            reader.takenNames = ["a"]
            reader.refusesTaken = false
        }
        #expect(warned.warnings.count == 1)
    }

    @Test func `is refused when its bot is not described`() {
        #expect(
            refusal("bots: { ops: }\njobs:\n  a: { bot: obs, schedule: manual, shell: date }") == """
                belfry.yaml:3:13: jobs.a.bot: there is no bot "obs"; did you mean "ops"?
                    a: { bot: obs, schedule: manual, shell: date }
                              ^^^
                """)
    }

    @Test(arguments: [
        ("blackout: x", "\"blackout\"")
    ])
    func `shows what is not in this version`(line: String, word: String) {
        let schedule = line.hasPrefix("schedule") ? "" : "schedule: manual, "
        let shown = refusal("jobs:\n  a: { \(schedule)shell: date, \(line) }")
        #expect(shown.contains("\(word) is not in this version"))
        #expect(shown.split(separator: "\n").count == 3, "one fault only: \(shown)")
    }

    @Test func `shows one fault of a variable that names no file`() {
        let shown = refusal("jobs:\n  a: { schedule: manual, shell: date, env: { A: { env: B } } }")
        #expect(shown.split(separator: "\n").count == 3, "one fault only: \(shown)")
    }

    @Test(arguments: [
        ("timeout: 10", "\"10\" is not a duration; add a unit: 10s, 10m or 10h"),
        ("timeout: 40000d", "\"40000d\" is longer than 100 years"),
        ("timeout: 0s", "must be more than 0s; leave timeout out"),
        ("grace: soon", "\"soon\" is not a duration"),
        ("umask: 9", "\"9\" is not a file mode mask; write one in octal, as 027"),
        ("umask: 01777", "is not a file mode mask"), ("nice: 20", "whole number from -20 to 19"),
        ("stdin: text", "\"text\" is not known here"), ("stdin: { file: here }", "must be an absolute path"),
        ("stdin: { text: a, file: /b }", "a text or a file is expected"),
        ("limits: { memory: much }", "\"much\" is not a size; write one as 4096, 512K, 200M or 2G"),
        ("limits: { memory: 9999999T }", "is not a size"), ("limits: { cpu: 0s }", "more than 0s"),
        ("limits: { memory: 0 }", "must be at least 1"), ("limits: { files: 0 }", "whole number from 1"),
        ("limits: { disk: 1 }", "unknown key \"disk\""),
        ("cwd: here", "must be an absolute path"), ("command: ls", "expected a list, found text"),
        ("command: [a, [b]]", "jobs.a.command[1]: expected text, found a list"),
        ("command: [a, \"b\\0c\"]", "a text holds no zero byte"),
        ("env: [A=1]", "expected a map, found a list"),
        ("env: { A=B: 1 }", "\"A=B\" is no name of an environment variable"),
        ("labels: { \"\": x }", "the name of a label is empty; write one as host"),
        ("env: { A: { env: B } }", "a text or a file is expected; write { file: PATH }"),
        ("overlap: skp", "\"skp\" is not known here; did you mean \"skip\"?"),
        ("overlap: queueone", "did you mean \"queue-one\"?"),
        ("retry: { onLost: yes }", "\"yes\" is not known here; did you mean \"true\"?"),
        ("retry: { onLost: true }", "one attempt is never repeated; write attempts: 2, or more"),
        ("leftovers: end", "a map is expected"),
        ("leftovers: { then: kill }", "\"kill\" is not known here; known here: end, fail"),
        ("retry: { backoff: 0s }", "must be more than 0s"),
        ("priority: 101", "\"101\" is not a whole number from -100 to 100"),
        ("priority: high", "\"high\" is not a whole number from -100 to 100"),
        ("concurrency: disk", "write concurrency: { key: disk, max: 1 }"),
        ("concurrency: { max: 2 }", "no key; write concurrency: { key: disk, max: 1 }"),
        ("concurrency: { key: '' }", "can't be empty"),
        ("concurrency: { key: a, max: 0 }", "\"0\" is not a whole number from 1 to"),
        ("catchUp: none", "write catchUp: { mode: none }"),
        ("catchUp: { burst: 3 }", "applies only to mode: all"),
        ("catchUp: { mode: all, burst: 0 }", "\"0\" is not a whole number from 1 to 5000"),
        ("spread: 0s", "must be more than 0s"), ("spread: 300w 5000w", "is not a duration"),
        ("retry: { attempts: many }", "\"many\" is not a whole number from 1 to 100"),
        ("[x]: 1", "a key must be a text"),
    ])
    func `is refused when a value has the wrong form`(line: String, reason: String) {
        let action = line.hasPrefix("command") ? "" : "shell: date, "
        let shown = refusal("jobs:\n  a: { schedule: manual, \(action)\(line) }")
        #expect(shown.contains(reason))
        #expect(shown.hasPrefix("belfry.yaml:2:"))
    }
}

@Suite struct `what a job of a file says` {
    private func spec(_ line: String) throws -> JobSpec? {
        try read("jobs:\n  a:\n    schedule: manual\n    shell: date\n    \(line)\n").jobs.first?.spec
    }

    @Test(arguments: [
        ("notify: { message: output }", OutputMessage.lastLine),
        ("notify: { message: output, output: last-line }", .lastLine),
        ("notify: { message: output, output: tail }", .tail),
        ("notify: { output: all, message: output }", .all),
    ])
    func `is its output, as much as it wants`(line: String, part: OutputMessage) throws {
        #expect(try spec(line)?.outputMessage == part)
    }

    @Test(arguments: [
        ("notify: { when: [failed, completed] }", NotifyWish.only([.completed, .failed])),
        ("notify: { when: recovered }", .only([.recovered])), ("notify: { when: none }", .never),
        ("notify: { when: [] }", .never), ("notify: { after: 1m }", nil),
    ])
    func `is the outcomes that it names alone`(line: String, wish: NotifyWish?) throws {
        let spec = try #require(try spec(line))
        #expect(spec.notify == wish)
        let again: JobSpec = try JSON.decode(from: try JSON.encode(spec))
        #expect(again == spec)
    }

    @Test(arguments: [
        ("notify: { when: [failed, started] }", "\"started\" is not known here"),
        ("notify: { when: [done] }", "notify.when"),
        ("notify: { output: tail }", "applies only to message: output"),
        ("notify: { message: none }", "\"none\" is not known here"),
        ("notify: { message: output, output: head }", "\"head\" is not known here"),
        ("env: { A: { file: relative } }", "must be an absolute path"),
        ("env: { A: { path: /x } }", "path"), ("env: { A: [x] }", "text"),
    ])
    func `is refused with the reason`(line: String, fault: String) {
        let refusal = refusal("jobs:\n  a:\n    schedule: manual\n    shell: date\n    \(line)\n")
        #expect(refusal.contains(fault))
    }

    @Test func `holds secrets of files by their paths alone`() throws {
        let spec = try spec("env: { A: x, TOKEN: { file: /etc/token } }")
        #expect(spec?.environment == ["A": "x"] && spec?.secretFiles == ["TOKEN": "/etc/token"])
    }
}
