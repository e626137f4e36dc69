import Curl
import Delivery
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking
import WebhookChannel

@testable import Engine

@Suite(.timeLimit(.minutes(5))) struct `what is held on channels that are sent things once` {
    private let curl: CurlMulti
    private let channels: [any Channel]
    private let routes = [
        Route(when: [.failed, .recovered, .message, .question], to: ["hook", "phone", "pager"])
    ]

    init() throws {
        curl = try CurlMulti()
        var (ntfy, pager) = (FormValues(), FormValues())
        ntfy["url"] = .address(try HTTPAddress("https://ntfy.sh/alerts"))
        pager["url"] = .address(try HTTPAddress("https://alerts.example.org"))
        channels = [
            try makeHook("hook", curl: curl),
            try HTTPSender(name: "phone", form: try NtfyForm(ntfy), userAgent: "Belfry/test", curl: curl),
            try HTTPSender(
                name: "pager", form: try AlertmanagerForm(pager), userAgent: "Belfry/test", curl: curl),
        ]
    }

    private func bots(quiet: String? = nil, budget: Int? = nil) throws -> [String: BotProfile] {
        var bot = BotProfile(name: "ops", urgency: .normal)
        bot.restraint.quiet = try quiet.map { try DailyHours([$0], in: .utc) }
        bot.restraint.budget = budget
        return ["ops": bot]
    }

    private func states(_ channel: String, _ tower: Tower) async throws -> [String] {
        try await tower.entries(of: channel).map { "\($0.type) \($0.state)" }
    }

    @Test func `comes to people as one digest, to programs one by one, and to pagers at once`() async throws {
        try await Tower.run(channels: channels, routes: routes, bots: try bots(quiet: "09:00-12:00")) {
            tower in
            let run = try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            tower.clock.advance(by: .seconds(60))
            try await tower.end("sync", .failed, exitCode: 2)
            try await tower.settled()
            tower.clock.advance(by: .seconds(60))
            try await tower.end("sync", .failed, exitCode: 3)
            try await tower.settled()
            #expect(try await states("pager", tower) == Array(repeating: "run.failed pending", count: 3))
            #expect(try await states("phone", tower) == Array(repeating: "run.failed held", count: 3))
            tower.clock.advance(to: at("12:00:00"))
            try await tower.until { try await tower.entries(of: "phone").count == 4 }
            #expect(
                try await states("phone", tower)
                    == Array(repeating: "run.failed superseded", count: 3) + ["message.group pending"])
            #expect(try await states("hook", tower) == Array(repeating: "run.failed pending", count: 3))
            let entries = try await tower.entries(of: "phone")
            let digest = try #require(entries.last)
            #expect(entries.dropLast().allSatisfy { $0.listedIn == digest.id })
            let text = String(decoding: digest.body, as: UTF8.self)
            #expect(text.contains("While it was quiet: 3 things"), "\(text)")
            #expect(text.contains("(2 times)"), "\(text)")
            #expect(text.contains("backup failed: exit code 1"), "\(text)")
            let why = try await tower.control.why(run.id, limit: 9).first { $0.verdict.channel == "phone" }
            #expect(why?.verdict.reason == "digest" && why?.verdict.action == .send)
            #expect(why?.delivery != nil)
        }
    }

    @Test func `comes as one mail when quiet hours end`() async throws {
        let server = try await MailServerProcess()
        try await Tower.run(
            keepers: [.items, .outbox], channels: [try makeInbox(port: server.port, curl: curl)],
            routes: [Route(when: [.failed, .recovered, .message], to: ["inbox"])],
            bots: try bots(quiet: "09:00-12:00")
        ) { tower in
            for (job, code) in [("backup", 1), ("sync", 2), ("index", 3)] {
                try await tower.end(job, .failed, exitCode: code)
                try await tower.settled()
            }
            #expect(try await states("inbox", tower) == Array(repeating: "run.failed held", count: 3))
            tower.clock.advance(to: at("12:00:00"))
            let mail = try await server.mail()
            #expect(
                mail.headers["Subject"]?.hasSuffix("While it was quiet: 3 things") == true, "\(mail.headers)")
            for job in ["backup", "sync", "index"] {
                #expect(mail.plain?.contains("\(job) failed") == true, "\(mail.plain ?? "")")
            }
            #expect(mail.to == ["ops@example.org"] && mail.defects.isEmpty)
            try await tower.until { try await tower.entries(of: "inbox").last?.state == .delivered }
            #expect(
                try await states("inbox", tower)
                    == Array(repeating: "run.failed superseded", count: 3) + ["message.group delivered"])
        }
    }

    @Test func `is sent as it is where it is one thing, and only the newest group of a thread`() async throws
    {
        try await Tower.run(channels: channels, routes: routes, bots: try bots(quiet: "09:00-12:00")) {
            tower in
            try await tower.say("first")
            try await tower.settled()
            tower.clock.advance(by: .seconds(5))
            try await tower.until { try await tower.entries(of: "phone").count == 1 }
            try await tower.say("second")
            try await tower.settled()
            tower.clock.advance(by: .seconds(5))
            try await tower.until { try await tower.entries(of: "phone").count == 2 }
            tower.clock.advance(to: at("12:00:00"))
            try await tower.until { try await !states("phone", tower).contains { $0.hasSuffix("held") } }
            #expect(
                try await states("phone", tower) == ["message.group superseded", "message.group pending"])
            let entries = try await tower.entries(of: "phone")
            #expect(entries.first?.listedIn == entries.last?.id)
        }
    }

    @Test func `is judged again at its release, and counted`() async throws {
        let folder = try TemporaryFolder()
        try await Tower.run(in: folder, channels: channels, routes: routes, bots: try bots(budget: 1)) {
            tower in
            try await tower.end("a", .failed, exitCode: 1)
            try await tower.end("b", .failed, exitCode: 1)
            try await tower.end("c", .failed, exitCode: 1)
            try await tower.settled()
            #expect(
                try await states("phone", tower) == [
                    "run.failed pending", "run.failed held", "run.failed held",
                ])
            _ = try await tower.control.addSilence(
                SilenceDraft(matchers: ["job=b"], until: at("12:00:00"), by: "test"))
        }
        try await Tower.run(
            in: folder, at: at("10:30:00"), channels: channels, routes: routes, bots: try bots(budget: 1)
        ) { tower in
            try await tower.settled()
            tower.clock.advance(to: at("11:00:00"))
            try await tower.until { try await !states("phone", tower).contains("run.failed held") }
            #expect(
                try await states("phone", tower) == [
                    "run.failed pending", "run.failed suppressed", "run.failed pending",
                ])
            // The release was an interruption, too.
            try await tower.end("d", .failed, exitCode: 1)
            try await tower.settled()
            #expect(try await states("phone", tower).last == "run.failed held")
            #expect(try await tower.entries(of: "phone").last?.nextAt == at("12:00:00"))
        }
    }

    @Test func `waits on where quiet hours begin meanwhile`() async throws {
        var profiles = try bots(quiet: "10:30-12:00")
        profiles["ops"]?.restraint.budget = 1
        try await Tower.run(channels: channels, routes: routes, bots: profiles) { tower in
            try await tower.end("a", .failed, exitCode: 1)
            let run = try await tower.end("b", .failed, exitCode: 1)
            try await tower.settled()
            tower.clock.advance(to: at("11:00:00"))
            try await tower.until {
                try await tower.entries(of: "phone").last?.nextAt == at("12:00:00")
            }
            let verdict = try await tower.control.why(run.id, limit: 9).map(\.verdict)
                .first { $0.channel == "phone" }
            #expect(verdict?.stage == .quietHours && verdict?.until == at("12:00:00"))
            tower.clock.advance(to: at("12:00:00"))
            try await tower.until { try await states("phone", tower).last == "run.failed pending" }
        }
    }

    @Test func `is freed by a digest that somebody asks for, and what waits for other channels is not`()
        async throws
    {
        var later = Route(when: [.failed], to: ["hook"])
        later.after = .seconds(900)
        let routes = [Route(when: [.failed, .message], to: ["phone"]), later]
        let resting = try bots(quiet: "09:00-12:00")
        try await Tower.run(channels: channels, routes: routes, bots: resting) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.say("hello")
            try await tower.settled()
            tower.clock.advance(by: .seconds(5))
            try await tower.until { try await tower.entries(of: "phone").count == 2 }
            let held = try await tower.control.digest()
            // The failure matters more than the message; on the hook it is held by quiet hours, too.
            #expect(held.map(\.channel).sorted() == ["hook", "phone", "phone"])
            guard case .entry(let entry, _)? = held.first(where: { $0.channel == "phone" })?.content else {
                Issue.record("no entry")
                return
            }
            #expect(entry.type == "run.failed")
            try await tower.until { try await !states("phone", tower).contains { $0.hasSuffix("held") } }
        }
        // Without quiet hours the hook waits for the others, and no digest frees that.
        try await Tower.run(channels: channels, routes: routes, bots: try bots()) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            #expect(try await tower.control.digest().isEmpty)
            try await tower.say("hello")
            try await tower.settled()
            tower.clock.advance(by: .seconds(5))
            try await tower.until { try await tower.entries(of: "phone").count == 2 }
            #expect(try await states("hook", tower) == ["run.failed held"])
        }
    }

    @Test func `is neither listed nor freed by a digest once it is silenced`() async throws {
        try await Tower.run(channels: channels, routes: routes, bots: try bots(quiet: "09:00-12:00")) {
            tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.end("sync", .failed, exitCode: 1)
            try await tower.settled()
            _ = try await tower.control.addSilence(
                SilenceDraft(matchers: ["job=backup"], until: at("13:00:00"), by: "test"))
            let held = try await tower.control.digest()
            #expect(held.map(\.channel).sorted() == ["hook", "phone"])
            try await tower.until {
                try await states("phone", tower) == ["run.failed held", "run.failed pending"]
            }
            tower.clock.advance(to: at("12:00:00"))
            try await tower.until { try await states("phone", tower).first == "run.failed suppressed" }
            #expect(try await tower.control.digest().isEmpty)
        }
    }

    @Test func `is withdrawn by whoever reads it elsewhere, and why says who`() async throws {
        try await Tower.run(channels: channels, routes: routes, bots: try bots(quiet: "09:00-12:00")) {
            tower in
            let said = try await tower.say("hello")
            try await tower.settled()
            tower.clock.advance(by: .seconds(5))
            try await tower.until { try await tower.entries(of: "phone").count == 1 }
            let run = try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            _ = try await tower.control.read(said.id, by: "laptop")
            let dismissal = Fact.Dismissal("\(ItemKey.job("backup"))", on: "desk", revision: 1)
            try await tower.ledger.commit([.append(NewEvent(.itemDismissed(dismissal), at: tower.clock.now))])
            try await tower.settled()
            #expect(
                try await states("phone", tower) == ["message.group superseded", "run.failed superseded"])
            let message = try await tower.control.why(said.id, limit: 9).map(\.verdict)
                .first { $0.channel == "phone" }
            #expect(message?.reason == "seenElsewhere" && message?.rule == "seen by laptop")
            let failure = try await tower.control.why(run.id, limit: 9).map(\.verdict)
                .first { $0.channel == "phone" }
            #expect(failure?.action == .suppress && failure?.rule == "seen by desk")
            // What a pager was sent was sent.
            #expect(try await states("pager", tower).contains("run.failed pending"))
            tower.clock.advance(to: at("12:00:00"))
            try await tower.end("other", .failed, exitCode: 1)
            try await tower.until { try await states("phone", tower).last == "run.failed pending" }
            #expect(try await tower.entries(of: "phone").count == 3)
        }
    }

    @Test func `comes at once when a reload ends the quiet hours`() async throws {
        try await Tower.run(channels: channels, routes: routes, bots: try bots(quiet: "09:00-12:00")) {
            tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            #expect(try await states("phone", tower) == ["run.failed held"])
            let free = try bots()
            tower.activeConfiguration.change { $0.bots = free }
            try await tower.until { try await states("phone", tower) == ["run.failed pending"] }
        }
    }
}
