import Delivery
import Grouping
import Testing
import Timeline
import Tracking

@Suite struct `the popup of a bot's message` {
    private let start = Moment(seconds: 1_700_000_000)

    private func body(
        _ texts: [String], bot: String = "sage", _ capabilities: Set<String> = ["body", "body-markup"]
    ) -> String {
        let last = texts.map { Message(id: $0, bot: bot, thread: "main", text: $0, at: start) }
        let item = ItemSnapshot(
            key: .thread(bot: bot, thread: "main"), revision: 1, bot: bot, urgency: .normal, reason: .first,
            at: start, content: .messages(count: texts.count, last: last))
        let server = DesktopServer(name: "server", capabilities: capabilities)
        return DesktopForm().render(NoticeComposer.compose(item), for: server).body
    }

    private let text = "# News\n- **two** <new>\n- [docs](https://e.org)"

    @Test func `is Markdown as the server's markup`() {
        #expect(body([text]) == "<b>News</b>\n• <b>two</b> &lt;new&gt;\n• docs (https://e.org)")
        let links: Set<String> = ["body", "body-markup", "body-hyperlinks"]
        #expect(body([text], links).hasSuffix("• <a href=\"https://e.org\">docs</a>"))
    }

    @Test func `is plain where the server reads no markup`() {
        #expect(body([text], ["body"]) == "News\n• two <new>\n• docs (https://e.org)")
    }

    @Test func `is a line each where there are several`() {
        #expect(body(["**a**", "# b"]) == "<b>a</b>\n# b")
    }

    @Test func `is for the user alone on GNOME's locked screen`() {
        let item = ItemSnapshot(
            key: .thread(bot: "sage", thread: "main"), revision: 1, bot: "sage", urgency: .normal,
            reason: .first, at: start,
            content: .messages(
                count: 1, last: [Message(id: "1", bot: "sage", thread: "main", text: "a", at: start)]))
        func scope(_ name: String) -> DesktopNotification.Hint? {
            let server = DesktopServer(name: name, capabilities: ["body"])
            return DesktopForm().render(NoticeComposer.compose(item), for: server).hints
                .first { $0.name == "x-gnome-privacy-scope" }?.value
        }
        #expect(scope("gnome-shell") == .string("user"))
        #expect(scope("dunst") == nil)
    }

    @Test func `is left as it is of Belfry's own, which scripts send`() {
        #expect(body(["**a** <b>"], bot: "belfry") == "**a** &lt;b&gt;")
    }
}
