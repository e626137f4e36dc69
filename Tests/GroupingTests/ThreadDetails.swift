import Grouping
import Testing
import Timeline

private let start = Moment(seconds: 1_700_000_000)
private let policy = ThreadPolicy(wait: .zero, interval: .zero)

private func said(_ text: String, id: String? = nil, replaces key: String? = nil) -> Message {
    Message(id: id ?? text, bot: "ops", thread: "main", text: text, at: start, replaceKey: key)
}

private func snapshot(_ actions: [ItemAction]) -> ItemSnapshot? {
    for case .flush(let item) in actions { return item }
    return nil
}

private func shown(_ actions: [ItemAction]) -> (count: Int, texts: [String])? {
    guard case .messages(let count, let last) = snapshot(actions)?.content else { return nil }
    return (count, last.map(\.text))
}

@Suite struct `a message with a replace key` {
    @Test func `takes the place of the unread one and counts no more`() throws {
        var item = ThreadItem(bot: "ops", thread: "main")
        _ = item.receive(said("1 of 3", replaces: "copy"), at: start, policy: policy)
        _ = item.receive(said("hello"), at: start, policy: policy)
        let now = try #require(
            shown(item.receive(said("2 of 3", replaces: "copy"), at: start, policy: policy)))
        #expect(now.count == 2)
        #expect(now.texts == ["hello", "2 of 3"])
    }

    @Test func `replaces one that is unread and no longer among the last three`() throws {
        var item = ThreadItem(bot: "ops", thread: "main")
        for text in ["a", "b", "c", "d"] {
            _ = item.receive(said(text, replaces: text == "a" ? "k" : nil), at: start, policy: policy)
        }
        let now = try #require(shown(item.receive(said("A", replaces: "k"), at: start, policy: policy)))
        #expect(now.count == 4)
        #expect(now.texts == ["c", "d", "A"])
    }

    @Test func `is one more when the one before was read`() throws {
        var item = ThreadItem(bot: "ops", thread: "main")
        _ = item.receive(said("1 of 3", replaces: "copy"), at: start, policy: policy)
        _ = item.read(at: start)
        let now = try #require(
            shown(item.receive(said("2 of 3", replaces: "copy"), at: start, policy: policy)))
        #expect(now.count == 1)
        #expect(now.texts == ["2 of 3"])
    }

    @Test func `with the same text again changes nothing`() {
        var item = ThreadItem(bot: "ops", thread: "main")
        _ = item.receive(said("same", id: "1", replaces: "k"), at: start, policy: policy)
        #expect(item.receive(said("same", id: "2", replaces: "k"), at: start, policy: policy).isEmpty)
    }

    @Test func `that was dismissed and sent again is unread again`() throws {
        let slow = ThreadPolicy(wait: .zero)
        var item = ThreadItem(bot: "ops", thread: "main")
        _ = item.receive(said("a"), at: start, policy: policy)
        _ = item.receive(said("old", replaces: "k"), at: start, policy: policy)
        _ = item.receive(said("new", replaces: "k"), at: start, policy: slow)
        let actions = item.dismissed(revision: item.revision, at: start)
        #expect(actions == [.resolve(revision: 3), .wakeAt(start + .seconds(1))])
        let now = try #require(shown(item.wake(at: start + .seconds(1), policy: slow)))
        #expect(now.count == 1)
        #expect(now.texts == ["new"])
    }
}

@Suite struct `the text of a message` {
    private let text = "backup of /home\n  4 files\n" + String(repeating: "word ", count: 100)

    @Test func `keeps its shape as long as it is alone, and is one line among others`() throws {
        var item = ThreadItem(bot: "ops", thread: "main")
        let lone = try #require(shown(item.receive(said(text), at: start, policy: policy)))
        let whole = try #require(lone.texts.first)
        #expect(whole.hasPrefix("backup of /home\n  4 files\nword word"))
        #expect(whole.count <= 300 && whole.count > 290 && whole.hasSuffix("word…"))
        let two = try #require(shown(item.receive(said("next\nline"), at: start, policy: policy)))
        #expect(two.texts == [Preview.cut(text, to: 100), "next line"])
        #expect(two.texts.first?.hasPrefix("backup of /home 4 files word") == true)
    }

    @Test func `is three times as long as its bot's previews`() throws {
        var item = ThreadItem(bot: "ops", thread: "main")
        let short = ThreadPolicy(wait: .zero, interval: .zero, previewCharacters: 10)
        let lone = try #require(shown(item.receive(said(text), at: start, policy: short)))
        #expect(lone.texts == ["backup of /home\n  4 files…"])
    }

    @Test func `has its shape again once what came before it was read`() throws {
        var item = ThreadItem(bot: "ops", thread: "main")
        _ = item.receive(said("old"), at: start, policy: policy)
        _ = item.read(at: start)
        #expect(shown(item.receive(said("a\nb"), at: start, policy: policy))?.texts == ["a\nb"])
    }
}

@Suite struct `a thread whose clock is set` {
    @Test func `back does not wait longer than its own longest wait`() {
        var item = ThreadItem(bot: "ops", thread: "main")
        _ = item.receive(said("a"), at: start, policy: ThreadPolicy())
        let past = start - .seconds(3600)
        #expect(item.wake(at: past, policy: ThreadPolicy()) == [.wakeAt(past + .milliseconds(1500))])
    }

    @Test func `back keeps the pace by the new clock`() {
        var item = ThreadItem(bot: "ops", thread: "main")
        _ = item.receive(said("a"), at: start, policy: ThreadPolicy(wait: .zero))
        let past = start - .seconds(3600)
        let actions = item.receive(said("b"), at: past, policy: ThreadPolicy())
        #expect(actions == [.wakeAt(past + .seconds(1))])
    }

    @Test func `forward shows at once what waited`() throws {
        var item = ThreadItem(bot: "ops", thread: "main")
        _ = item.receive(said("a"), at: start, policy: ThreadPolicy())
        let actions = item.wake(at: start + .seconds(3600), policy: ThreadPolicy())
        #expect(snapshot(actions)?.reason == .first)
    }
}

@Suite struct `the reason of a version` {
    @Test func `shows why it rang and why not`() {
        var item = ThreadItem(bot: "ops", thread: "main")
        var reasons: [RingReason?] = []
        func receive(_ message: Message, after seconds: Int64) {
            reasons.append(
                snapshot(item.receive(message, at: start + .seconds(seconds), policy: policy))?.reason)
        }
        var quiet = said("psst")
        quiet.urgency = .low
        var loud = said("fire")
        loud.urgency = .critical
        receive(quiet, after: 0)
        receive(said("a"), after: 1)
        receive(said("b"), after: 2)
        receive(loud, after: 3)
        receive(said("c"), after: 302)
        receive(said("d"), after: 303)
        #expect(reasons == [.lowUrgency, .first, .tooSoon, .urgencyRose, .tooSoon, .newMessages])
    }

    @Test func `is ignored when an older revision is put away`() {
        var item = ThreadItem(bot: "ops", thread: "main")
        _ = item.receive(said("a"), at: start, policy: policy)
        _ = item.receive(said("b"), at: start, policy: policy)
        #expect(item.dismissed(revision: 1, at: start).isEmpty)
        #expect(item.unread == 2)
    }
}
