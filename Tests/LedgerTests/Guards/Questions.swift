import Delivery
import Grouping
import Ledger
import Testing
import Timeline

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
