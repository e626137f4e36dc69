import Delivery
import Ledger
import Testing
import Timeline

@testable import Engine

@Suite struct `the news of a line` {
    private let inHand = EntriesInHand()

    private func entry(
        _ id: String, on channel: String = "one", item: String? = nil, run: String? = nil,
        state: OutboxState = .pending, dueAt: Moment? = Moment(seconds: 1)
    ) -> OutboxRecord {
        OutboxRecord(
            id: id, channel: channel, cause: id, type: "run.failed", reason: "failed", state: state,
            createdAt: Moment(seconds: 0), nextAt: dueAt, run: run, item: item, body: [])
    }

    private func news(_ added: [OutboxRecord], movesOthers: Bool = false) -> OutboxNews {
        var news = OutboxNews()
        (news.added, news.movesOthers) = (added, movesOthers)
        return news
    }

    @Test func `are nothing before it was read, and then the entries of its channel in their order`() {
        let line = LineNews(of: "one", inHand)
        #expect(line.add(news([entry("a")])))
        #expect(line.take() == nil)
        #expect(!line.add(news([entry("b", on: "two")])))
        #expect(line.add(news([entry("c"), entry("d", on: "two")])))
        #expect(line.add(news([entry("e")])))
        #expect(line.take()?.entries.map(\.id) == ["c", "e"])
        #expect(line.take()?.entries.isEmpty == true)
    }

    @Test func `send it back to the ledger when other entries may have moved, or too many were added`() {
        let line = LineNews(of: "one", inHand)
        _ = line.take()
        #expect(line.add(news([entry("a")])))
        #expect(line.add(news([], movesOthers: true)))
        #expect(line.add(news([entry("b")])))
        #expect(line.take() == nil)
        for number in 0..<65 { #expect(line.add(news([entry("\(number)")]))) }
        #expect(line.take() == nil)
    }

    @Test func `do not let an entry be sent that was rewritten since it was added`() throws {
        let line = LineNews(of: "one", inHand)
        _ = line.take()
        _ = line.add(news([entry("a")]))
        let old = try #require(line.take())
        #expect(inHand.beginRewriting("a"))
        inHand.endRewriting(["a"])
        #expect(!inHand.beginSending("a", readAfter: old.rewritings))
        _ = line.add(news([entry("c")]))
        let new = try #require(line.take())
        #expect(inHand.beginSending("c", readAfter: new.rewritings))
    }

    @Test func `send it back to the ledger after a rewriting, also where that came to nothing`() {
        let line = LineNews(of: "one", inHand)
        _ = line.take()
        _ = line.add(news([entry("a")]))
        #expect(inHand.beginRewriting("of another channel"))
        // Its transaction fails: no commit moves anything.
        inHand.endRewriting(["of another channel"])
        // Another one, added afterwards, does not make the first one newer.
        _ = line.add(news([entry("b")]))
        #expect(line.take() == nil)
        #expect(line.take()?.entries.isEmpty == true)
    }

    @Test func `put first what is due first, one of each item and each run`() {
        let added = [
            entry("late", item: "i", dueAt: Moment(seconds: 9)), entry("behind", item: "i"),
            entry("run", run: "r"), entry("of the run", run: "r"), entry("alone"), entry("too"),
            entry("test", dueAt: Moment(seconds: 0)), entry("at once", dueAt: nil),
        ]
        #expect(
            OutboxRecord.heads(of: added)?.map(\.id)
                == ["at once", "test", "run", "alone", "too", "late"])
        #expect(OutboxRecord.heads(of: added + [entry("held", state: .held)]) == nil)
    }
}
