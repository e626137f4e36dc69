import Delivery
import Host
import Ledger
import TestSupport
import Testing
import Tracking

@testable import Settings

@Suite struct `the schema of the file` {
    /// What is wrong with each text by the schema; `valid` where nothing is.
    ///
    /// On a thread of its own: making the environment takes a while.
    private func check(_ texts: [String]) async throws -> [String] {
        try await blocking { try Self.validate(texts) }
    }

    private static func validate(_ texts: [String]) throws -> [String] {
        let folder = try TemporaryFolder()
        try SmallFile.replace(folder.file("schema.json"), with: Array(ConfigurationSchema().text.utf8))
        let names = texts.indices.map { "\($0).yaml" }
        for (name, text) in zip(names, texts) {
            try SmallFile.replace(folder.file(name), with: Array(text.utf8))
        }
        let python = try PythonTools.interpreter()
        let script = PythonTools.script("check-schema.py")
        let code = try Shell.run(
            "cd '\(folder.path)' && '\(python)' '\(script)' schema.json \(names.joined(separator: " ")) > out 2>&1"
        )
        let output = String(decoding: try SmallFile.read(folder.file("out"), limit: 1 << 20), as: UTF8.self)
        try #require(code == 0, "\(output)")
        return output.split(separator: "\n").map { line in
            String(line.drop { $0 != " " }.dropFirst())
        }
    }

    @Test func `accepts the manual, the demo, and what the tests take for good`() async throws {
        let manual = try Examples.text("belfry.yaml")
        let texts =
            [manual, Examples.switchedOn(manual), Examples.tenLines(manual), try Examples.text("demo.yaml")]
            + GoodTexts.all
        for text in texts.dropFirst(4) { _ = try read(text) }
        for (text, found) in zip(texts, try await check(texts)) { #expect(found == "valid", "\(text)") }
    }

    @Test func `refuses nearly every mistake that people make`() async throws {
        let texts = Mistake.all.map(\.text)
        let missed = zip(texts, try await check(texts)).filter { $1 == "valid" }.map(\.0)
        // What is no fault of form: a phrase for an expression, a channel that is not described, a zone.
        #expect(missed.count <= texts.count / 6, "\(missed)")
    }

    @Test func `has every key of the tables`() throws {
        let properties = ConfigurationSchema().json["properties"]
        let job = properties?["jobs"]?["additionalProperties"]?["properties"]
        for row in JobFields.standard.rows {
            let parts = row.key.split(separator: ".").map(String.init)
            var schema = job?[parts[0]]
            if parts.count > 1 { schema = schema?["properties"]?[parts[1]] }
            #expect(schema?["description"]?.text == row.doc, "\(row.key)")
        }
        let channels = properties?["channels"]?["additionalProperties"]?["oneOf"]?.elements ?? []
        for form in ChannelForms.all {
            let schema = channels.first { $0["properties"]?["kind"]?["const"]?.text == form.kind.rawValue }
            for field in form.fields {
                #expect(schema?["properties"]?[field.name] != nil, "\(form.kind.rawValue): \(field.name)")
            }
        }
        let bot = properties?["bots"]?["additionalProperties"]?["properties"]?["notifications"]?["properties"]
        for row in BotFields.notifications { #expect(bot?[row.key]?["description"]?.text == row.doc) }
    }

    @Test func `has a key that a table has more, with its limits`() throws {
        let more = JobField("weight", .number(0...9), .at(\.priority), "How heavy it is.")
        let schema = ConfigurationSchema(fields: JobFields(JobFields.standard.rows + [more])).json
        let weight = schema["properties"]?["jobs"]?["additionalProperties"]?["properties"]?["weight"]
        #expect(weight?["description"]?.text == "How heavy it is." && weight?["maximum"]?.int == 9)
    }

    @Test func `names the settings that a channel can't do without`() throws {
        let channels = ConfigurationSchema().json["properties"]?["channels"]?["additionalProperties"]?[
            "oneOf"]
        let required = channels?.elements.map { $0["required"]?.elements.compactMap(\.text) ?? [] }
        let url = ["kind", "url"]
        #expect(
            required == [
                ["kind"], url, url, ["kind", "webhook"], ["kind", "webhook"], url + ["token"],
                ["kind", "token", "chat"], url + ["token", "room"], ["kind", "webhook", "url"], url, url,
                ["kind", "key"], ["kind", "key"], url, url + ["body"], ["kind", "to"], ["kind", "command"],
            ])
    }
}

/// Configurations without a fault.
enum GoodTexts {
    static let all =
        [
            "", "zone: UTC\nbots:\njobs:\nchannels:\nroutes:\n",
            "jobs: { a: { schedule: manual, url: https://example.org/ } }",
            "jobs: { a: { schedule: manual, url: { url: \"https://e.org/\", method: PUT, expect: [200, 3xx] } } }",
            "jobs: { on: { schedule: manual, shell: date }, 7: { schedule: manual, shell: date } }",
            """
            bots:
              ops: { backend: { kind: command }, notifications: { sound: bell, wait: 0s, preview: 200 } }
              cc:
            jobs:
              all:
                bot: ops
                schedule: { cron: "30 2 * * *", zone: Europe/Berlin, gap: skip, fold: both }
                command: [/bin/echo, 1, true, "a b"]
                env: { A: 1, B: yes, C: "" }
                cwd: /home
                overlap: queue-one
                catchUp: { mode: all, within: 12h, burst: 20 }
                spread: none
                timeout: 2h
                grace: 0s
                user: 1000
                umask: 027
                nice: -5
                stdin: { text: hello }
                limits: { memory: 2G, cpu: 1h, files: 1024, core: 0 }
                retry: { attempts: 3, backoff: 1m, onLost: true }
                leftovers: { wait: 0s, then: fail }
                ensure: { file: /srv/a, output: /done/i, command: [verify, 1], timeout: 2m }
                usually: 5m
                progress: { read: dd, total: 60M }
                priority: -10
                concurrency: { key: disk, max: 2 }
            channels:
              desk: { kind: desktop }
              hook:
                kind: webhook
                url: http://127.0.0.1:8080/x
                secret: [{ file: /etc/belfry/hook.secret }]
                allow: [127.0.0.1/32, host.lan]
                timeout: 10s
            routes:
              - { when: [failed, message], to: [desk, hook] }
            """,
        ]
        + [
            "30 2 * * *", "\"*/10 30 2 * * *\"", "\"@daily\"", "H 2 * * *", "'@every 15m'", "startup",
            "manual",
            "{ every: 15m }", "{ every: 2w, weekday: fri, time: \"17:00\", from: 2026-11-27 }",
            "{ after: 15m }", "{ at: 2030-01-31T08:00, zone: UTC }", "{ words: every weekday at 9:30 }",
            "{ startup: true }", "{ startup: true, delay: 15m }", "{ every: 3d, time: 08:00 }",
        ].map { "jobs: { a: { schedule: \($0), shell: date } }" }
}
