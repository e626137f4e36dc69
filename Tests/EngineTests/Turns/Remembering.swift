import Delivery
import Grouping
import Ledger
import LedgerSQLite
import Performing
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite struct `what a bot is shown of a conversation` {
    private let decider = RunDecider(boot: "b")
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Somebody says it.
    private func say(_ text: String, at moment: Moment = at("10:00:00"), in ledger: SQLiteLedger) async throws
    {
        let message = Message(
            id: "m-\(text)", bot: "sage", thread: "main", author: .user, text: text, at: moment)
        try await ledger.commit([.insertMessage(MessageRecord(message: message))])
    }

    /// A run is given what was said, as far as one prompt holds it, and ends so; returns what its bot was asked.
    private func run(
        _ id: String, _ state: RunState, _ reason: RunReason? = nil, replying reply: String? = nil,
        in ledger: SQLiteLedger
    ) async throws -> ReplyPrompt? {
        guard let prompt = try await prompt(in: ledger) else { return nil }
        let spec = JobSpec(replyIn: "main", of: "sage")
        var record = RunRecord(
            id: id, job: spec.name, bot: "sage", kind: .reply, cause: "reply:\(id)", queuedAt: at("10:00:00"),
            revision: 0)
        record.spec = spec
        try await ledger.commit([.insertRun(record, orIgnore: false)])
        let claimed = decider.claim(try #require(try await ledger.run(id: id)), prompt)
        try await ledger.commit(claimed.changes)
        var exit = ExitRecord(
            key: RunKey(run: id, attempt: 1), cause: .exited, startedAt: at("10:00:01"),
            endedAt: at("10:00:02"))
        if state == .completed { (exit.exitCode, exit.reply) = (0, reply ?? "Yes.") }
        exit.partialReply = state == .completed ? nil : reply
        if let reason { exit.fault = AttemptFault(reason, "sage: no", mayPass: false) }
        let ended = decider.ended(claimed.after, exit, outlook: Outlook(spec: spec))
        #expect(ended.after.state == state && ended.after.reason == reason)
        try await ledger.commit(ended.changes)
        return prompt
    }

    private func prompt(in ledger: SQLiteLedger) async throws -> ReplyPrompt? {
        try await Conversations(ledger: ledger, zones: machineZones) { _ in TalkManner() }
            .prompt(bot: "sage", thread: "main", at: at("10:00:01"))
    }

    /// The texts in the order in which they stand there.
    private func order(_ words: [String], in prompt: ReplyPrompt?) -> [String] {
        let text = (prompt?.earlier.map(\.text) ?? []).joined(separator: "\n") + (prompt?.text ?? "")
        let places = words.compactMap { word in
            text.firstRange(of: ">\(word)<").map { (word, $0.lowerBound) }
        }
        return places.sorted { $0.1 < $1.1 }.map(\.0)
    }

    private static let words = ["one", "two", "three", "four"]

    @Test(arguments: [RunReason.promptTooLong, .refused])
    func `is nothing of what its provider will not answer, neither as a question nor as what was said before`(
        reason: RunReason
    ) async throws {
        let ledger = try folder.ledger()
        try await say("one", in: ledger)
        _ = try await run("r1", .completed, in: ledger)
        try await say("two", in: ledger)
        #expect(order(Self.words, in: try await run("r2", .failed, reason, in: ledger)) == ["one", "two"])
        // Nothing is left to ask, and the run of what is said next is shown nothing of it.
        #expect(try await prompt(in: ledger) == nil)
        try await say("three", in: ledger)
        #expect(order(Self.words, in: try await run("r3", .completed, in: ledger)) == ["one", "three"])
        try await say("four", in: ledger)
        #expect(order(Self.words, in: try await prompt(in: ledger)) == ["one", "three", "four"])
        #expect(try await ledger.unaskedThreads().count == 1)
        await ledger.close()
    }

    @Test func `is nothing of a reply that was declined in its middle`() async throws {
        let ledger = try folder.ledger()
        try await say("one", in: ledger)
        _ = try await run("r1", .failed, .refused, replying: "I begin", in: ledger)
        try await say("two", in: ledger)
        let prompt = try #require(try await prompt(in: ledger))
        #expect(prompt.earlier.isEmpty && order(Self.words, in: prompt) == ["two"])
        await ledger.close()
    }

    @Test func `is again what another failure left without an answer, in order`() async throws {
        let ledger = try folder.ledger()
        try await say("one", in: ledger)
        _ = try await run("r1", .failed, .badRequest, in: ledger)
        try await say("two", in: ledger)
        let prompt = try #require(try await prompt(in: ledger))
        #expect(prompt.earlier.isEmpty && order(Self.words, in: prompt) == ["one", "two"])
        // Until somebody begins another session.
        try await ledger.commit([.beginSession(bot: "sage")])
        #expect(order(Self.words, in: try await self.prompt(in: ledger)) == ["two"])
        await ledger.close()
    }

    @Test func `is nothing of what expired, and in order what was said while that waited`() async throws {
        let ledger = try folder.ledger()
        try await say("one", in: ledger)
        try await say("two", in: ledger)
        #expect(order(Self.words, in: try await run("r1", .failed, .expired, in: ledger)) == ["one", "two"])
        try await say("three", in: ledger)
        try await say("four", in: ledger)
        let prompt = try #require(try await prompt(in: ledger))
        #expect(prompt.earlier.isEmpty && order(Self.words, in: prompt) == ["three", "four"])
        await ledger.close()
    }
}

@Suite struct `work that shares a commit` {
    /// What is committed together, in order; the pieces in `bad` are refused wherever they are.
    private func commits(_ work: [Int], bad: Set<Int>) -> (commits: [[Int]], rest: [Int]) {
        var shared = SharedCommit(work)
        var commits: [[Int]] = []
        while let next = shared.next {
            if bad.isDisjoint(with: next) {
                commits.append(next)
                shared.committed()
            } else {
                shared.refused()
            }
        }
        return (commits, Array(shared.rest))
    }

    @Test func `is committed at once when nothing is refused`() {
        #expect(commits([1, 2, 3], bad: []) == ([[1, 2, 3]], []))
        #expect(commits([], bad: []) == ([], []))
    }

    @Test func `is committed piece by piece after a refusal, and only what is refused alone is given up`() {
        #expect(commits([1, 2, 3], bad: [2]) == ([[1], [3]], []))
        #expect(commits([7], bad: [7]) == ([], []))
        #expect(commits([1, 2], bad: [1, 2]) == ([], []))
    }

    @Test func `keeps what is neither committed nor refused when the ledger fails`() {
        var shared = SharedCommit([1, 2, 3])
        shared.refused()
        #expect(shared.next == [1] && shared.isSingle)
        shared.committed()
        shared.refused()
        #expect(Array(shared.rest) == [3])
    }
}
