import Cron
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

@Suite(.timeLimit(.minutes(5))) struct `a change of jobs by a person` {
    private func tower(_ body: (Tower) async throws -> Void) async throws {
        try await Tower.run(keepers: [.slots], body)
    }

    /// Loads a job of a file.
    private func fromFile(_ name: String, on tower: Tower) async throws {
        _ = try await tower.control.slots.change([
            .put(.cron(name, "* * * * *"), origin: .file, place: "belfry.yaml:12")
        ])
    }

    @Test func `adds, edits and removes what people made`() async throws {
        try await tower { tower in
            let added = try await tower.control.add(.cron("mine", "0 3 * * *"))
            #expect(added.revision == 1 && added.origin == .cli)
            let edited = try await tower.control.edit("mine") { spec in spec.timeout = .seconds(60) }
            #expect(edited.revision == 2 && edited.spec.timeout == .seconds(60))
            let next = try await tower.control.preview("mine", count: 2)
            #expect(next.map(\.moment.iso8601) == ["2026-03-04T03:00:00Z", "2026-03-05T03:00:00Z"])
            try await tower.control.remove("mine")
            await #expect(throws: EngineError.noSuchJob("mine")) { try await tower.control.remove("mine") }
        }
    }

    @Test func `is refused where a prompt is to a bot that answers nobody`() async throws {
        try await tower { tower in
            let prompt = JobSpec.manual("mine").with { $0.action = .prompt("Hi") }
            await #expect(throws: EngineError.silentBot("belfry")) { try await tower.control.add(prompt) }
            _ = try await tower.control.add(.manual("mine"))
            await #expect(throws: EngineError.silentBot("belfry")) {
                try await tower.control.edit("mine") { spec in spec.action = .prompt("Hi") }
            }
        }
    }

    @Test func `that two make at the same time is made by one, and the other is refused`() async throws {
        try await tower { tower in
            let answers = await withTaskGroup(of: Result<JobRecord, EngineError>.self) { group in
                for number in 1...8 {
                    group.addTask {
                        do throws(EngineError) {
                            return .success(try await tower.control.add(.manual("mine", "echo \(number)")))
                        } catch {
                            return .failure(error)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let made = answers.compactMap { try? $0.get() }
            #expect(made.count == 1 && made.first?.revision == 1)
            let stored = try #require(try await tower.ledger.job(named: "mine"))
            #expect(stored.spec == made.first?.spec && stored.revision == 1)
            for case .failure(let error) in answers { #expect(error == .nameTaken("mine")) }
        }
    }

    @Test func `that two change at the same time keeps both changes`() async throws {
        try await tower { tower in
            _ = try await tower.control.add(.manual("mine"))
            async let one = tower.control.edit("mine") { spec in spec.timeout = .seconds(60) }
            async let two = tower.control.edit("mine") { spec in spec.bot = "ops" }
            _ = try await (one, two)
            let spec = try #require(try await tower.ledger.job(named: "mine")).spec
            #expect(spec.timeout == .seconds(60) && spec.bot == "ops")
        }
    }

    @Test func `never makes again what was removed`() async throws {
        try await tower { tower in
            let record = try await tower.control.add(.manual("mine"))
            try await tower.control.remove("mine")
            await #expect(throws: EngineError.noSuchJob("mine")) {
                try await tower.control.slots.change([.revise(record.spec, of: record.revision)])
            }
        }
    }

    @Test func `for a moment in the past is refused, but a job whose moment has passed may be changed`()
        async throws
    {
        try await tower { tower in
            await #expect(throws: EngineError.self) {
                try await tower.control.add(.timed("once", .at, "2026-03-03T09:59:59Z"))
            }
            _ = try await tower.control.add(.timed("once", .at, "2026-03-03T10:00:01Z"))
            tower.clock.advance(to: at("10:00:02"))
            let edited = try await tower.control.edit("once") { spec in spec.timeout = .seconds(5) }
            #expect(edited.revision == 2)
        }
    }

    @Test func `that makes a crowd in one second reports it`() async throws {
        try await tower { tower in
            let edits = (0..<200).map { JobEdit.add(.cron("job-\($0)", "0 12 * * *"), origin: .cli) }
            _ = try await tower.control.slots.change(edits)
            _ = try await tower.control.add(.cron("calm", "0 12 * * *").with { $0.spread = .seconds(60) })
            #expect(await tower.control.warnings(of: "calm").isEmpty)
            _ = try await tower.control.add(.cron("more", "0 * * * *"))
            #expect(await tower.control.warnings(of: "more").isEmpty)
            _ = try await tower.control.edit("more") { spec in spec.schedule.text = "0 12 * * *" }
            let said = await tower.control.warnings(of: "more")
            #expect(said.first?.contains("201 jobs run in the second 2026-03-03T12:00:00Z") == true)
            #expect(await tower.control.slots.largestCrowd()?.count == 201)
        }
    }

    @Test func `is refused for a job of a file, which names its line, but pausing is not`() async throws {
        try await tower { tower in
            try await fromFile("theirs", on: tower)
            let refusal = EngineError.ownedByFile(job: "theirs", place: "belfry.yaml:12")
            await #expect(throws: refusal) { try await tower.control.remove("theirs") }
            await #expect(throws: refusal) {
                try await tower.control.edit("theirs") { spec in spec.bot = "me" }
            }
            #expect(try await tower.control.pause("theirs", note: nil).pause != nil)
            #expect(try await tower.control.resume("theirs").pause == nil)
        }
    }

    @Test func `is refused with the place of the fault, and nothing is stored`() async throws {
        try await tower { tower in
            do {
                _ = try await tower.control.add(.cron("bad", "0 25 * * *"))
                Issue.record("not refused")
            } catch let error as EngineError {
                guard case .badSchedule(let text) = error else { throw error }
                #expect(text.contains("25") && text.contains("^^"))
            }
            var spec = JobSpec.cron("bad", "0 3 * * *")
            spec.schedule.zone = "Mars/Olympus"
            let lost = spec
            await #expect(throws: EngineError.noSuchZone("Mars/Olympus")) {
                try await tower.control.add(lost)
            }
            for name in ["", "Upper", "retry", "a b"] {
                await #expect(throws: EngineError.self) { try await tower.control.add(.manual(name)) }
            }
            _ = try await tower.control.add(.manual("good"))
            await #expect(throws: EngineError.nameTaken("good")) {
                try await tower.control.add(.manual("good"))
            }
            #expect(try await tower.ledger.jobs().map(\.name) == ["good"])
        }
    }

    @Test func `asks for runs, and gets the reason where there is none`() async throws {
        try await tower { tower in
            _ = try await tower.control.add(.manual("job"))
            let run = try await tower.control.runNow("job", force: false, key: "k")
            #expect(try await tower.control.runNow("job", force: false, key: "k").id == run.id)
            await #expect(throws: EngineError.busy(job: "job", runs: [run.id])) {
                try await tower.control.runNow("job", force: false, key: nil)
            }
            await #expect(throws: EngineError.notEnded(run: "job#1")) {
                try await tower.control.retry(run)
            }
            await #expect(throws: EngineError.noSuchRun("job#9")) {
                try await tower.control.run(named: "job", 9)
            }
            try await tower.control.cancel(run)
            let ended = try await tower.control.run(named: "job", 1)
            #expect(ended.state == .canceled)
            await #expect(throws: EngineError.ended(run: "job#1", state: "canceled")) {
                try await tower.control.cancel(ended)
            }
            let again = try await tower.control.retry(ended)
            #expect(again.retryOf == run.id && again.name == "job#2")
            let exec = try await tower.control.exec(.manual("make"), ExecLoan(environment: [:]))
            // Sent again after its answer was lost: a job of its name may have been added meanwhile, or removed.
            for name in ["late", "job"] {
                let id = freshID()
                func send() async throws -> String {
                    try await tower.control.exec(
                        .manual(name), id: id, isNamed: name == "late", ExecLoan(environment: [:])
                    ).id
                }
                let first = try await send()
                if name == "late" {
                    _ = try await tower.control.add(.manual(name))
                } else {
                    try await tower.control.remove(name)
                }
                #expect(try await send() == first)
                if name == "job" { _ = try await tower.control.add(.manual(name)) }
            }
            #expect(exec.kind == .exec && exec.name == "make#1")
            // A command is no run of the job whose name it bears.
            await #expect(throws: EngineError.jobsName("job")) {
                try await tower.control.exec(.manual("job"), ExecLoan(environment: [:]))
            }
            let own = try await tower.control.exec(
                .manual("job"), isNamed: false, ExecLoan(environment: [:]))
            #expect(own.name == "job.exec#2")
        }
    }

    @Test func `shows in the status`() async throws {
        try await tower { tower in
            _ = try await tower.control.add(.cron("sleepy", "0 10 * * *"))
            _ = try await tower.control.add(.cron("hourly", "0 * * * *"))
            _ = try await tower.control.pause("sleepy", note: nil)
            _ = try await tower.control.runNow("hourly", force: false, key: nil)
            let status = try await tower.control.status()
            #expect(status.jobs == 2 && status.queued == 1 && status.running == 0)
            #expect(status.next?.job == "hourly" && status.next?.slot == at("11:00:00"))
            #expect(status.problems.map(\.kind) == ["noWarden"])
        }
    }

    @Test func `shows a bot that can't be asked as it is, and as a problem`() async throws {
        try await Tower.run(keepers: [], bots: ["sage": try BudgetScene.bot(nil)]) { tower in
            #expect(try await tower.control.status().bots["sage"]?.view.status == .online)
            let outcome = BotReply.Outcome.failed(.auth, "sage: refused")
            try await tower.ledger.commit([
                .recordReply(
                    BotReply(
                        bot: "sage", month: "2026-03", at: tower.clock.now, usage: BotUsage(),
                        outcome: outcome))
            ])
            let status = try await tower.control.status()
            #expect(status.bots.mapValues(\.view.status) == ["sage": .blocked])
            let problems = status.problems.filter { $0.kind == "bot" }.map(\.message)
            let since = try #require(status.bots["sage"]?.view.since)
            #expect(since == tower.clock.now)
            #expect(problems == ["bot \"sage\" is blocked since \(since.iso8601): refused"])
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a reload` {
    private func reload(
        _ jobs: [(spec: JobSpec, place: String)], on tower: Tower
    ) async throws -> JobDifference {
        var configuration = tower.activeConfiguration.configuration
        configuration.jobs = jobs
        tower.file.value = .success(configuration)
        return try await tower.control.reload()
    }

    @Test func `shows what it changed, and reports it in an event`() async throws {
        try await Tower.run(keepers: [.slots]) { tower in
            let first = try await reload(
                [(.cron("a", "* * * * *"), "f:1"), (.cron("b", "* * * * *"), "f:2")], on: tower)
            #expect(first.added == ["a", "b"] && first.changed.isEmpty && first.removed.isEmpty)
            let second = try await reload(
                [(.cron("b", "0 * * * *"), "f:1"), (.cron("c", "* * * * *"), "f:2")], on: tower)
            #expect(second.added == ["c"] && second.changed == ["b"] && second.removed == ["a"])
            let third = try await reload(
                [(.cron("b", "0 * * * *"), "f:7"), (.cron("c", "* * * * *"), "f:9")], on: tower)
            #expect(third.isEmpty)
            #expect(try await tower.ledger.jobs().map(\.place) == ["f:7", "f:9"])
            let events = try await tower.ledger.events(after: 0, limit: 9).map(\.event)
            #expect(events.map(\.type) == [.configReloaded, .configReloaded, .configReloaded])
            let difference = Fact.Reload.Difference(added: ["c"], changed: ["b"], removed: ["a"])
            #expect(events[1].fact == .configReloaded(Fact.Reload(difference)))
        }
    }

    @Test func `names what is different besides jobs, and reports it in its event`() async throws {
        let bots = ["sage": BotProfile(name: "sage"), "ops": BotProfile(name: "ops")]
        try await Tower.run(keepers: [.slots], bots: bots) { tower in
            let curl = try CurlMulti()
            var next = tower.activeConfiguration.configuration
            next.bots["ops"] = nil
            next.bots["sage"]?.urgency = .low
            next.bots["new"] = BotProfile(name: "new")
            next.channels = [try makeHook("hook", curl: curl)]
            next.versions = ["hook": 1]
            next.routing = Routing(routes: [Route(when: [.failed], to: ["hook"])])
            next.inhibitions = [Inhibition(failing: [], silences: [], equal: [])]
            next.zone = "Europe/Berlin"
            tower.file.value = .success(next)
            let first = try await tower.control.reload()
            #expect(first.others.bots == .init(added: ["new"], changed: ["sage"], removed: ["ops"]))
            #expect(first.others.channels == .init(added: ["hook"], changed: [], removed: []))
            #expect(first.others.parts == ["routes", "inhibit", "zone"] && !first.isEmpty)
            // The same channel, made again.
            next.versions = ["hook": 2]
            tower.file.value = .success(next)
            let second = try await tower.control.reload()
            #expect(second.others.channels == .init(added: [], changed: ["hook"], removed: []))
            #expect(second.others.parts == [] && second.others.bots.isEmpty)
            #expect(try await tower.control.reload().isEmpty)
            let facts = try await tower.ledger.events(after: 0, limit: 9).map(\.event.fact)
            guard case .configReloaded(let reload)? = facts.first else { Issue.record("\(facts)"); return }
            #expect(reload.difference?.bots == first.others.bots)
            #expect(
                reload.sentence
                    == "The configuration was reloaded. Bots added: new; changed: sage; removed: ops. "
                    + "Channels added: hook. Changed: routes, inhibit, zone.")
            guard case .configReloaded(let last)? = facts.last else { Issue.record("\(facts)"); return }
            #expect(last.sentence == "The configuration was reloaded. Nothing is different.")
        }
    }

    @Test func `that is refused leaves everything as it was`() async throws {
        try await Tower.run(keepers: [.slots]) { tower in
            _ = try await reload([(.cron("a", "* * * * *"), "f:1")], on: tower)
            _ = try await tower.control.add(.manual("mine"))
            let before = try await tower.ledger.jobs()
            do {
                _ = try await reload([(.cron("b", "* * * * *"), "f:1"), (.manual("mine"), "f:2")], on: tower)
                Issue.record("not refused")
            } catch let refusal as ReloadRefusal {
                #expect(refusal.description.hasPrefix("f:2: ") && refusal.description.contains("mine"))
            }
            tower.file.value = .failure(ReloadRefusal(description: "f:9:3: unknown key"))
            await #expect(throws: ReloadRefusal.self) { try await tower.control.reload() }
            #expect(try await tower.ledger.jobs() == before)
            #expect(tower.activeConfiguration.configuration.jobs.map(\.place) == ["f:1"])
        }
    }

    @Test func `is refused while the file is missing, and the status shows it`() async throws {
        try await Tower.run(keepers: [.slots]) { tower in
            _ = try await reload([(.cron("a", "* * * * *"), "f:1")], on: tower)
            var nothing = tower.activeConfiguration.configuration
            nothing.path = nil
            nothing.jobs = []
            tower.file.value = .success(nothing)
            await #expect(throws: ReloadRefusal.self) { try await tower.control.reload() }
            #expect(try await tower.ledger.jobs().map(\.name) == ["a"])
            let problems = try await tower.control.status().problems
            let path = tower.folder.file("belfry.yaml")
            #expect(problems.first?.kind == "refusedConfiguration")
            #expect(problems.first?.message.contains("\(path) no longer exists") == true)
            _ = try await reload([(.cron("a", "* * * * *"), "f:1")], on: tower)
            #expect(try await tower.control.status().problems.map(\.kind) == ["noWarden"])
        }
    }

    @Test func `gives a job that comes back its pause again`() async throws {
        try await Tower.run(keepers: [.slots]) { tower in
            _ = try await reload([(.cron("a", "* * * * *"), "f:1")], on: tower)
            let paused = try await tower.control.pause("a", note: "until the move is over").pause
            _ = try await reload([], on: tower)
            _ = try await reload([(.cron("a", "* * * * *"), "f:1")], on: tower)
            #expect(try await tower.ledger.jobs().first?.pause == paused)
            _ = try await tower.control.resume("a")
            _ = try await reload([], on: tower)
            _ = try await reload([(.cron("a", "* * * * *"), "f:1")], on: tower)
            #expect(try await tower.ledger.jobs().first?.pause == nil)
        }
    }

    @Test func `never touches what people made, nor their pauses`() async throws {
        try await Tower.run(keepers: [.slots]) { tower in
            _ = try await tower.control.add(.manual("mine"))
            _ = try await reload([(.cron("a", "* * * * *"), "f:1")], on: tower)
            _ = try await tower.control.pause("a", note: "later")
            _ = try await reload([(.cron("a", "0 * * * *"), "f:1")], on: tower)
            let jobs = try await tower.ledger.jobs()
            #expect(jobs.map(\.name) == ["a", "mine"])
            #expect(jobs.first?.pause?.note == "later" && jobs.first?.revision == 2)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `an outbox entry in a person's hand` {
    private func put(_ id: String, _ state: OutboxState, on tower: Tower) async throws {
        try await tower.ledger.commit([
            .insertOutbox(
                OutboxRecord(
                    id: id, channel: "hook", cause: id, type: "run.failed", reason: "failed", state: state,
                    createdAt: tower.clock.now, nextAt: nil, body: [0x7B, 0x7D]))
        ])
    }

    @Test func `is sent once more, or given up, where that makes sense`() async throws {
        try await Tower.run(keepers: []) { tower in
            for state in OutboxState.allCases { try await put(state.rawValue, state, on: tower) }
            #expect(try await tower.control.retryEntry("dead").state == .pending)
            #expect(try await tower.control.retryEntry("pending").nextAt == tower.clock.now)
            for state in [OutboxState.held, .expired] {
                #expect(try await tower.control.retryEntry(state.rawValue).state == .pending)
            }
            await #expect(throws: EngineError.channelMissing(entry: "waiting", channel: "hook")) {
                try await tower.control.retryEntry("waiting")
            }
            let form = try makeHookForm()
            tower.activeConfiguration.change {
                $0.leftOut = [
                    LeftOut(.channel("hook", form), place: "f:9", reason: "the secret can't be read")
                ]
            }
            await #expect(
                throws: EngineError.notAllowed(entry: "waiting", state: "waiting", channel: "hook")
            ) {
                try await tower.control.retryEntry("waiting")
            }
            #expect(try await tower.control.discardEntry("waiting").state == .discarded)
            for state in [OutboxState.delivered, .discarded, .superseded] {
                await #expect(throws: EngineError.notAllowed(entry: state.rawValue, state: state.rawValue)) {
                    try await tower.control.retryEntry(state.rawValue)
                }
                await #expect(throws: EngineError.notAllowed(entry: state.rawValue, state: state.rawValue)) {
                    try await tower.control.discardEntry(state.rawValue)
                }
            }
            await #expect(throws: EngineError.noSuchEntry("ghost")) {
                try await tower.control.retryEntry("ghost")
            }
        }
    }
}
