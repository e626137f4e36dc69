import Curl
import Delivery
import Engine
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a part of the files that cannot be used at the start` {
    private let job = "a job of that name was made by `belfry job add`"

    @Test func `is left out and reported when a job made by hand has its name, and the others run`()
        async throws
    {
        let desk = makeDesk(clock: ManualClock(now: at("10:00:00")))
        let routes = [Route(when: [.failed], to: ["desk"])]
        try await Tower.run(keepers: [.slots, .items], channels: [desk], routes: routes) { tower in
            let mine = try await tower.control.add(.manual("backup", "mine"))
            tower.activeConfiguration.change {
                $0.jobs = [(.manual("backup", "theirs"), "f:2"), (.manual("other"), "f:3")]
            }
            let difference = try await tower.control.takeUpJobs()
            #expect(difference.added == ["other"])
            #expect(try await tower.ledger.job(named: "backup")?.spec == mine.spec)
            #expect(tower.activeConfiguration.configuration.leftOut.map(\.reason) == [job])
            let problem = try await tower.control.status().problems.first { $0.kind == "configPartial" }
            #expect(problem?.message == "job \"backup\" at f:2 is left out: \(job)")
            #expect(problem?.isWarning == false)
            let event = try await tower.ledger.events(after: 0, limit: 9).map(\.event).first
            #expect(event?.type == .jobLeftOut && event?.fact.columns.job == "backup")
            // No route names it: it goes where failures go.
            try await tower.settled()
            let shown = try await tower.shown(.thread(bot: "belfry", thread: "config"))
            guard case .messages(1, let last)? = shown?.content else {
                Issue.record("not one message")
                return
            }
            #expect(last.first?.text.contains("backup") == true)
        }
    }

    @Test func `is loaded within a minute of the other job's removal`() async throws {
        try await Tower.run(keepers: [.slots]) { tower in
            _ = try await tower.control.add(.manual("backup", "mine"))
            tower.activeConfiguration.change { $0.jobs = [(.manual("backup", "theirs"), "f:2")] }
            _ = try await tower.control.takeUpJobs()
            async let end: Void = tower.control.followLeftOut()
            while await tower.clock.nextSleeper() != at("10:01:00") {}
            tower.clock.advance(to: at("10:01:00"))
            while await tower.clock.nextSleeper() != at("10:02:00") {}
            #expect(tower.activeConfiguration.configuration.leftOut.count == 1)
            try await tower.control.remove("backup")
            tower.clock.advance(to: at("10:02:00"))
            try await end
            let record = try #require(try await tower.ledger.job(named: "backup"))
            #expect(record.origin == .file && record.place == "f:2")
            #expect(tower.activeConfiguration.configuration.leftOut.isEmpty)
            #expect(try await tower.eventTypes() == [.jobLeftOut, .configReloaded])
        }
    }

    @Test func `is not loaded when a reload has removed it meanwhile`() async throws {
        try await Tower.run(keepers: [.slots]) { tower in
            _ = try await tower.control.add(.manual("backup", "mine"))
            tower.activeConfiguration.change { $0.jobs = [(.manual("backup", "theirs"), "f:2")] }
            _ = try await tower.control.takeUpJobs()
            async let end: Void = tower.control.followLeftOut()
            while await tower.clock.nextSleeper() != at("10:01:00") {}
            try await tower.control.remove("backup")
            let (reading, didBegin) = AsyncStream<Never>.makeStream()
            let (holding, letGo) = AsyncStream<Never>.makeStream()
            tower.beforeReading.value = {
                didBegin.finish()
                for await _ in holding {}
            }
            async let difference = tower.control.reload()
            for await _ in reading {}
            tower.clock.advance(to: at("10:01:00"))
            letGo.finish()
            #expect(try await difference.isEmpty)
            try await end
            #expect(try await tower.ledger.jobs().isEmpty)
            #expect(try await tower.eventTypes() == [.jobLeftOut, .configReloaded])
        }
    }

    @Test func `is a channel whose notices wait, and go to it once its secret can be read`() async throws {
        let hook = try makeHook("hook", curl: try CurlMulti())
        let form = try makeHookForm()
        let routes = [Route(when: [.failed], to: ["hook"])]
        try await Tower.run(keepers: [.slots, .items], routes: routes) { tower in
            tower.activeConfiguration.change {
                $0.leftOut = [
                    LeftOut(.channel("hook", form), place: "f:9", reason: "the secret can't be read")
                ]
            }
            _ = try await tower.control.takeUpJobs()
            try await tower.end("job", .failed, exitCode: 1)
            try await tower.settled()
            let entry = try #require(try await tower.entries(of: "hook").first)
            #expect(entry.type == "run.failed" && entry.state == .pending)
            async let end: Void = tower.control.followLeftOut()
            while await tower.clock.nextSleeper() != at("10:01:00") {}
            tower.reopened.value["hook"] = hook
            tower.clock.advance(to: at("10:01:00"))
            try await end
            #expect(tower.activeConfiguration.channel("hook") != nil)
            #expect(tower.activeConfiguration.configuration.versions["hook"] == 7)
            #expect(try await tower.entries(of: "hook").map(\.state) == [.pending])
            #expect(try await tower.control.status().problems.map(\.kind) == ["noWarden"])
        }
    }

    @Test func `stays left out at a reload with the same fault, and holds up nothing else`() async throws {
        try await Tower.run(keepers: [.slots]) { tower in
            _ = try await tower.control.add(.manual("backup", "mine"))
            tower.activeConfiguration.change { $0.jobs = [(.manual("backup", "theirs"), "f:2")] }
            _ = try await tower.control.takeUpJobs()
            var configuration = tower.activeConfiguration.configuration
            configuration.jobs = [(.manual("backup"), "f:4"), (.manual("other"), "f:5")]
            configuration.leftOut = []
            tower.file.value = .success(configuration)
            let difference = try await tower.control.reload()
            #expect(difference.added == ["other"])
            #expect(difference.warnings == ["job \"backup\" at f:4 is left out: \(job)"])
            #expect(tower.activeConfiguration.configuration.leftOut.map(\.place) == ["f:4"])
            #expect(try await tower.eventTypes() == [.jobLeftOut, .configReloaded])
        }
    }

    @Test func `is a bot whose key a reload can't read: it is reported once, and the rest runs`() async throws
    {
        try await Tower.run(keepers: [.slots]) { tower in
            _ = try await tower.control.takeUpJobs()
            var configuration = tower.activeConfiguration.configuration
            configuration.jobs = [(.manual("other"), "f:3")]
            configuration.leftOut = [
                LeftOut(.bot("sage"), place: "f:1", reason: "the secret can't be read from file /none")
            ]
            for added in [["other"], []] {
                tower.file.value = .success(configuration)
                let difference = try await tower.control.reload()
                #expect(difference.added == added)
                #expect(difference.warnings.first?.hasPrefix("bot \"sage\" at f:1 is left out: ") == true)
            }
            #expect(try await tower.eventTypes() == [.configReloaded, .configPartial, .configReloaded])
            let problems = try await tower.control.status().problems
            #expect(problems.contains { $0.kind == "configPartial" && $0.message.contains("/none") })
        }
    }

    @Test func `is not there for a reload, which refuses the whole file instead`() async throws {
        try await Tower.run(keepers: [.slots]) { tower in
            _ = try await tower.control.add(.manual("backup", "mine"))
            var configuration = tower.activeConfiguration.configuration
            configuration.jobs = [(.manual("backup"), "f:2"), (.manual("other"), "f:3")]
            tower.file.value = .success(configuration)
            await #expect(throws: ReloadRefusal.self) { try await tower.control.reload() }
            #expect(try await tower.ledger.jobs().map(\.name) == ["backup"])
            #expect(tower.activeConfiguration.configuration.leftOut.isEmpty)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a request for jobs right after the start` {
    private static func entry(_ name: String, of control: Control) async throws -> JobRecord? {
        try await control.whenLoaded()
        return try await control.slots.entry(name)?.record
    }

    @Test func `waits until the jobs of the files are loaded`() async throws {
        try await Tower.run(keepers: [.slots], loading: Loading(isDone: false)) { tower in
            tower.activeConfiguration.change { $0.jobs = [(.manual("early"), "f:2")] }
            async let answer = Self.entry("early", of: tower.control)
            while await tower.clock.nextSleeper() != at("10:00:04") {}
            #expect(try await tower.control.status().problems.map(\.kind).contains("starting"))
            _ = try await tower.control.takeUpJobs()
            let record = try await answer
            #expect(record?.name == "early")
            #expect(try await tower.control.status().problems.map(\.kind) == ["noWarden"])
        }
    }

    @Test func `is also a reload, which finds them loaded`() async throws {
        try await Tower.run(keepers: [.slots], loading: Loading(isDone: false)) { tower in
            tower.activeConfiguration.change { $0.jobs = [(.manual("early"), "f:2")] }
            var configuration = tower.activeConfiguration.configuration
            configuration.jobs.append((.manual("later"), "f:3"))
            tower.file.value = .success(configuration)
            async let difference = tower.control.reload()
            _ = try await tower.control.takeUpJobs()
            #expect(try await difference.added == ["later"])
        }
    }

    @Test func `is refused when they are not loaded after four seconds`() async throws {
        try await Tower.run(keepers: [.slots], loading: Loading(isDone: false)) { tower in
            async let answer: Void = tower.control.whenLoaded()
            while await tower.clock.nextSleeper() != at("10:00:04") {}
            tower.clock.advance(to: at("10:00:04"))
            do {
                try await answer
                Issue.record("not refused")
            } catch {
                #expect(error as? EngineError == .starting)
            }
        }
    }
}

@Suite struct `a job that can never work` {
    private func doubts(_ spec: JobSpec, on machine: MachineLook = MachineLook()) -> [String] {
        spec.doubts(at: at("10:00:00"), on: machine, zones: machineZones).map(\.sentence)
    }

    @Test func `is doubted for a moment that is in the past`() {
        #expect(
            doubts(.timed("once", .at, "2020-01-01T08:00:00Z")) == [
                "2020-01-01T08:00:00Z is in the past: the job never runs by itself"
            ])
        #expect(doubts(.timed("once", .at, "2030-01-01T08:00:00Z")).isEmpty)
    }

    @Test func `is doubted for an expression that never occurs`() {
        #expect(
            doubts(.cron("a", "0 5 31 2 *")) == [
                "\"0 5 31 2 *\" never occurs: the job never runs by itself"
            ])
        #expect(doubts(.cron("a", "0 5 29 2 *")).isEmpty)
    }

    @Test func `is doubted for its program, its user, its folder and its input`() {
        let machine = MachineLook(
            programFault: { _ in "there is no program /x" }, isUser: { $0 != "ghost" },
            isFolder: { $0 != "/no/folder" }, isFile: { $0 != "/no/file" })
        var rules = ProcessRules()
        rules.user = "ghost"
        rules.input = .file("/no/file")
        let spec = JobSpec.manual("a").with {
            $0.process = rules
            $0.directory = "/no/folder"
        }
        #expect(
            doubts(spec, on: machine) == [
                "there is no program /x; each run fails until that is corrected",
                "there is no user \"ghost\"; each run fails until there is",
                "there is no folder /no/folder; each run fails until there is",
                "there is no file /no/file; each run fails until there is",
            ])
    }
}

@Suite struct `a daemon's status` {
    @Test func `counts how long it runs by a clock that nobody sets`() async throws {
        try await Tower.run(keepers: []) { tower in
            let start = tower.clock.now
            tower.clock.advance(by: .seconds(5))
            tower.clock.set(to: start + .seconds(3600))
            let status = try await tower.control.status()
            #expect(status.uptime == .seconds(5) && status.since == start)
        }
    }
}
