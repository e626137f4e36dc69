import Grouping
import Ledger
import Testing
import Timeline
import Tracking

@Suite struct `a conversation in the ledger` {
    private func said(_ id: String, bot: String = "sage", thread: String = "main") -> Change {
        var record = MessageRecord.sample(id, bot: bot, thread: thread)
        record.message.author = .user
        return .insertMessage(record)
    }

    @Test(arguments: LedgerBackend.available)
    func `waits with what no run was given, up to its newest message`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([
                said("m1"), said("m2"), .insertMessage(.sample("m3", bot: "sage")), said("m4", thread: "b"),
            ])
            #expect(
                try await ledger.unaskedThreads() == [
                    UnaskedThread(bot: "sage", thread: "b", first: 4, newest: "m4"),
                    UnaskedThread(bot: "sage", thread: "main", first: 1, newest: "m2"),
                ])
            let first = try await ledger.said(bot: "sage", thread: "main", after: 0, limit: 9)
            #expect(first.map(\.record.message.id) == ["m1", "m2"])
            try await ledger.commit([
                .giveMessages(bot: "sage", thread: "main", run: "r1", through: first[0].number, at: at(1))
            ])
            #expect(try await ledger.unaskedThreads().map(\.newest) == ["m4", "m2"])
            #expect(try await ledger.message(id: "m1")?.askedRun == "r1")
            #expect(try await ledger.message(id: "m2")?.askedRun == nil)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `asks nothing of what was said elsewhere`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            var record = MessageRecord.sample("m1", bot: "sage")
            (record.message.author, record.sender) = (.user, "you, elsewhere")
            record.askedRun = MessageRecord.saidElsewhere
            try await ledger.commit([.insertMessage(record), said("m2")])
            #expect(try await ledger.unaskedThreads().map(\.newest) == ["m2"])
            let waiting = try await ledger.said(bot: "sage", thread: "main", after: 0, limit: 9)
            #expect(waiting.map(\.record.message.id) == ["m2"])
            try await ledger.commit([
                .giveMessages(bot: "sage", thread: "main", run: "r1", through: 2, at: at(1))
            ])
            #expect(try await ledger.message(id: "m1")?.askedRun == MessageRecord.saidElsewhere)
            #expect(try await ledger.message(id: "m1")?.sender == "you, elsewhere")
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `keeps its cursor until what was given is answered`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([said("m1"), said("m2")])
            let last = try #require(
                try await ledger.messages(bot: "sage", thread: "main", after: 0, limit: 1).first)
            try await ledger.commit([
                .giveMessages(bot: "sage", thread: "main", run: "r1", through: last.number, at: at(1))
            ])
            #expect(try await ledger.conversation(bot: "sage", thread: "main")?.cursor == 0)
            try await ledger.commit([.answerMessages(bot: "sage", thread: "main")])
            let answered = try #require(try await ledger.conversation(bot: "sage", thread: "main"))
            #expect(answered.cursor == last.number && answered.since == 0)
            let rest = try await ledger.said(bot: "sage", thread: "main", after: answered.cursor, limit: 9)
            #expect(rest.isEmpty)
            // A later run takes over nothing that is answered.
            try await ledger.commit([
                .giveMessages(bot: "sage", thread: "main", run: "r2", through: last.number, at: at(2))
            ])
            #expect(try await ledger.message(id: "m1")?.askedRun == "r1")
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `begins a new session in all threads of its bot`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([said("m1"), said("m2", thread: "b"), said("m3", bot: "ops")])
            try await ledger.commit([.beginSession(bot: "sage")])
            let main = try #require(try await ledger.conversation(bot: "sage", thread: "main"))
            #expect(main.since > 0 && main.cursor == 0)
            #expect(try await ledger.conversation(bot: "sage", thread: "b")?.since ?? 0 > main.since)
            #expect(try await ledger.conversation(bot: "ops", thread: "main") == nil)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `asks nothing again after a new session that was given before, and all that was not`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            func waiting() async throws -> [String] {
                let cursor = try await ledger.conversation(bot: "sage", thread: "main")?.cursor ?? 0
                return try await ledger.said(bot: "sage", thread: "main", after: cursor, limit: 9)
                    .map(\.record.message.id)
            }
            try await ledger.commit([
                said("m1"), .giveMessages(bot: "sage", thread: "main", run: "r1", through: 1, at: at(1)),
                said("m2"),
            ])
            #expect(try await waiting() == ["m1", "m2"])
            try await ledger.commit([.beginSession(bot: "sage")])
            #expect(try await waiting() == ["m2"])
            // A run that never began was given all there will ever be.
            try await ledger.commit([
                .giveMessages(bot: "sage", thread: "main", run: "r2", through: .max, at: at(2)),
                .beginSession(bot: "sage"), said("m3"),
            ])
            #expect(try await waiting() == ["m3"])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `keeps what resumes it until that is lost, or another session begins`(
        _ backend: LedgerBackend
    ) async throws {
        let session = Continuation(
            provider: "codex", id: "th-1", used: BotUsage(inputTokens: 7, outputTokens: 2))
        let keep = Change.keepSession(.kept(session), bot: "sage", thread: "main")
        try await backend.withNew { ledger in
            func conversation() async throws -> ConversationRecord? {
                try await ledger.conversation(bot: "sage", thread: "main")
            }
            try await ledger.commit([said("m1"), keep])
            #expect(try await conversation() == nil)
            try await ledger.commit([
                .giveMessages(bot: "sage", thread: "main", run: "r1", through: 1, at: at(1)),
                .insertMessage(.sample("m2", bot: "sage")), keep,
            ])
            #expect(try await conversation()?.continuation == session)
            #expect(try await conversation()?.known == 2)
            try await ledger.commit([.keepSession(.lost, bot: "sage", thread: "main")])
            #expect(try await conversation()?.continuation == nil)
            try await ledger.commit([keep, .beginSession(bot: "sage")])
            #expect(try await conversation()?.continuation == nil)
            // What was given before belongs to the session before.
            try await ledger.commit([keep])
            #expect(try await conversation()?.continuation == nil)
            try await ledger.commit([
                said("m3"), .giveMessages(bot: "sage", thread: "main", run: "r2", through: 3, at: at(2)),
                keep,
            ])
            #expect(try await conversation()?.continuation == session)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `keeps the newest summary of its bot, until another session begins`(
        _ backend: LedgerBackend
    ) async throws {
        func keep(_ text: String, through: Int64) -> Change {
            .keepSummary(text, bot: "sage", thread: "main", through: through)
        }
        try await backend.withNew { ledger in
            func conversation() async throws -> ConversationRecord? {
                try await ledger.conversation(bot: "sage", thread: "main")
            }
            // Also of a thread in which nobody was given anything: a job with a session has one.
            try await ledger.commit([said("m1"), said("m2"), said("m3"), keep("two", through: 2)])
            #expect(try await conversation()?.summary == "two")
            #expect(try await conversation()?.summarized == 2)
            try await ledger.commit([keep("again", through: 2), keep("one", through: 1)])
            #expect(try await conversation()?.summary == "two")
            try await ledger.commit([keep("three", through: 3)])
            #expect(try await conversation()?.summary == "three")
            // What a run of the session before made comes too late.
            try await ledger.commit([.beginSession(bot: "sage"), keep("late", through: 3)])
            #expect(try await conversation()?.summary == nil)
            #expect(try await conversation()?.summarized == 0)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `shows a reaction to its bot once`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let reaction = ReactionRecord(message: "m1", word: "\u{1F44D}", at: at(1))
            try await ledger.commit([
                .insertMessage(.sample("m1", bot: "sage")), .react(reaction), .react(reaction),
                .react(ReactionRecord(message: "none", word: "ok", at: at(1))),
                .react(ReactionRecord(message: "m1", word: "late", at: at(5))),
            ])
            #expect(try await ledger.message(id: "m1")?.reactions == ["\u{1F44D}", "late"])
            #expect(
                try await ledger.newReactions(bot: "sage", thread: "main").map(\.word) == [
                    "\u{1F44D}", "late",
                ])
            try await ledger.commit([
                .giveMessages(bot: "sage", thread: "main", run: "r1", through: 1, at: at(2)),
                .answerMessages(bot: "sage", thread: "main"),
            ])
            #expect(try await ledger.newReactions(bot: "sage", thread: "main").map(\.word) == ["late"])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `keeps a file with its message`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let note = AttachmentNote(name: "a \"b\".txt", bytes: 3)
            try await ledger.commit([said("m1"), .insertAttachment(message: "m1", note, [1, 0, 255])])
            #expect(try await ledger.message(id: "m1")?.attachment == note)
            #expect(try await ledger.attachment(of: "m1") == [1, 0, 255])
            #expect(try await ledger.attachment(of: "m2") == nil)
        }
    }
}
