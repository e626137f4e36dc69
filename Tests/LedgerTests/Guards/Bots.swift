import Ledger
import Testing
import Timeline
import Tracking

@Suite struct `a bot in the ledger` {
    private func reply(
        _ outcome: BotReply.Outcome, month: String = "2026-11", cost: Int64? = nil, seconds: Double = 1
    ) -> Change {
        .recordReply(
            BotReply(
                bot: "sage", month: month, at: at(seconds),
                usage: BotUsage(inputTokens: 10, cachedTokens: 4, outputTokens: 5, costMicros: cost),
                outcome: outcome))
    }

    @Test(arguments: LedgerBackend.available)
    func `has what it used month by month, also by attempts that failed`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([
                reply(.replied(first: nil, whole: nil), cost: 7), reply(.failed(.truncated, nil)),
                reply(.canceled, cost: 3), reply(.replied(first: nil, whole: nil), month: "2026-12"),
            ])
            let months = try await ledger.months(of: "sage")
            #expect(months.map(\.month) == ["2026-11", "2026-12"] && months.map(\.replies) == [1, 1])
            #expect(
                months.first?.usage
                    == BotUsage(inputTokens: 30, cachedTokens: 12, outputTokens: 15, costMicros: 10))
            #expect(months.last?.usage.costMicros == nil)
            #expect(try await ledger.months(of: nil) == months)
            #expect(try await ledger.months(of: "none").isEmpty)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `keeps its last reply and its last failure`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([reply(.failed(.auth, "no"), seconds: 1)])
            try await ledger.commit([
                reply(.replied(first: .milliseconds(20), whole: .seconds(2)), seconds: 2),
                reply(.canceled, seconds: 3),
            ])
            let bot = try #require(try await ledger.bots().first)
            #expect(bot.lastFailure == BotRecord.Failure(at: at(1), reason: .auth, text: "no"))
            #expect(
                bot.lastSuccess == BotRecord.Success(at: at(2), first: .milliseconds(20), whole: .seconds(2)))
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `has the usage of a run and of each attempt beside it`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let usage = BotUsage(inputTokens: 1, outputTokens: 2, costMicros: 3)
            var run = RunRecord.sample("r1")
            run.usage = usage
            var attempt = AttemptRecord(run: "r1", n: 1, state: .failed)
            attempt.usage = usage
            try await ledger.commit([.insertRun(run, orIgnore: false), .putAttempt(attempt)])
            #expect(try await ledger.attempts(of: "r1").first?.usage == usage)
            #expect(try await ledger.run(id: "r1")?.usage == usage)
            var move = RunMove(run: "r1", from: [.queued], attempt: 1, to: .starting)
            try await ledger.commit([.moveRun(move)])
            #expect(try await ledger.run(id: "r1")?.usage == usage)
            move = RunMove(run: "r1", from: [.starting], attempt: 1, to: .failed)
            move.usage = usage + usage
            try await ledger.commit([.moveRun(move)])
            #expect(try await ledger.run(id: "r1")?.usage == usage + usage)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `of the command line is changed from the revision that was read, and removed`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            var bot = BotEntry(name: "sage", settings: .object(["model": .string("m")]))
            try await ledger.commit([.putBot(bot, replacing: nil)])
            #expect(try await ledger.botEntries() == [bot])
            await #expect(throws: LedgerError.self) {
                try await ledger.commit([.putBot(bot, replacing: nil)])
            }
            bot.revision = 2
            bot.settings = .object(["model": .string("n")])
            await #expect(throws: LedgerError.self) { try await ledger.commit([.putBot(bot, replacing: 2)]) }
            try await ledger.commit([.putBot(bot, replacing: 1)])
            #expect(try await ledger.botEntries() == [bot])
            await #expect(throws: LedgerError.self) {
                try await ledger.commit([.removeBot(name: "sage", revision: 1)])
            }
            try await ledger.commit([.removeBot(name: "sage", revision: 2)])
            #expect(try await ledger.botEntries().isEmpty)
        }
    }
}
