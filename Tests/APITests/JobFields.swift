import API
import ArgumentParser
import Grouping
import Host
import Ledger
import Settings
import Testing
import Timeline
import Tracking

@testable import belfry

@Suite struct `a field of a job` {
    private func spec() -> JobSpec {
        JobSpec(
            name: "a", action: .shell("date"), schedule: ScheduleSpec(kind: .manual, text: "", zone: "UTC"))
    }

    /// Reads a job of a file with these lines.
    private func read(_ lines: String, _ fields: JobFields = .standard) throws(SettingsError) -> JobSpec? {
        var reader = ConfigurationReader(hostZone: "UTC", zone: { _ in .utc }, readSecret: { _ in "" })
        reader.fields = fields
        let text = "jobs: { a: { schedule: manual, shell: date, \(lines) } }"
        return try reader.read(SourceText(name: "belfry.yaml", text: text)).jobs.first?.spec
    }

    private func draft(_ json: String) throws -> JSON {
        try WireCoding.decode(JobDraft.self, from: json.utf8).fields
    }

    @Test func `that a table has more is in files, drafts, policies, job show, help and options`() throws {
        let more = JobField("weight", .number(0...9), .at(\.priority), "How heavy it is.", option: "weight")
        let fields = JobFields(JobFields.standard.rows + [more])

        #expect(try read("weight: 7", fields)?.priority == 7)
        let refused = #expect(throws: SettingsError.self) { try read("weight: 10", fields) }
        #expect(
            refused?.description.contains("jobs.a.weight: \"10\" is not a whole number from 0 to 9") == true)

        var spec = spec()
        try fields.apply(draft(#"{"weight":3}"#), to: &spec)
        #expect(spec.priority == 3)
        let policies = fields.policies(of: spec)
        #expect(try WireCoding.text(policies).contains(#""weight":3"#))
        #expect(fields.summary(policies).hasSuffix("weight: 3"))

        try JobFieldOptions.$table.withValue(fields) {
            #expect(JobFieldOptions.helpMessage().contains("--weight <n>"))
            #expect(JobFieldOptions.helpMessage().contains("How heavy it is (default: 0)."))
            let given = try JobFieldOptions.parse(["--weight", "5"])
            #expect(given.values == .object(["weight": .int(5)]))
            #expect(throws: (any Error).self) { try JobFieldOptions.parse(["--weight", "10"]) }
        }
    }

    @Test func `that is a command is a program by its word, and a line for the shell by more`() throws {
        func given(_ words: String...) throws -> JSON { try JobFieldOptions.parse(words).values }
        #expect(
            try given("--wake", "/usr/local/bin/any-news")[path: "wake.command"]
                == ["/usr/local/bin/any-news"].json)
        #expect(try given("--wake", "news.sh")[path: "wake.command"] == ["news.sh"].json)
        #expect(
            try given("--wake", "./news.sh")[path: "wake.command"]?.elements.first?.text?.hasPrefix("/")
                == true)
        #expect(
            try given("--ensure-command", "test -s report")[path: "ensure.command"]
                == ["sh", "-c", "test -s report"].json)
        // Nothing at all removes it.
        #expect(try given("--wake", "")[path: "wake.command"] == .string(""))
    }

    @Test(arguments: [
        ("concurrency: { key: a, max: 1000001 }", #"{"concurrency":{"key":"a","max":1000001}}"#),
        ("concurrency: { max: 2 }", #"{"concurrency":{"max":2}}"#),
        ("env: { A=B: c }", #"{"env":{"A=B":"c"}}"#), (#"env: { A: "b\0" }"#, #"{"env":{"A":"b\u0000"}}"#),
        ("cwd: here", #"{"cwd":"here"}"#), ("retry: { onLost: true }", #"{"onLost":true}"#),
        ("retry: { attempts: 101 }", #"{"attempts":101}"#), ("priority: -101", #"{"priority":-101}"#),
        ("catchUp: { burst: 3 }", #"{"burst":3}"#),
        ("leftovers: { then: kill }", #"{"leftovers":{"then":"kill"}}"#),
        ("grace: 36601d", #"{"graceMs":3162326400000}"#), ("retry: { backoff: 0s }", #"{"backoffMs":0}"#),
        ("notify: { urgency: loud }", #"{"notify":{"urgency":"loud"}}"#),
        ("notify: { icon: a/b }", #"{"notify":{"icon":"a/b"}}"#),
        ("overlap: never", #"{"overlap":"never"}"#), ("timeout: soon", #"{"timeoutMs":"soon"}"#),
    ])
    func `has the same limits in files and in drafts`(line: String, json: String) throws {
        #expect(throws: SettingsError.self) { try read(line) }
        var spec = spec()
        #expect(throws: JobFault.self) { try JobFields.standard.apply(draft(json), to: &spec) }
    }

    @Test func `of no length is one where that has a meaning, in files and in drafts`() throws {
        let inFile = try #require(try read("grace: 0s, leftovers: { wait: 0s }"))
        var spec = spec()
        try JobFields.standard.apply(draft(#"{"graceMs":0,"leftovers":{"waitMs":0}}"#), to: &spec)
        #expect(inFile.grace == .zero && spec.grace == .zero)
        #expect(inFile.leftovers == spec.leftovers && spec.leftovers.wait == .zero)
    }

    @Test func `that may be missing is removed by a draft, and by null left as it is`() throws {
        var spec = spec()
        (spec.timeout, spec.spread) = (.seconds(5), .seconds(6))
        spec.concurrency = ConcurrencyKey(key: "disk", max: 3)
        try JobFields.standard.apply(draft(#"{"timeoutMs":null}"#), to: &spec)
        #expect(spec.timeout == .seconds(5))
        try JobFields.standard.apply(
            draft(#"{"timeoutMs":"none","spreadMs":"none","concurrency":{"key":"","max":1}}"#), to: &spec)
        #expect(spec.timeout == nil && spec.spread == nil && spec.concurrency == nil)
        let policies = JobFields.standard.policies(of: spec)
        #expect(policies["concurrency"] == nil && policies["limits"] == nil && policies["timeoutMs"] == nil)
    }

    @Test(arguments: [
        (#"{"leftovers":"fail"}"#, "leftovers"), (#"{"concurrency":[1]}"#, "concurrency"),
        (#"{"timeoutMs":""}"#, "timeoutMs"), (#"{"env":{"A":1}}"#, "env.A"),
        (#"{"catchUp":"ALL"}"#, "catchUp"),
        (#"{"attempts":0}"#, "attempts"),
    ])
    func `of a draft is refused by the name that the draft has for it`(json: String, name: String) throws {
        var spec = spec()
        let fault = #expect(throws: JobFault.self) {
            try JobFields.standard.apply(draft(json), to: &spec)
        }
        #expect(fault?.key == name)
        #expect(spec == self.spec())
    }

    @Test(arguments: [
        (#"{"timeuotMs":1}"#, "timeuotMs: no such field; did you mean \"timeoutMs\"?"),
        (#"{"timeout":1}"#, "timeout: no such field; it is called \"timeoutMs\" here"),
        (
            #"{"retry":{"attempts":2}}"#,
            "retry: no such field; it is called \"attempts\" and \"backoffMs\" and \"onLost\" here"
        ),
        (
            #"{"concurrency":{"key":"a","most":1}}"#,
            "concurrency.most: no such field; did you mean \"concurrency.max\"?"
        ),
        (#"{"whatever":{}}"#, "whatever: no such field"),
    ])
    func `that no draft has is refused by name, with the one that was meant`(json: String, text: String)
        throws
    {
        var spec = spec()
        let fault = try #require(
            #expect(throws: JobFault.self) { try JobFields.standard.apply(draft(json), to: &spec) })
        #expect("\(fault.key): \(fault.message)" + (fault.advice.map { "; \($0)" } ?? "") == text)
        #expect(spec == self.spec())
    }

    @Test func `of no length is refused everywhere alike, and none is what removes one`() throws {
        for (line, json, option) in [
            ("timeout: 0s", #"{"timeoutMs":0}"#, "--timeout"), ("spread: 0s", #"{"spreadMs":0}"#, "--spread"),
        ] {
            let name = String(line.prefix { $0 != ":" })
            let inFile = #expect(throws: SettingsError.self) { try read(line) }
            #expect(inFile?.problems.first?.message == "jobs.a.\(name): must be more than 0s")
            #expect(inFile?.problems.first?.hint == "leave \(name) out")
            var spec = spec()
            let inDraft = #expect(throws: JobFault.self) {
                try JobFields.standard.apply(draft(json), to: &spec)
            }
            #expect(
                inDraft?.message == "must be more than 0s" && inDraft?.advice == "write none for no \(name)")
            #expect(throws: (any Error).self) { try JobFieldOptions.parse([option, "0s"]) }
            #expect(
                try JobFieldOptions.parse([option, "none"]).values == .object([name + "Ms": .string("none")]))
            #expect(try read("\(name): none") == self.spec())
        }
    }

    @Test func `that limits memory needs some, and one of core dumps does not`() throws {
        #expect(throws: SettingsError.self) { try read("limits: { memory: 0 }") }
        #expect(throws: SettingsError.self) { try read("limits: { stack: 0K }") }
        #expect(try read("limits: { core: 0 }")?.rules.limits == [.core: 0])
    }

    @Test func `keeps what a draft does not name, also beside it in its map`() throws {
        var spec = spec()
        try JobFields.standard.apply(draft(#"{"concurrency":{"key":"disk","max":7}}"#), to: &spec)
        try JobFields.standard.apply(draft(#"{"concurrency":{"key":"net"}}"#), to: &spec)
        #expect(spec.concurrency == ConcurrencyKey(key: "net", max: 7))
        try JobFields.standard.apply(draft(#"{"concurrency":{"max":2}}"#), to: &spec)
        #expect(spec.concurrency == ConcurrencyKey(key: "net", max: 2))
    }

    @Test func `that needs another goes with it`() throws {
        var spec = spec()
        try JobFields.standard.apply(draft(#"{"attempts":2,"onLost":true}"#), to: &spec)
        try JobFields.standard.apply(draft(#"{"attempts":1}"#), to: &spec)
        #expect(!spec.retriesLost)
    }

    @Test func `names a user until a draft takes it back`() throws {
        var spec = spec()
        try JobFields.standard.apply(draft(#"{"user":"nobody"}"#), to: &spec)
        #expect(spec.rules.user == "nobody")
        try JobFields.standard.apply(draft(#"{"user":""}"#), to: &spec)
        #expect(spec.rules.user == nil)
    }

    @Test func `of its processes is set by drafts and options, and taken back`() throws {
        var spec = spec()
        try JobFields.standard.apply(
            draft(
                #"{"umask":"027","nice":-5,"stdin":{"text":"a\n"},"pty":true,"limits":{"cpu":60,"memory":"2G"},"env":{"A":"1"}}"#
            ), to: &spec)
        #expect(spec.rules.umask == 0o27 && spec.rules.nice == -5 && spec.rules.input == .text("a\n"))
        #expect(spec.rules.hasTerminal == true && spec.rules.limits == [.cpu: 60, .memory: 2 << 30])
        try JobFields.standard.apply(draft(#"{"env":{"B":"2"},"stdin":{"file":"/x"}}"#), to: &spec)
        #expect(spec.environment == ["A": "1", "B": "2"] && spec.rules.input == .file("/x"))
        try JobFields.standard.apply(
            draft(#"{"umask":"","nice":"","stdin":"","pty":false,"env":"","cwd":"","limits":{"cpu":1}}"#),
            to: &spec)
        #expect(spec.environment.isEmpty && spec.rules.limits == [.cpu: 1, .memory: 2 << 30])
        #expect(spec.rules.umask == nil && spec.rules.nice == nil && spec.rules.input == nil)
        #expect(spec.rules.hasTerminal == nil && spec.directory == nil)
        for json in [
            #"{"umask":"9"}"#, #"{"stdin":{"text":"a","file":"/x"}}"#, #"{"stdin":{"file":"x"}}"#,
            #"{"stdin":"x"}"#,
        ] {
            #expect(throws: JobFault.self, "\(json)") { try JobFields.standard.apply(draft(json), to: &spec) }
        }
    }

    @Test func `of its processes has an option`() throws {
        func read(_ words: String...) throws -> String {
            String(decoding: try JobFieldOptions.parse(words).values.bytes, as: UTF8.self)
        }
        #expect(
            try read("--env", "A=1", "--env", "B=x=y", "--env", "A=2") == #"{"env":{"A":"2","B":"x=y"}}"#)
        #expect(try read("--env", "") == #"{"env":""}"#)
        for file in ["{ file: /tmp/tok }", "{file:/tmp/tok}", "{  file:   /tmp/tok  }"] {
            #expect(try read("--env", "T=" + file) == #"{"env":{"T":{"file":"/tmp/tok"}}}"#)
        }
        #expect(try read("--env", "T={ fil: /x }") == #"{"env":{"T":"{ fil: /x }"}}"#)
        #expect(try read("--label", "t={ file: /x }") == #"{"labels":{"t":"{ file: /x }"}}"#)
        #expect(throws: (any Error).self) { try JobFieldOptions.parse(["--env", "T={ file: tok }"]) }
        #expect(JobFieldOptions.helpMessage(columns: 200).contains("'TOKEN={ file: /run/token }'"))
        #expect(try read("--nice", "-5", "--umask", "027") == #"{"nice":-5,"umask":"027"}"#)
        #expect(try read("--stdin", "/etc/hosts") == #"{"stdin":{"file":"/etc/hosts"}}"#)
        #expect(try read("--user", "", "--stdin", "") == #"{"user":"","stdin":""}"#)
        #expect(try read("--cwd", "/srv", "--pty") == #"{"cwd":"/srv","pty":true}"#)
        for words in [["--env", "A"], ["--env", "=1"], ["--nice", "20"], ["--umask", "9"]] {
            #expect(throws: (any Error).self, "\(words)") { try JobFieldOptions.parse(words) }
        }
    }

    @Test func `shows how notices look, in files, drafts, options and job show`() throws {
        let inFile = try #require(try read("notify: { urgency: low, icon: /a.png }"))
        var spec = spec()
        let given = try JobFieldOptions.parse(["--urgency", "low", "--icon", "/a.png"]).values
        try JobFields.standard.apply(given, to: &spec)
        #expect((spec.urgency, spec.icon) == (.low, "/a.png"))
        #expect((inFile.urgency, inFile.icon) == (.low, "/a.png"))
        let policies = JobFields.standard.policies(of: spec)
        #expect(JobFields.standard.summary(policies).contains("urgency: low, icon: /a.png"))
        try JobFields.standard.apply(draft(#"{"notify":{"urgency":"","icon":""}}"#), to: &spec)
        #expect(spec.urgency == nil && spec.icon == nil)
    }

    @Test func `counts whole milliseconds wherever it is read`() throws {
        #expect(throws: SettingsError.self) { try read("timeout: 500us") }
        #expect(throws: (any Error).self) { try JobFieldOptions.parse(["--timeout", "500us"]) }
        #expect(try read("timeout: 500ms")?.timeout == .milliseconds(500))
    }

    @Test func `of labels is a map in files and drafts, and pairs as options`() throws {
        let inFile = try #require(try read("labels: { host: db1, team: web }, notify: { after: 0s }"))
        #expect(inFile.labels == ["host": "db1", "team": "web"] && inFile.notifyAfter == .zero)
        var spec = spec()
        let draft = try draft(#"{"labels":{"host":"db1"},"notify":{"afterMs":60000}}"#)
        try JobFields.standard.apply(draft, to: &spec)
        #expect(spec.labels == ["host": "db1"] && spec.notifyAfter == .seconds(60))
        let policies = JobFields.standard.policies(of: spec)
        #expect(policies["labels"] == .object(["host": .string("db1")]))
        let words = "reported as completed after 1 min, labels: host=db1"
        #expect(JobFields.standard.summary(policies).hasSuffix(words))
        let given = try JobFieldOptions.parse(["--label", "host=db1", "--label", "team=a=b"])
        #expect(
            given.values == .object(["labels": .object(["host": .string("db1"), "team": .string("a=b")])]))
        try JobFields.standard.apply(JobFieldOptions.parse(["--label", ""]).values, to: &spec)
        #expect(spec.labels.isEmpty && JobFields.standard.policies(of: spec)["labels"] == nil)
        #expect(throws: (any Error).self) { try JobFieldOptions.parse(["--label", "host"]) }
        for bad in [#"{"a b":"x"}"#, #"{"a":""}"#, #"{"a":"x\ny"}"#] {
            #expect(throws: JobFault.self, "\(bad)") {
                try JobFields.standard.apply(self.draft(#"{"labels":"# + bad + "}"), to: &spec)
            }
        }
        let refused = #expect(throws: SettingsError.self) { try read("labels: { host name: db1 }") }
        #expect(refused?.description.contains("\"host name\" is not a label's name") == true)
    }

    @Test func `of a key and a number is split at the number`() throws {
        func read(_ text: String) throws -> JSON {
            try JobFieldOptions.parse(["--concurrency", text]).values
        }
        #expect(
            try read("disk=3") == .object(["concurrency": .object(["key": .string("disk"), "max": .int(3)])]))
        #expect(try read("a=b") == .object(["concurrency": .object(["key": .string("a=b")])]))
        #expect(throws: (any Error).self) { try read("=2") }
    }
}
