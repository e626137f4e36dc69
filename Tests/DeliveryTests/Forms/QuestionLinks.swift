import Delivery
import Grouping
import Testing
import Tracking

@Suite struct `links of a notice` {
    private let yes = PageLink(label: "Yes <now>", url: "https://links.example/q/a.b?choice=1")
    private let no = PageLink(label: "No", url: "https://links.example/q/a.b?choice=2")

    private func notice(_ links: [PageLink]?, body: String = "Deploy?") -> Notice {
        var notice = Notice(
            item: .question("q"), revision: 1, title: "ops asks", body: body, tag: "t", bot: "ops",
            ring: true,
            reason: .asked)
        notice.links = links
        return notice
    }

    private func sent(_ form: some HTTPLevelForm, _ notice: Notice) throws -> JSON {
        let request = form.request(.post(notice, at: Sample.noon), secrets: FormSecrets())
        return try #require(JSON(parsing: request.body[...]))
    }

    @Test func `are as many as there is room for`() {
        let many = (0..<9).map { PageLink(label: "\($0)", url: "https://a.example/\($0)") }
        #expect(PageLink.fitting(many) == Array(many.prefix(5)))
        let long = (0..<3).map { number in
            PageLink(label: "x", url: String(repeating: "u", count: 799 + number))
        }
        // 800 and 801 bytes fit into 2,000; 802 more do not.
        #expect(PageLink.fitting(long) == Array(long.prefix(2)))
        #expect(PageLink.fitting([]) == [])
    }

    @Test func `are buttons below a message of Telegram, which an edit keeps`() throws {
        let form = try Sample.telegram()
        let json = try sent(form, notice([yes, no]))
        let rows = try #require(json["reply_markup"]?["inline_keyboard"]?.elements)
        #expect(rows.map { $0[0]?["text"]?.text } == ["Yes <now>", "No"])
        #expect(rows.map { $0[0]?["url"]?.text } == [yes.url, no.url])
        #expect(json["text"]?.text == "<b>ops asks</b>\nDeploy?")
        let edit = form.request(.edit(notice([no]), at: Sample.noon, of: "5"), secrets: FormSecrets())
        #expect(JSON(parsing: edit.body[...])?["reply_markup"] != nil)
        #expect(try sent(form, notice(nil))["reply_markup"] == nil)
    }

    @Test(arguments: [
        "http://links.example/q/a", "https://127.0.0.1/q/a", "https://belfry/q/a", "https://10.0.0.1/q",
    ])
    func `are text where Telegram would refuse the button, and have room`(url: String) throws {
        let link = PageLink(label: "Yes", url: url)
        let json = try sent(
            try Sample.telegram(), notice([link], body: String(repeating: "a", count: 5000)))
        #expect(json["reply_markup"] == nil)
        let text = try #require(json["text"]?.text)
        #expect(text.hasSuffix("…\nYes: \(url)"))
        // Without the two tags around the title.
        #expect(text.utf16.count - "<b></b>".utf16.count == 4096)
    }

    @Test func `are links in the text of Discord and Matrix, whatever a label says`() throws {
        let evil = PageLink(label: "a](https://evil.example)", url: yes.url)
        let discord = try sent(try Sample.discord(), notice([yes, evil]))
        let text = try #require(discord["embeds"]?[0]?["description"]?.text)
        #expect(text.hasPrefix("Deploy?\n[Yes \\<now\\>](\(yes.url)) · [a\\]"))
        let bracket = PageLink(label: "A", url: "https://a.example/b)[Pay](https://evil.example")
        let embed = try sent(try Sample.discord(), notice([bracket]))["embeds"]?[0]
        #expect(
            embed?["description"]?.text
                == "Deploy?\n[A](https://a.example/b%29[Pay]%28https://evil.example)")
        let brackets = PageLink(
            label: "A", url: "https://a.example/" + String(repeating: "(", count: 1500))
        #expect(
            try sent(try Sample.discord(), notice([brackets]))["embeds"]?[0]?["description"]?.text
                == "Deploy?")
        let matrix = try sent(try Sample.matrix(), notice([yes]))
        #expect(matrix["body"]?.text == "ops asks\nDeploy?\nYes <now>: \(yes.url)")
        #expect(
            matrix["formatted_body"]?.text?.hasSuffix("<br><a href=\"\(yes.url)\">Yes &lt;now&gt;</a>")
                == true)
    }

    @Test func `are actions of ntfy and a line of Slack`() throws {
        let bulletin = Bulletin(
            Matter(.test(channel: nil)), at: Sample.noon, notice: notice([yes, no]), objects: [])
        let ntfy = try #require(JSON(parsing: try Sample.ntfy().render(bulletin)[...]))
        #expect(ntfy["actions"]?[0]?["action"]?.text == "view" && ntfy["actions"]?[1]?["url"]?.text == no.url)
        let slack = try #require(JSON(parsing: try Sample.slack().render(bulletin)[...]))
        let line = try #require(slack["attachments"]?[0]?["blocks"]?.elements.last?["elements"]?[0])
        #expect(line["elements"]?.elements.map { $0["text"]?.text } == ["Yes <now>", " · ", "No"])
        #expect(
            line["elements"]?[0]?["url"]?.text == yes.url && line["elements"]?[0]?["type"]?.text == "link")
    }

    @Test func `are what services have for pages elsewhere, and stand in no text twice`() throws {
        var shown = notice([yes, no])
        func bulletin() -> Bulletin {
            Bulletin(Matter(.test(channel: nil)), at: Sample.noon, notice: shown, objects: [])
        }
        #expect(try Sample.ntfy().json(bulletin())?["click"]?.text == yes.url)
        let gotify = try Sample.gotify().json(bulletin())?["extras"]?["client::notification"]?["click"]
        #expect(gotify?["url"]?.text == yes.url)
        #expect(try Sample.pagerDuty().json(bulletin())?["links"]?[1]?["href"]?.text == no.url)
        func mattermost() throws -> String {
            try Sample.mattermost().json(bulletin())?["attachments"]?[0]?["text"]?.text ?? ""
        }
        #expect(try mattermost() == "Deploy?\n[Yes \\<now\\>](\(yes.url)) · [No](\(no.url))")
        shown.body = "Yes: \(yes.url)"
        #expect(try mattermost().hasSuffix("\n[No](\(no.url))"))
        #expect(
            try sent(try Sample.matrix(), shown)["body"]?.text?.hasSuffix("\(yes.url)\nNo: \(no.url)") == true
        )
    }
}
