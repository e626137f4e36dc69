import Grouping
import Ledger
import Synchronization
import TestSupport
import Testing
import Timeline

@Suite struct `the stream of commits` {
    @Test(arguments: LedgerBackend.available)
    func `names the stations that were touched`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            var touched = ledger.commits().makeAsyncIterator()
            let question = Question(id: "q1", bot: "ops", text: "?", choices: ["yes"], askedAt: at(0))
            let lists: [(changes: [Change], stations: Set<Station>)] = [
                ([.putJob(.sample("a"), replacing: nil)], [.jobs]),
                ([.run("r1"), .event()], [.runs, .events]),
                ([.insertMessage(.sample("m1"))], [.talk]),
                ([.insertMessage(.sample("m2", text: "@ops look"))], [.talk, .replies]),
                (
                    [
                        .insertMessage(
                            MessageRecord(
                                message: Message(
                                    id: "m3", bot: "ops", thread: "main", author: .user, text: "hi", at: at(0)
                                )))
                    ],
                    [.talk, .replies]
                ),
                ([.insertQuestion(QuestionRecord(question, run: nil))], [.questions]),
                ([.closeQuestion(id: "q1", QuestionEnd(.withdrawn, at: at(9)))], [.questions]),
                (
                    [.insertOutbox(.sample("o1")), .moveConsumer(name: "x", from: 0, to: 1)],
                    [.outbox, .events]
                ),
            ]
            for list in lists {
                try await ledger.commit(list.changes)
                #expect(await touched.next() == list.stations)
            }
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `reaches a slow listener once, with everything since`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            var slow = ledger.commits().makeAsyncIterator()
            try await ledger.commit([.event()])
            try await ledger.commit([.run("r1")])
            await expectFenced(ledger, [.pauseJob(name: "none", nil)])
            try await ledger.commit([.setFact(name: "x", value: "y")])
            try await ledger.commit([.run("r2", slot: 1)])
            var late = ledger.commits().makeAsyncIterator()
            try await ledger.commit([.insertOutbox(.sample("o1"))])
            #expect(await slow.next() == [.events, .runs, .outbox])
            #expect(await late.next() == [.outbox])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `ends when the ledger is closed, after the last commit`(_ backend: LedgerBackend) async throws {
        let folder = try TemporaryFolder()
        let ledger = try backend.open(in: folder)
        var touched = ledger.commits().makeAsyncIterator()
        let waiting = Task { [stream = ledger.commits()] in
            var count = 0
            for await _ in stream { count += 1 }
            return count
        }
        try await ledger.commit([.event()])
        await ledger.close()
        #expect(await touched.next() == [.events])
        #expect(await touched.next() == nil)
        #expect(await waiting.value == 1)
        var afterwards = ledger.commits().makeAsyncIterator()
        #expect(await afterwards.next() == nil)
    }

    @Test(arguments: LedgerBackend.available)
    func `ends when its reader is cancelled`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let waiting = Task { [stream = ledger.commits()] in
                for await _ in stream {}
                return true
            }
            waiting.cancel()
            #expect(await waiting.value)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `reaches an observer, too, until the ledger is closed`(_ backend: LedgerBackend) async throws {
        let folder = try TemporaryFolder()
        let ledger = try backend.open(in: folder)
        let seen = Mutex<[Set<Station>]>([])
        let observation = ledger.observeCommits { stations in seen.withLock { $0.append(stations) } }
        try await ledger.commit([.event()])
        await ledger.close()
        await observation.waitForEnd()
        #expect(seen.withLock(\.self) == [[.events]])
    }
}
