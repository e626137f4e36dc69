import Grouping
import Testing
import Timeline
import Tracking

/// Draws a thread's life, as ``Marbles`` says.
///
/// - In: a lower-case letter is a message, an upper-case one is critical, a digit one of low urgency; `?`
///   is said by a person, `!` means all was read, `^` that the newest version was put away.
/// - Out: the messages shown, and `+2` for two more that are unread.
private func expect(
    policy: ThreadPolicy = ThreadPolicy(), step: Duration = .milliseconds(500), in input: String,
    out: String, at location: SourceLocation = #_sourceLocation
) throws {
    let marbles = Marbles<ThreadItem>(
        step: step,
        feed: { item, character, now in
            switch character {
            case "!": return item.read(at: now)
            case "^": return item.dismissed(revision: item.revision, at: now)
            default: return item.receive(message(character, now), at: now, policy: policy)
            }
        },
        wake: { $0.wake(at: $1, policy: policy) },
        flushAt: \.flushAt,
        draw: { item in
            guard case .messages(let count, let last) = item.content else { return "?" }
            return last.map(\.text).joined() + (count > last.count ? "+\(count - last.count)" : "")
        })
    let drawn = try marbles.run(ThreadItem(bot: "ops", thread: "main"), in: input)
    #expect(drawn == out, sourceLocation: location)
}

private func message(_ character: Character, _ now: Moment) -> Message {
    Message(
        id: "\(character)", bot: "ops", thread: "main", author: character == "?" ? .user : .bot,
        text: "\(character)", at: now,
        urgency: character.isUppercase ? .critical : character.isNumber ? .low : .normal)
}

@Suite struct `a thread's item` {
    @Test func `waits a moment for company and rings once`() throws {
        try expect(in: "ab--------", out: "---[ab]")
    }

    @Test func `shows five messages of one second as one with the last three and a count`() throws {
        try expect(step: .milliseconds(250), in: "abcde", out: "------[cde+2]")
    }

    @Test func `is updated once a second and the last message always gets through`() throws {
        try expect(in: "a--bcdefg---", out: "---[a]-(abc)-(cde+2)-(efg+4)")
    }

    @Test func `shows a single late message at once and quietly`() throws {
        try expect(in: "a-------b", out: "---[a]----(ab)")
    }

    @Test func `never lets a critical message wait for company`() throws {
        try expect(in: "A", out: "[A]")
        try expect(in: "aB", out: "-[aB]")
    }

    @Test func `rings again when the urgency rises, and not before a second has passed`() throws {
        try expect(in: "a---B--C", out: "---[a]-[aB]-(aBC)")
    }

    @Test func `rings again when enough time has passed`() throws {
        let policy = ThreadPolicy(ringAgainAfter: .seconds(5))
        try expect(policy: policy, in: "a---b---c---d---e", out: "---[a]-(ab)--(abc)---(bcd+1)---[cde+2]")
    }

    @Test func `never rings for low urgency, and rings first for what comes on top`() throws {
        try expect(in: "1---2---a", out: "---(1)-(12)--[12a]")
    }

    @Test func `is removed when read, and the next message is a first one`() throws {
        try expect(in: "a---!-b", out: "---[a]x----[b]")
    }

    @Test func `that was read before it was shown is never shown`() throws {
        try expect(in: "a!", out: "")
    }

    @Test func `is read when the person writes in the thread`() throws {
        try expect(in: "a---?b", out: "---[a]x---[b]")
    }

    @Test func `keeps what came after the version that was put away`() throws {
        try expect(in: "ab-c^", out: "---[ab]x[c]")
    }

    @Test func `put away with nothing new behind it is read`() throws {
        try expect(in: "ab--^----c", out: "---[ab]x-------[c]")
    }

    @Test func `keeps the pace of a second across a reading`() throws {
        try expect(in: "A!B", out: "[A]x[B]")
        try expect(step: .milliseconds(250), in: "A!B", out: "[A]x--[B]")
    }

    @Test func `is read back as it was written, whatever is said in it`() throws {
        var item = ThreadItem(bot: "ops", thread: "main")
        for number in 0..<5 {
            let message = Message(
                id: "m\(number)", bot: "ops", thread: "main", text: "\u{1B}[31m \"\(number)\"",
                at: Moment(seconds: Int64(number)),
                urgency: .critical, title: "title", appearance: Appearance(expireAfter: .seconds(3)),
                replaceKey: "key \(number % 2)")
            _ = item.receive(message, at: message.at, policy: ThreadPolicy())
            #expect(try JSON.decode(from: JSON.encode(item)) == item)
        }
    }
}

@Suite struct `a message that an item keeps` {
    private static let plain = Message(
        id: "m1", bot: "ops", thread: "main", text: "done", at: Moment(seconds: 1_700_000_000))

    private static let full = Message(
        id: "m2", bot: "ops", thread: "main", author: .user, text: "done",
        at: Moment(seconds: 1_700_000_000),
        urgency: .critical, title: "Backup",
        appearance: Appearance(
            icon: "mail-unread", soundName: "bell", category: "im.received", expireAfter: .seconds(3)),
        replaceKey: "copy", run: "backup#3")

    @Test(arguments: [plain, full]) func `is read as it was written`(message: Message) throws {
        #expect(try JSON.decode(from: JSON.encode(message)) == message)
    }

    @Test func `is written without what most messages share`() throws {
        let text = String(decoding: try JSON.encode(Self.plain), as: UTF8.self)
        #expect(
            text == #"{"id":"m1","bot":"ops","thread":"main","text":"done","at":1700000000000000}"#)
    }

    @Test func `is read as an older version wrote it, in full`() throws {
        let text = """
            {"id":"m1","bot":"ops","thread":"main","author":"bot","text":"done","at":1700000000000000,
            "urgency":"normal","appearance":{}}
            """
        #expect(try JSON.decode(Message.self, from: text.utf8) == Self.plain)
    }
}

@Suite struct `an item key` {
    @Test(arguments: [
        (ItemKey.job("home-backup"), "job:home-backup"), (.storm(12), "storm:12"),
        (.question("0199-7a11"), "question:0199-7a11"),
        (.thread(bot: "ops", thread: "main"), "thread:ops/main"),
        (.thread(bot: "ops", thread: "a/b: 50%"), "thread:ops/a/b: 50%"),
        (.thread(bot: "a/b%", thread: ""), "thread:a%2Fb%25/"),
        (.thread(bot: "ops", thread: "\u{301}x"), "thread:ops/\u{301}x"),
    ])
    func `keeps its text form and reads it back`(_ key: ItemKey, _ text: String) {
        #expect(key.description == text)
        #expect(ItemKey(text) == key)
    }

    @Test(arguments: [
        "", "job", "job:", "thread:ops", "thread:a%2/x", "thread:a%41/x", "run:x", "storm:", "storm:0",
        "storm:+1", "storm:x",
    ])
    func `is not read from other text`(_ text: String) {
        #expect(ItemKey(text) == nil)
    }

    @Test func `distinguishes bots whose names would run together`() {
        let first = ItemKey.thread(bot: "a/b", thread: "c")
        let second = ItemKey.thread(bot: "a", thread: "b/c")
        #expect(first.description != second.description)
    }
}
