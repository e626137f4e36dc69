import Delivery
import Grouping
import Ledger
import Testing
import Timeline

@Suite struct `a message in the ledger` {
    @Test(arguments: LedgerBackend.available)
    func `is read as it was inserted, and only once`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let full = MessageRecord(
                message: Message(
                    id: "m1", bot: "ops", thread: "a/b", author: .user, text: "line\nline \u{1F514}\0end",
                    at: at(1), urgency: .critical, title: "T",
                    appearance: Appearance(icon: "i", soundName: "s", expireAfter: .seconds(3)),
                    replaceKey: "k", run: "backup#1"),
                read: true, pinned: true, run: "0199")
            try await ledger.commit([.insertMessage(full), .insertMessage(.sample("m1", text: "other"))])
            #expect(try await ledger.message(id: "m1") == full)
            #expect(try await ledger.message(id: "m2") == nil)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is found by bot and by words, newest first`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([
                .insertMessage(.sample("m1", text: "Grüße aus ÖSTERREICH")),
                .insertMessage(.sample("m2", bot: "web", text: "100 % done_")),
                .insertMessage(.sample("m3", text: "Österreich antwortet")),
            ])
            func ids(bot: String? = nil, _ search: String? = nil, limit: Int = 9) async throws -> [String] {
                try await ledger.messages(bot: bot, search: search, limit: limit).map(\.message.id)
            }
            #expect(try await ids() == ["m3", "m2", "m1"])
            #expect(try await ids(limit: 1) == ["m3"])
            #expect(try await ids(bot: "ops") == ["m3", "m1"])
            #expect(try await ids(bot: "ops", "österREICH") == ["m3", "m1"])
            #expect(try await ids("österreich", limit: 1) == ["m3"])
            #expect(try await ids("% DONE_") == ["m2"])
            #expect(try await ids("100%").isEmpty)
            #expect(try await ids("") == ["m3", "m2", "m1"])
            #expect(try await ids(bot: "none").isEmpty)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is searched by its words, or their beginnings, by bot and time`(_ backend: LedgerBackend)
        async throws
    {
        try await backend.withNew { ledger in
            try await ledger.commit([
                .insertMessage(.sample("m1", text: "The tape of the backup is full", seconds: 1)),
                .insertMessage(.sample("m2", bot: "web", text: "tapes: \"40\" left", seconds: 2)),
                .insertMessage(.sample("m3", text: "nothing of the sort", seconds: 3)),
            ])
            func ids(_ text: String, bot: String? = nil, since: Double = 0) async throws -> Set<String> {
                let hits = try await ledger.search(
                    text, bot: bot, since: at(since), limit: 9)
                #expect(hits.isRanked)
                return Set(hits.messages.map(\.message.id))
            }
            #expect(try await ids("TAPE") == ["m1"])
            #expect(try await ids("TAP") == ["m1", "m2"])
            #expect(try await ids("back tape") == ["m1"])
            #expect(try await ids("tap lef") == ["m2"])
            #expect(try await ids("tape left") == ["m2"], "tape is whole, and the beginning of tapes")
            #expect(try await ids("tape nobody").isEmpty)
            #expect(try await ids("tape", bot: "web") == ["m2"])
            #expect(try await ids("40") == ["m2"])
            #expect(try await ids("of the", since: 2) == ["m3"])
            // What means something to the index is a word like any other.
            for text in [
                "tape AND", "\"", "NEAR(", "text:tape", "*", "", "tape OR nothing", "a\"\u{301}b", "tape\0",
            ] {
                _ = try await ids(text)
            }
            #expect(try await ids("ackup").isEmpty)
            #expect(try await ids("!!").isEmpty)
        }
    }

    /// The model finds what any store must find, and ranks nothing.
    @Test func `is found best first: where it is rare, and a larger part of the text`() async throws {
        try await LedgerBackend.sqlite.withNew { ledger in
            let long = "disk of the machine that nobody has looked at since it was put into the rack"
            try await ledger.commit([
                .insertMessage(.sample("m1", text: "disk disk full", seconds: 1)),
                .insertMessage(.sample("m2", text: "disk full", seconds: 2)),
                .insertMessage(.sample("m3", text: long, seconds: 3)),
                .insertMessage(.sample("m4", text: "tape full", seconds: 4)),
            ])
            func ids(_ text: String) async throws -> [String] {
                let hits = try await ledger.search(text, bot: nil, since: nil, limit: 9)
                #expect(hits.isRanked)
                return hits.messages.map(\.message.id)
            }
            #expect(try await ids("disk") == ["m1", "m2", "m3"])
            #expect(try await ids("full").last == "m1")
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is found newest first where too many match to be ranked`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let count = MessageHits.mostRanked + 1
            for start in stride(from: 0, to: count, by: 5000) {
                try await ledger.commit(
                    (start..<min(count, start + 5000)).map { .insertMessage(.sample("m\($0)", text: "disk")) }
                )
            }
            let hits = try await ledger.search("disk", bot: nil, since: nil, limit: 2)
            #expect(!hits.isRanked)
            #expect(hits.messages.map(\.message.id) == ["m\(count - 1)", "m\(count - 2)"])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is found beside a word that very many have`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let count = MessageHits.mostRanked + 1
            var changes: [Change] = []
            for number in 0..<count {
                let text = number % 4000 == 7 ? "tape disk \(number)" : "disk"
                let bot = number % 5000 == 7 ? "web-2" : "ops"
                let id = "m\(number)"
                changes.append(.insertMessage(.sample(id, bot: bot, text: text, seconds: Double(number))))
            }
            try await ledger.commit(changes)
            func ids(_ text: String, bot: String? = nil, since: Double = 0, isRanked: Bool) async throws
                -> Set<String>
            {
                let hits = try await ledger.search(text, bot: bot, since: at(since), limit: 9)
                #expect(hits.isRanked == isRanked)
                return Set(hits.messages.map(\.message.id))
            }
            #expect(try await ids("tape disk", isRanked: true) == ["m7", "m4007", "m8007"])
            #expect(try await ids("disk tape", since: 4000, isRanked: true) == ["m4007", "m8007"])
            #expect(try await ids("disk tape", bot: "web-2", isRanked: true) == ["m7"])
            #expect(try await ids("disk", bot: "web-2", isRanked: false) == ["m7", "m5007"])
            #expect(try await ids("disk", bot: "web-2", since: 5000, isRanked: false) == ["m5007"])
            #expect(try await ids("disk", bot: "web-3", isRanked: true) == [])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is unread until its thread is read through its moment`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([
                .insertMessage(.sample("m1", seconds: 1)), .insertMessage(.sample("m2", seconds: 2)),
                .insertMessage(.sample("m3", seconds: 3)),
                .insertMessage(.sample("m4", thread: "other", seconds: 1)),
                .insertMessage(.sample("m5", bot: "web", seconds: 1)),
            ])
            #expect(try await ledger.unread() == ["ops": 4, "web": 1])
            try await ledger.commit([.markRead(bot: "ops", thread: "main", through: at(2))])
            #expect(try await ledger.unread() == ["ops": 2, "web": 1])
            #expect(try await ledger.message(id: "m2")?.read == true)
            #expect(try await ledger.message(id: "m3")?.read == false)
            try await ledger.commit([.markRead(bot: "web", thread: "main", through: at(9))])
            #expect(try await ledger.unread() == ["ops": 2])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `stays pinned or not as it was inserted`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([
                .insertMessage(.sample("m1", pinned: true)), .insertMessage(.sample("m2")),
            ])
            #expect(try await ledger.message(id: "m1")?.pinned == true)
            #expect(try await ledger.message(id: "m2")?.pinned == false)
        }
    }
}

@Suite struct `an item in the ledger` {
    @Test(arguments: LedgerBackend.available)
    func `is put only over the revision that was read`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            await expectFenced(ledger, [.putItem(.sample("a", revision: 2), replacing: 1)])
            try await ledger.commit([.putItem(.sample("a"), replacing: nil)])
            await expectFenced(ledger, [.putItem(.sample("a", revision: 2), replacing: nil)])
            let second = ItemRecord(
                key: .job("a"), revision: 2, state: [], flushAt: at(9), updatedAt: at(8))
            try await ledger.commit([.putItem(second, replacing: 1)])
            await expectFenced(ledger, [.putItem(.sample("a", revision: 3), replacing: 1)])
            #expect(try await ledger.item(.job("a")) == second)
            #expect(try await ledger.item(.thread(bot: "a", thread: "")) == nil)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `wakes by its timer, earliest first`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([
                .putItem(.sample("a", flushAt: at(30)), replacing: nil),
                .putItem(.sample("b", revision: 5), replacing: nil),
                .putItem(.sample("c", revision: 3, flushAt: at(20)), replacing: nil),
            ])
            #expect(try await ledger.itemsToWake(limit: 9).map(\.key) == [.job("c"), .job("a")])
            #expect(try await ledger.itemsToWake(limit: 1).map(\.key) == [.job("c")])
            #expect(try await ledger.items(limit: 9).map(\.key) == [.job("b"), .job("c"), .job("a")])
            #expect(try await ledger.items(limit: 2).map(\.key) == [.job("b"), .job("c")])
            try await ledger.commit([.putItem(.sample("c", revision: 4), replacing: 3)])
            #expect(try await ledger.itemsToWake(limit: 9).map(\.key) == [.job("a")])
        }
    }
}

@Suite struct `a question in the ledger` {
    private func asked(_ id: String, seconds: Double = 0) -> QuestionRecord {
        var question = Question(
            id: id, bot: "ops", text: "Deploy \"it\"?", choices: ["yes", "no"], askedAt: at(seconds))
        (question.run, question.fallback, question.deadline) = ("backup#3", "no", at(seconds + 60))
        return QuestionRecord(question, run: "r1")
    }

    @Test(arguments: LedgerBackend.available)
    func `is kept as it was asked, and listed until it is closed`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit(asked("q1").asking() + asked("q2", seconds: 1).asking())
            #expect(try await ledger.openQuestions() == [asked("q1"), asked("q2", seconds: 1)])
            let end = QuestionEnd(answer: "yes", by: "desk", at: at(5))
            try await ledger.commit(asked("q1").closing(end))
            #expect(try await ledger.openQuestions().map(\.id) == ["q2"])
            #expect(try await ledger.question(id: "q1")?.end == end)
            #expect(try await ledger.questions(limit: 9).map(\.id) == ["q2", "q1"])
            #expect(
                try await ledger.events(after: 0, limit: 9).map(\.event.type) == [
                    .questionAsked, .questionAsked, .questionAnswered,
                ])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is closed once, by whoever comes first`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit(asked("q1").asking())
            let first = QuestionEnd(answer: "no", by: "cli", at: at(5))
            try await ledger.commit(asked("q1").closing(first))
            for late in [QuestionEnd(answer: "yes", by: "desk", at: at(6)), QuestionEnd(.expired, at: at(7))]
            {
                await #expect(throws: LedgerError.self) { try await ledger.commit(asked("q1").closing(late)) }
            }
            await #expect(throws: LedgerError.self) { try await ledger.commit(asked("none").closing(first)) }
            #expect(try await ledger.question(id: "q1")?.end == first)
            #expect(try await ledger.lastEvent() == 2)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is asked once by its id`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit(asked("q1").asking())
            await #expect(throws: LedgerError.self) {
                try await ledger.commit(asked("q1", seconds: 9).asking())
            }
            #expect(try await ledger.questions(limit: 9) == [asked("q1")])
            #expect(try await ledger.lastEvent() == 1)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is removed some time after its end, with what was shown of it`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            for id in ["q1", "q2"] {
                try await ledger.commit(asked(id).asking())
                try await ledger.commit([
                    .putItem(
                        ItemRecord(
                            key: .question(id), revision: 1, state: [1], flushAt: nil, updatedAt: at(0)),
                        replacing: nil),
                    .wantSurface(channel: "desk", item: "question:\(id)", revision: 1, ring: true, at: at(0)),
                ])
            }
            try await ledger.commit(asked("q1").closing(QuestionEnd(.withdrawn, at: at(5))))
            try await ledger.commit([.removeHistory(before: at(6), limit: 9)])
            try await ledger.commit([.removeHistory(before: at(6), limit: 9)])
            #expect(try await ledger.questions(limit: 9).map(\.id) == ["q2"])
            #expect(try await ledger.items(limit: 9).map(\.key) == [.question("q2")])
            #expect(try await ledger.surfaces(channel: "desk", all: true).map(\.item) == ["question:q2"])
        }
    }
}
