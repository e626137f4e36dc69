import API
import ArgumentParser
import Host
import Ledger
import Settings
import Testing
import Timeline

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

    private func draft(_ json: String) throws -> JobValue {
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
        #expect(fields.summary(policies).hasSuffix("weight 3"))

        try JobFieldOptions.$table.withValue(fields) {
            #expect(JobFieldOptions.helpMessage().contains("--weight <n>"))
            #expect(JobFieldOptions.helpMessage().contains("How heavy it is (default: 0)."))
            let given = try JobFieldOptions.parse(["--weight", "5"])
            #expect(given.values == .map(["weight": .number(5)]))
            #expect(throws: (any Error).self) { try JobFieldOptions.parse(["--weight", "10"]) }
        }
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
        try JobFields.standard.apply(draft(#"{"timeoutMs":null,"later":[{}]}"#), to: &spec)
        #expect(spec.timeout == .seconds(5))
        try JobFields.standard.apply(
            draft(#"{"timeoutMs":0,"spreadMs":0,"concurrency":{"key":"","max":1}}"#), to: &spec)
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
        #expect(policies["labels"] == .map(["host": .text("db1")]))
        #expect(JobFields.standard.summary(policies).hasSuffix("reported after 1m, labels host=db1"))
        let given = try JobFieldOptions.parse(["--label", "host=db1", "--label", "team=a=b"])
        #expect(given.values == .map(["labels": .map(["host": .text("db1"), "team": .text("a=b")])]))
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
        func read(_ text: String) throws -> JobValue {
            try JobFieldOptions.parse(["--concurrency", text]).values
        }
        #expect(try read("disk=3") == .map(["concurrency": .map(["key": .text("disk"), "max": .number(3)])]))
        #expect(try read("a=b") == .map(["concurrency": .map(["key": .text("a=b")])]))
        #expect(throws: (any Error).self) { try read("=2") }
    }
}
