import Delivery
import Grouping
import Ledger
import Synchronization
import TestSupport
import Testing
import Timeline

@Suite(.timeLimit(.minutes(5))) struct `a broadcast` {
    @Test func `reaches every listener from its beginning on`() async {
        let numbers = Broadcast<Int>()
        var (early, first) = (
            numbers.values().makeAsyncIterator(), numbers.values(first: 0).makeAsyncIterator()
        )
        #expect(await first.next() == 0)
        numbers.publish(1)
        var late = numbers.values().makeAsyncIterator()
        #expect(await early.next() == 1)
        #expect(await first.next() == 1)
        numbers.publish(2)
        #expect(await late.next() == 2)
    }

    @Test func `gives a slow listener the newest value`() async {
        let numbers = Broadcast<Int>()
        var slow = numbers.values(first: 0).makeAsyncIterator()
        for number in 1...9 { numbers.publish(number) }
        #expect(await slow.next() == 9)
        numbers.publish(10)
        #expect(await slow.next() == 10)
    }

    @Test func `gives a slow listener all that it missed as one value, where values are merged`() async {
        let letters = Broadcast<Set<String>> { $0.formUnion($1) }
        var slow = letters.values().makeAsyncIterator()
        letters.publish(["a"])
        letters.publish(["b", "a"])
        #expect(await slow.next() == ["a", "b"])
    }

    @Test func `ends after what was published before, also when nobody holds it any more`() async {
        var numbers: Broadcast<Int>? = Broadcast<Int>()
        var listener = numbers?.values().makeAsyncIterator()
        numbers?.publish(1)
        numbers?.end()
        #expect(await listener?.next() == 1)
        #expect(await listener?.next() == Int?.none)
        var late = numbers?.values(first: 7).makeAsyncIterator()
        #expect(await late?.next() == 7)
        #expect(await late?.next() == Int?.none)
        numbers = Broadcast<Int>()
        let waiting = Task { [stream = numbers?.values()] in
            guard let stream else { return }
            for await _ in stream {}
        }
        numbers = nil
        await waiting.value
    }

    @Test func `lets a cancelled listener go`() async {
        let numbers = Broadcast<Int>()
        let waiting = Task { [stream = numbers.values()] in for await _ in stream {} }
        waiting.cancel()
        await waiting.value
    }

    @Test func `passes every value on to an observer, in order, before it is published to the end`() async {
        let numbers = Broadcast<Int>()
        let seen = Mutex<[Int]>([])
        numbers.publish(0)
        let observation = numbers.observe { number in seen.withLock { $0.append(number) } }
        for number in 1...3 {
            numbers.publish(number)
            #expect(seen.withLock { $0.last } == number)
        }
        numbers.end()
        await observation.waitForEnd()
        #expect(seen.withLock(\.self) == [1, 2, 3])
    }

    @Test func `passes nothing on once the observer is cancelled`() async {
        let numbers = Broadcast<Int>()
        let seen = Mutex<[Int]>([])
        let observation = numbers.observe { number in seen.withLock { $0.append(number) } }
        numbers.publish(1)
        let waiting = Task { await observation.waitForEnd() }
        waiting.cancel()
        await waiting.value
        numbers.publish(2)
        #expect(seen.withLock(\.self) == [1])
    }
}

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

    @Test(arguments: LedgerBackend.available)
    func `hands over the entries that a commit added to the outbox, and says whether others may have moved`(
        _ backend: LedgerBackend
    ) async throws {
        let folder = try TemporaryFolder()
        let ledger = try backend.open(in: folder)
        let seen = Mutex<[OutboxNews]>([])
        let observation = ledger.observeOutbox { news in seen.withLock { $0.append(news) } }
        try await ledger.commit([.insertOutbox(.sample("o1")), .event(), .insertOutbox(.sample("o2"))])
        // There already, by its cause; and nothing of the outbox at all.
        var again = OutboxRecord.sample("o3")
        again.cause = OutboxRecord.sample("o1").cause
        try await ledger.commit([.insertOutbox(again)])
        try await ledger.commit([.event()])
        let move = OutboxMove(id: "o1", from: .pending, attempts: 0, to: .delivered, nextAttempts: 1)
        try await ledger.commit([.moveOutbox(move), .insertOutbox(.sample("o4"))])
        // What is refused was never there.
        await #expect(throws: LedgerError.self) {
            try await ledger.commit([.insertOutbox(.sample("o5")), .moveOutbox(move)])
        }
        await ledger.close()
        await observation.waitForEnd()
        let news = seen.withLock(\.self)
        #expect(news.map { $0.added.map(\.id) } == [["o1", "o2"], ["o4"]])
        #expect(news.map(\.movesOthers) == [false, true])
        #expect(news.first?.added.first == .sample("o1"))
    }

    @Test(arguments: LedgerBackend.available)
    func `says for which channels entries are about to be added, before the commit that adds them is known`(
        _ backend: LedgerBackend
    ) async throws {
        let folder = try TemporaryFolder()
        let ledger = try backend.open(in: folder)
        let seen = Mutex<[String]>([])
        let upcoming = ledger.observeUpcoming { channels in
            seen.withLock { $0.append("upcoming \(channels.sorted())") }
        }
        let known = ledger.observeOutbox { news in
            seen.withLock { $0.append("added \(news.added.map(\.id))") }
        }
        try await ledger.commit([
            .insertOutbox(.sample("o1", channel: "b")), .insertOutbox(.sample("o2", channel: "a")),
        ])
        try await ledger.commit([.event()])
        await ledger.close()
        await upcoming.waitForEnd()
        await known.waitForEnd()
        #expect(seen.withLock(\.self) == [#"upcoming ["a", "b"]"#, #"added ["o1", "o2"]"#])
    }
}
