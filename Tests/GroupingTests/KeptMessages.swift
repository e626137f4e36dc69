import Grouping
import Testing
import Timeline
import Tracking

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
