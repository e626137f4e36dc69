import Glibc
import Host
import TestSupport
import Testing

/// A fault in a configuration, as whoever wrote it gets to see it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a configuration` {
    /// A fault: the text, the place of what is wrong, what is drawn there, and words of the sentence.
    struct Fault: Sendable, CustomTestStringConvertible {
        var text: String
        var place: String
        var caret: String
        var words: String

        var testDescription: String { words }

        init(_ words: String, at place: String, _ caret: String, _ text: String) {
            self.text = text
            self.place = place
            self.caret = caret
            self.words = words
        }
    }

    private static let job = "schedule: manual, command: [\"true\"]"
    private static let faults = [
        Fault("did you mean \"timeout\"", at: "2:45", "^^^^^^", "jobs:\n  a: { \(job), timout: 2h }"),
        Fault("expected a map, found a list", at: "2:6", "^", "jobs:\n  a: [1, 2]"),
        Fault(
            "25 is outside 0-23", at: "2:21", "^^",
            "jobs:\n  a: { schedule: \"0 25 * * *\", command: [\"true\"] }"),
        Fault("Mars/Olympus", at: "1:7", "^^^^^^^^^^^^", "zone: Mars/Olympus"),
        Fault("is given twice", at: "3:3", "^", "jobs:\n  a: { \(job) }\n  a: { \(job) }"),
        Fault(
            "no route covers failures", at: "3:5", "^",
            "channels: { desk: { kind: desktop } }\nroutes:\n  - { when: [message], to: [desk] }"),
    ]

    @Test(arguments: faults)
    func `with a fault is refused with its place`(fault: Fault) async throws {
        let belfry = try Belfry()
        try belfry.write(fault.text + "\n", to: "belfry.yaml")
        let answer = try await belfry.run("belfryd", ["--check", "--config", belfry.configPath])
        #expect(answer.code == 2)
        #expect(answer.errors.contains(fault.words))
        let drawn = answer.errors.split(separator: "\n").map(String.init)
        let place = drawn.first?.dropFirst(belfry.configPath.count + 1).prefix(while: { $0 != " " })
        #expect(place.map(String.init) == fault.place + ":")
        #expect(drawn.contains { $0.trimmingPrefix { $0 == " " } == fault.caret })
        // The daemon does not start with it either, and the command line prints the same.
        let again = try await belfry.run("config", "check", belfry.configPath)
        #expect(again.code == 2 && again.errors == answer.errors)
        let start = try await belfry.run("belfryd", ["--config", belfry.configPath])
        let note = "note: no daemon answers on \(belfry.socketPath): "
        #expect(start.code == 2 && answer.errors.hasPrefix(start.errors + note))
    }

    @Test func `is checked for programs, too`() async throws {
        let belfry = try Belfry()
        try belfry.write("zone: Mars/X\njobs:\n  a: { \(Self.job), timout: 2h }\n", to: "belfry.yaml")
        let bad = try await belfry.run("config", "check", "--json", "--config", belfry.configPath)
        #expect(bad.code == 2 && bad.bytes.isEmpty)
        let error = try JSON(bad.errors)["error"]
        #expect(error["code"].text == "E1103" && error["kind"].text == "badConfig")
        let faults = error["faults"].list
        #expect(faults.map { $0["line"].integer } == [1, 3])
        #expect(faults.map { $0["column"].integer } == [7, 45])
        #expect(faults.allSatisfy { $0["file"].text == belfry.configPath && $0["message"].text != nil })
        #expect(faults.last?["hint"].text?.contains("timeout") == true)
        try belfry.write("jobs:\n  a: { \(Self.job) }\n", to: "belfry.yaml")
        let good = try await belfry.run("config", "check", "--json", "--config", belfry.configPath)
        #expect(good.code == 0)
        #expect(try good.json()["jobs"].integer == 1)
        let none = try await belfry.run("config", "check", "--json", "--config", "/nowhere.yaml")
        #expect(none.code == 2)
        #expect(try JSON(none.errors)["error"]["message"].text?.contains("/nowhere.yaml") == true)
    }

    @Test func `that is no file is named`() async throws {
        let belfry = try Belfry()
        let answer = try await belfry.run("belfryd", ["--check", "--config", belfry.folder.path])
        #expect(answer.code == 2)
        #expect(answer.errors.hasPrefix("belfryd: \(belfry.folder.path) is a folder, not a file\n"))
    }

    @Test func `that is good is reported to be, and a secret nobody signs with is warned of`() async throws {
        let belfry = try Belfry()
        try belfry.write(
            """
            jobs:
              a: { \(Self.job) }
            channels:
              hook: { kind: webhook, url: https://example.org/hook }
            """, to: "belfry.yaml")
        let answer = try await belfry.run("config", "check", "--config", belfry.configPath)
        #expect(answer.code == 0)
        #expect(answer.text == "\(belfry.configPath): good; 1 job, 0 bots, 1 channel\n")
        #expect(answer.errors.hasPrefix("warning: "))
        #expect(answer.errors.contains("hook"))
        #expect(answer.errors.contains("note: no daemon answers on \(belfry.socketPath): "))
    }

    @Test func `that is good is reported to be to programs, with every warning`() async throws {
        let belfry = try Belfry()
        let secret = belfry.folder.file("open.secret")
        try belfry.write(Belfry.secret + "\n", to: "open.secret")
        try await Shell.run("chmod 644 open.secret", in: belfry.folder.path)
        try belfry.write(
            """
            channels:
              hook: { kind: webhook, url: https://example.org/hook, secret: { file: \(secret) } }
            """, to: "belfry.yaml")
        let answer = try await belfry.run("config", "check", "--json", "--config", belfry.configPath).json()
        let warnings = answer["warnings"].list
        let warning = try #require(warnings.first)
        #expect(warnings.count == 1)
        #expect(warning["line"].integer == 2)
        #expect(warning["message"].text?.contains("is open to others: \(secret) has mode 644") == true)
        #expect(warning["hint"].text == "restrict it: chmod 600 \(secret)")
    }

    @Test func `with a job that can never work is good, with warnings`() async throws {
        let belfry = try Belfry()
        try belfry.write(
            """
            jobs:
              past: { schedule: { at: 2020-01-01T08:00 }, command: ["true"] }
              never: { schedule: "0 5 31 2 *", command: ["true"] }
              nothing: { schedule: manual, command: [/nonexistent/x] }
              nobody: { schedule: manual, command: ["true"], user: nobodyx }
              nowhere: { schedule: manual, command: ["true"], cwd: /nonexistent/folder }
              unread: { schedule: manual, command: ["true"], stdin: { file: /nonexistent/file } }
              good: { \(Self.job) }
            """, to: "belfry.yaml")
        let answer = try await belfry.run("config", "check", "--config", belfry.configPath)
        #expect(answer.code == 0)
        for words in [
            "is in the past", "\"0 5 31 2 *\" never occurs", "there is no program /nonexistent/x",
            "there is no user \"nobodyx\"", "there is no folder /nonexistent/folder",
            "there is no file /nonexistent/file",
        ] { #expect(answer.errors.contains(words)) }
        let json = try await belfry.run("config", "check", "--json", "--config", belfry.configPath).json()
        #expect(json["warnings"].list.map { $0["line"].integer } == [2, 3, 4, 5, 6, 7])
        #expect(json["notes"].list.count == 1)
        try await belfry.start()
        let added = try await belfry.run("job", "add", "more", "--", "/nonexistent/x")
        #expect(added.code == 0)
        #expect(added.errors.contains("warning: there is no program /nonexistent/x"))
        let other = try await belfry.run("job", "add", "other", "--", "nonexistent-x")
        #expect(
            other.errors == "belfry: warning: there is no program \"nonexistent-x\" in the service's PATH; "
                + "each run fails until that is corrected\n")
    }

    @Test func `that is refused still has its warnings and notes`() async throws {
        let belfry = try Belfry()
        try belfry.write(
            """
            jobs:
              nothing: { schedule: manual, command: [/nonexistent/x] }
              office: { schedule: { words: every hour between 9 and 17 }, command: ["true"] }
              bad: { schedule: manual }
            """, to: "belfry.yaml")
        let answer = try await belfry.run("config", "check", "--config", belfry.configPath)
        #expect(answer.code == 2)
        for text in [
            "warning: \(belfry.configPath):2:", "there is no program /nonexistent/x",
            "note: \(belfry.configPath):3: jobs.office.schedule.words: 17:00 is not included; ",
            "note: no daemon answers on ", "\(belfry.configPath):4:3: jobs.bad: this job does nothing",
        ] { #expect(answer.errors.contains(text), "\(text): \(answer.errors)") }
        let json = try await belfry.run("config", "check", "--json", "--config", belfry.configPath)
        let error = try JSON(json.errors)["error"]
        #expect(error["warnings"].list.map { $0["line"].integer } == [2])
        #expect(error["notes"].list.count == 2 && error["faults"].list.count == 1)
    }

    @Test func `begins in the manual with ten lines that work`() async throws {
        let manual = try SmallFile.text(
            String(#filePath.dropLast("Tests/EndToEndTests/Configurations.swift".count))
                + "config/belfry.yaml")
        let mark = "#   "
        let lines = manual.split(separator: "\n").drop { !$0.hasPrefix(mark) }.prefix { $0.hasPrefix(mark) }
        #expect(lines.count == 10)
        let belfry = try Belfry()
        try belfry.write(
            lines.map { $0.dropFirst(mark.count) }.joined(separator: "\n") + "\n", to: "belfry.yaml")
        let answer = try await belfry.run("config", "check", "--config", belfry.configPath)
        #expect(answer.text == "\(belfry.configPath): good; 1 job, 0 bots, 1 channel\n")
        #expect(!answer.errors.contains("warning"), "\(answer.errors)")
        try await belfry.start()
        let run = try await belfry.run("run", "disk", "--follow")
        #expect(run.code == 0, "\(run)")
    }

    @Test func `has a schema, which is printed for editors`() async throws {
        let belfry = try Belfry()
        let schema = try await belfry.run("config", "schema").json()
        #expect(schema["$schema"].text == "https://json-schema.org/draft/2020-12/schema")
        let job = schema["properties"]["jobs"]["additionalProperties"]["properties"]
        #expect(job["timeout"]["description"].text == "End a run that takes longer than this (none: never).")
        #expect(try await belfry.run("belfryd", ["--schema"]).json() == schema)
    }

    @Test func `whose job or channel can't be used starts without it, and reports it`() async throws {
        let belfry = try await Belfry.start("jobs:\n  first: { \(Self.job) }")
        #expect(try await belfry.run("job", "add", "mine", "--shell", "true").code == 0)
        let secret = belfry.folder.file("late.secret")
        let config = """
            zone: UTC
            jobs:
              first: { \(Self.job) }
              mine: { \(Self.job) }
            channels:
              desk: { kind: desktop }
              hook: { kind: webhook, url: https://example.org/, secret: { file: \(secret) } }
            routes:
              - { when: [failed], to: [desk, hook] }

            """
        try belfry.write(config, to: "belfry.yaml")
        // A reload, and whoever checks the file beside the running daemon, refuse all of it.
        #expect(try await belfry.run("reload").code == 2)
        let checked = try await belfry.run("config", "check", "--config", belfry.configPath)
        #expect(checked.code == 2)
        #expect(checked.errors.contains("\(belfry.configPath):4:3: "))
        #expect(checked.errors.contains("the secret can't be read from file \(secret)"))

        try await belfry.restart()
        #expect(try await names(belfry) == ["first", "mine"])
        #expect(try await belfry.json("job", "show", "mine")["origin"].text == "cli")
        let status = try await belfry.json("status")
        let problems = status["problems"].list.filter { $0["kind"].text == "configPartial" }
        #expect(problems.count == 2)
        #expect(
            status["channels"].list.map { $0["name"].text } == ["desk", "hook"]
                && status["channels"].list.last?["state"].text == "leftOut")
        #expect(try await belfry.run("channel", "list").text.contains("left out"))
        // Each cause once, though whoever checks the file finds them again; what is new in it is shown.
        let found = try await belfry.run("doctor", "--json").json().list.compactMap { $0["kind"].text }
        #expect(found.count { $0 == "configPartial" } == 2 && !found.contains("badConfiguration"), "\(found)")
        try belfry.write(config + "nonsense: true\n", to: "belfry.yaml")
        let newer = try await belfry.run("doctor", "--json").json().list
        #expect(newer.contains { $0["message"].text?.contains("nonsense") == true }, "\(newer)")
        try belfry.write(config, to: "belfry.yaml")
        let events = try belfry.events()
        #expect(try await events.event("config.partial")["channel"].text == "hook")
        // What is left out already is no reason to refuse what else is in the file.
        let again = try await belfry.run("reload")
        #expect(again.code == 0 && again.errors.contains("channel \"hook\" at "), "\(again.errors)")
        #expect(again.errors.contains("job \"mine\" at "))
        let left = try await belfry.json("status")["problems"].list
        #expect(left.count { $0["kind"].text == "configPartial" } == 2)
        #expect(try await belfry.json("job", "show", "mine")["origin"].text == "cli")

        try belfry.write(Belfry.secret + "\n", to: "late.secret")
        #expect(try await belfry.run("job", "rm", "mine").code == 0)
        #expect(try await belfry.run("reload").code == 0)
        let after = try await belfry.json("status")
        #expect(!after["problems"].list.contains { $0["kind"].text == "configPartial" })
        #expect(try await belfry.json("job", "show", "mine")["origin"].text == "file")
    }

    @Test func `is reloaded whole, with the difference shown`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              stays: { \(Self.job) }
              changes: { \(Self.job) }
              goes: { \(Self.job) }
            """)
        let events = try belfry.events()
        try belfry.configure(
            """
            bots: { ops: }
            jobs:
              stays: { \(Self.job) }
              changes: { \(Self.job), timeout: 5m }
              comes: { \(Self.job) }
            """)
        let difference = try await belfry.json("reload")
        #expect(
            try difference["jobs"]
                == JSON(#"{"added":["comes"],"changed":["changes"],"removed":["goes"]}"#))
        #expect(difference["bots"]["added"].list.map(\.text) == ["ops"])
        _ = try await events.event("config.reloaded")
        #expect(try await names(belfry) == ["changes", "comes", "stays"])
        #expect(try await belfry.json("job", "show", "changes")["revision"].integer == 2)
        #expect(try await belfry.json("job", "show", "stays")["revision"].integer == 1)
        #expect(try await belfry.run("reload").text == "Nothing changed.\n")

        try belfry.configure("jobs:\n  hup: { \(Self.job) }")
        try belfry.process().signal(SIGHUP)
        _ = try await events.event("config.reloaded")
        _ = try await events.event("config.reloaded")
        #expect(try await names(belfry) == ["hup"])
    }

    @Test func `with a fault leaves the one before active`() async throws {
        let belfry = try await Belfry.start("jobs:\n  first: { \(Self.job) }")
        let before = try await belfry.json("config", "show")
        try belfry.configure(
            """
            jobs:
              second: { \(Self.job) }
              third: { schedule: "61 * * * *", command: ["true"] }
            """)
        let refused = try await belfry.run("reload")
        #expect(refused.code == 2)
        #expect(refused.errors.contains("\(belfry.configPath):4:"))
        #expect(refused.errors.contains("^^"))
        let shown = try JSON(try await belfry.run("reload", "--json").errors)["error"]
        let checked = try JSON(
            try await belfry.run("config", "check", "--config", belfry.configPath, "--json").errors)["error"]
        #expect(shown["faults"].list.count == 1 && shown["faults"] == checked["faults"])
        #expect(shown["message"] == checked["message"] && shown["message"].text?.contains("\n") == false)
        #expect(try await belfry.json("config", "show") == before)
        try belfry.process().signal(SIGHUP)
        try await belfry.logged("\(belfry.configPath):4:")
        #expect(try await belfry.json("config", "show") == before)
        #expect(try await names(belfry) == ["first"])
    }

    @Test func `shows everything but secrets`() async throws {
        let hook = try await Belfry.receiver()
        let belfry = try await Belfry.start(
            "jobs:\n  a: { \(Self.job), env: { TOKEN: hush-hush } }", hook: hook)
        let shown = try await belfry.run("config", "show", "--json")
        #expect(try shown.json()["jobs"].list.first?["env"].list.map(\.text) == ["TOKEN"])
        for secret in ["hush-hush", Belfry.secret] {
            #expect(!shown.text.contains(secret))
            #expect(try await belfry.run("config", "show").text.contains(secret) == false)
        }
    }

    @Test func `names changed, added and removed channels, and no bot whose line moved`() async throws {
        func config(_ channels: String, before: String = "") -> String {
            """
            \(before)
            bots: { ops: }
            channels:
              \(channels)
            routes: [{ when: [failed, lost, missed], to: [hook] }]
            """
        }
        let belfry = try await Belfry.start()
        func write(_ text: String) throws { try belfry.write(text, to: "belfry.yaml") }
        let options = "kind: webhook, allow: [127.0.0.1/32]"
        try write(config(#"hook: { \#(options), url: "http://127.0.0.1:1/a" }"#))
        _ = try await belfry.run("reload")
        try write(config(#"hook: { \#(options), url: "http://127.0.0.1:1/b" }"#, before: "# a line more"))
        #expect(try await belfry.run("reload").text == "~ channel hook\n")
        #expect(try await belfry.run("reload").text == "Nothing changed.\n")
    }

    private func names(_ belfry: Belfry) async throws -> [String?] {
        try await belfry.json("job", "list").list.map { $0["name"].text }
    }
}
