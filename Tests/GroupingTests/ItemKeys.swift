import Grouping
import Testing

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
