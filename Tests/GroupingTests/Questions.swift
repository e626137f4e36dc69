import Grouping
import Testing
import Timeline

@Suite struct `a question to a person` {
    private let start = Moment(seconds: 1_774_000_000)

    private func question(_ choices: [String], takesText: Bool = false) -> Question {
        var question = Question(
            id: "0199a000-0000-7000-8000-00007a11c0de", bot: "ops", text: "Deploy?", choices: choices,
            askedAt: start)
        question.takesText = takesText
        return question
    }

    @Test(arguments: [
        ("yes", false, "yes"), ("YES", false, "yes"), ("Straße", false, "Straße"), ("maybe", false, nil),
        ("No", false, "No"), ("no", false, "no"), ("NO", false, nil), ("maybe", true, "maybe"),
        ("NO", true, "NO"), (" \n", true, nil), ("Yes", true, "yes"),
    ])
    func `accepts a choice, and any text only where it says so`(
        text: String, takesText: Bool, expected: String?
    ) {
        // Two choices may differ in their case alone: then only the very one is meant.
        let asked = question(["yes", "Straße", "no", "No"], takesText: takesText)
        #expect(asked.answer(meantBy: text) == expected)
    }

    @Test func `knows its buttons by their place`() {
        let asked = question(["default", "no"])
        #expect(asked.buttonKeys == ["answer-1", "answer-2"])
        #expect(asked.choice(ofButton: "answer-1") == "default")
        for key in ["answer-0", "answer-3", "answer-", "default", "no"] {
            #expect(asked.choice(ofButton: key) == nil, "\(key)")
        }
    }

    @Test func `names the command that answers it`() {
        #expect(question(["yes", "no"]).command == "belfry answer 7a11c0de yes|no")
        #expect(question(["not now", "ja"]).command == "belfry answer 7a11c0de 'not now'|ja")
        #expect(question([], takesText: true).command == "belfry answer 7a11c0de TEXT")
    }

    @Test func `says what happens without an answer`() {
        var asked = question(["yes", "no"])
        #expect(asked.deadlineWords == nil)
        asked.deadline = start + .seconds(5400)
        #expect(asked.deadlineWords == "open for 1 h 30 min")
        asked.fallback = "no"
        #expect(asked.deadlineWords == "no answer within 1 h 30 min means no")
        #expect(asked.asker == "ops")
        asked.run = "release#12"
        #expect(asked.asker == "release")
    }

    @Test func `is shown once, until it is closed`() {
        var item = QuestionItem(id: "q")
        guard case .flush(let shown)? = item.ask(question(["yes"]), at: start).first else {
            Issue.record("it was not shown")
            return
        }
        #expect(shown.reason == .asked && shown.reason.rings && shown.revision == 1)
        #expect(item.ask(question(["yes"]), at: start).isEmpty)
        #expect(item.close() == [.resolve(revision: 2)])
        #expect(item.close().isEmpty)
        #expect(item.ask(question(["yes"]), at: start).isEmpty)
    }

    @Test func `that is closed before it was shown never is`() {
        var item = QuestionItem(id: "q")
        #expect(item.close().isEmpty)
        #expect(item.ask(question(["yes"]), at: start).isEmpty)
    }

    @Test func `put away leaves the screen once`() {
        var item = QuestionItem(id: "q")
        _ = item.ask(question(["yes"]), at: start)
        #expect(item.dismissed(revision: 2).isEmpty)
        #expect(item.dismissed(revision: 1) == [.resolve(revision: 2)])
        #expect(item.putAway().isEmpty)
        #expect(item.close().isEmpty)
    }
}
