import Delivery
import Testing
import Tracking

@Suite struct `a channel that is described by a word or an address` {
    @Test(
        arguments: [
            (
                "https://hooks.slack.com/services/T/B/x", "slack", "{}",
                ["webhook": "https://hooks.slack.com/services/T/B/x"]
            ),
            (
                "https://discord.com/api/webhooks/1/x", "discord", "{}",
                ["webhook": "https://discord.com/api/webhooks/1/x"]
            ),
            (
                "https://ptb.discord.com/api/webhooks/1/x", "discord", #"{"url":"https://ptb.discord.com"}"#,
                ["webhook": "https://ptb.discord.com/api/webhooks/1/x"]
            ),
            (
                "https://x.webhook.office.com/webhookb2/1", "teams",
                #"{"url":"https://x.webhook.office.com"}"#,
                ["webhook": "https://x.webhook.office.com/webhookb2/1"]
            ),
            ("https://ntfy.sh/alerts", "ntfy", #"{"url":"https://ntfy.sh/alerts"}"#, [:]),
            ("https://hc-ping.com/0a1b", "ping", "{}", ["key": "0a1b"]),
            ("https://api.telegram.org/bot1:abc/getMe", "telegram", "{}", ["token": "1:abc"]),
            (
                "https://api.telegram.org/bot1:abc/getMe?chat_id=%2D42", "telegram", #"{"chat":"-42"}"#,
                ["token": "1:abc"]
            ),
            ("  <https://ntfy.sh/alerts>\n", "ntfy", #"{"url":"https://ntfy.sh/alerts"}"#, [:]),
            ("\"mailto:me%40example.org\"", "mail", #"{"to":["me@example.org"]}"#, [:]),
            (
                "mailtos://me%40example.org:p%21w@mail.example.org:465", "mail",
                #"{"to":["me@example.org"],"from":"me@example.org","url":"smtps://mail.example.org:465","user":"me@example.org"}"#,
                ["password": "p!w"]
            ),
            ("https://example.org/hook?a=b", "webhook", #"{"url":"https://example.org/hook?a=b"}"#, [:]),
            (
                "mailto:ops@example.org,root@example.org?subject=x", "mail",
                #"{"to":["ops@example.org","root@example.org"]}"#, [:]
            ),
            ("slack://bot@A/B/C", "slack", "{}", ["webhook": "https://hooks.slack.com/services/A/B/C"]),
            ("discord://1/x?avatar=no", "discord", "{}", ["webhook": "https://discord.com/api/webhooks/1/x"]),
            ("ntfy://alerts", "ntfy", #"{"url":"https://ntfy.sh/alerts"}"#, [:]),
            (
                "ntfys://tk_1@ntfy.example.org/alerts", "ntfy", #"{"url":"https://ntfy.example.org/alerts"}"#,
                ["token": "tk_1"]
            ),
            (
                "gotifys://g.example.org:8443/sub/tok", "gotify",
                #"{"url":"https://g.example.org:8443/sub"}"#, ["token": "tok"]
            ),
            ("tgram://1:abc/42", "telegram", #"{"chat":"42"}"#, ["token": "1:abc"]),
            (
                "mmosts://chat.example.org/sub/abc", "slack", #"{"url":"https://chat.example.org"}"#,
                ["webhook": "https://chat.example.org/sub/hooks/abc"]
            ),
            (
                "matrixs://syt_1@m.example.org/!a%3Ae.org", "matrix",
                #"{"url":"https://m.example.org","room":"!a:e.org"}"#, ["token": "syt_1"]
            ),
            ("pagerduty://k3y@api", "pagerduty", "{}", ["key": "k3y"]),
            (
                "workflows://p.logic.azure.com/7/s1g", "teams", #"{"url":"https://p.logic.azure.com"}"#,
                [
                    "webhook":
                        "https://p.logic.azure.com/workflows/7/triggers/manual/paths/invoke"
                        + "?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=s1g"
                ]
            ),
            (
                "https://outlook.office.com/webhook/1/IncomingWebhook/2", "teams",
                #"{"url":"https://outlook.office.com"}"#,
                ["webhook": "https://outlook.office.com/webhook/1/IncomingWebhook/2"]
            ),
            (
                "mailtos://bell:pw@mail.example.org:587?to=ops@example.org&from=b@example.org", "mail",
                #"{"to":["ops@example.org"],"from":"b@example.org","url":"smtp://mail.example.org:587","user":"bell"}"#,
                ["password": "pw"]
            ),
            (
                "https://chat.example.org/hooks/abcdefghijklmnopqrstuvwx12", "slack",
                #"{"url":"https://chat.example.org"}"#,
                ["webhook": "https://chat.example.org/hooks/abcdefghijklmnopqrstuvwx12"]
            ),
            (
                "https://example.org/hooks/belfry", "webhook", #"{"url":"https://example.org/hooks/belfry"}"#,
                [:]
            ),
            ("jsons://example.org/a/b", "webhook", #"{"url":"https://example.org/a/b"}"#, [:]),
            ("telegram", "telegram", "{}", [:]),
            (
                "https://chat.googleapis.com/v1/spaces/A/messages?key=k&token=t", "template",
                #"{"url":"https://chat.googleapis.com","body":"{\"text\": \"*{{title}}*\\n{{body}}\"}"}"#,
                ["webhook": "https://chat.googleapis.com/v1/spaces/A/messages?key=k&token=t"]
            ),
        ] as [(String, String, String, [String: String])])
    func `is recognised`(text: String, kind: String, settings: String, secrets: [String: String]) throws {
        let draft = try ChannelDraft(text)
        #expect(draft.kind == kind)
        #expect(String(decoding: draft.settings.bytes, as: UTF8.self) == settings)
        #expect(draft.secrets == secrets)
    }

    @Test(arguments: [
        "slak", "foo://x", "matrix://me:pw@e.org/!r", "matrixs://e.org/!r", "matrix://t@e.org/x",
        "mmost://e.org",
        "msteams://a/b/c", "workflows://e.org/x", "https://", "slack://A", "discord://1", "gotify://",
        "tgram://1:abc", "mailto:",
        "mailtos://example.org", "ntfy://me:pw@example.org/alerts", "json://me:pw@example.org/x",
        "json://example.org/x?+X-Key=1", "tgram://1:abc/1/2", "https://discord.com/api/webhooks/1",
        "https://ntfy.sh/", "https://ntfy.sh/a/b", "://", ":", "",
        "https://example.org/x?a=b&Token=t",
    ])
    func `is refused where nothing can be made of it, without a word of the address`(text: String) {
        #expect(throws: ChannelDraft.Refusal.self) { try ChannelDraft(text) }
    }

    @Test(arguments: [
        ("hooks.slack.com/services/T/B/s3cret", "begins with its scheme"),
        ("me@example.org", "begins with its scheme"),
        ("example.org:8080/s3cret", "begins with its scheme"),
        ("https://me:s3cret@example.org/", "before the @"),
        ("https://example.org:99999/s3cret", "from 1 to 65535"), ("https://bücher.example/s3cret", "xn--"),
        ("https://example.org/?access_token=s3cret", "holds a secret (access_token=)"),
    ])
    func `is refused with its own fault`(text: String, reason: String) {
        do throws(ChannelDraft.Refusal) {
            _ = try ChannelDraft(text)
            Issue.record("\(text) was taken")
        } catch {
            guard case .unfit(let said) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(said.contains(reason) && !said.contains("s3cret"), "\(said)")
        }
    }

    @Test(arguments: [
        ("command", "command", #" sh -c 'echo "$1"' "a b" c\ d "#, #"["sh","-c","echo \"$1\"","a b","c d"]"#),
        ("command", "command", "notify,--all", #"["notify","--all"]"#),
        ("command", "command", "x ''", #"["x",""]"#),
        ("mail", "to", "a@e.org, b@e.org,", #"["a@e.org","b@e.org"]"#),
        ("telegram", "chat", " 42 ", #""42""#),
    ])
    func `has what a person wrote on one line`(kind: String, key: String, text: String, value: String) throws
    {
        var draft = try ChannelDraft(kind)
        draft.set(key, to: text)
        #expect(draft.settings[key].map { String(decoding: $0.bytes, as: UTF8.self) } == value)
    }

    @Test func `has one line as a secret, or several that replace each other`() throws {
        let mail = try ChannelDraft("mail")
        #expect(mail.fault(inSecret: "one", for: "password") == nil)
        #expect(mail.fault(inSecret: " \n", for: "password") == "the password is empty")
        #expect(
            mail.fault(inSecret: "s3cret\nother", for: "password")?.contains("more than one line") == true)
        #expect(try ChannelDraft("webhook").fault(inSecret: "whsec_a\nwhsec_b", for: "secret") == nil)
    }

    @Test func `names what is missing, and itself`() throws {
        #expect(try ChannelDraft("telegram").missing.map(\.name) == ["token", "chat"])
        #expect(try ChannelDraft("https://api.telegram.org/bot1:abc/x").missing.map(\.name) == ["chat"])
        #expect(try ChannelDraft("mailto:me@example.org").missing.isEmpty)
        let draft = try ChannelDraft("ntfy")
        #expect(draft.name(besides: ["desk"]) == "ntfy")
        #expect(draft.name(besides: ["ntfy", "ntfy-2"]) == "ntfy-3")
    }
}

@Suite struct `the routes of a channel that was added` {
    @Test func `are those of the default, and go with it`() {
        let routing = Routing.standard(to: ["desk"]).adding("team", when: [])
        #expect(routing.isDefault && routing.channels(for: "run.failed") == ["desk", "team"])
        #expect(routing.removing("team") == Routing.standard(to: ["desk"]))
    }

    @Test func `are what people want to know, or its own words`() {
        let file = Routing(routes: [Route(when: [.failed], to: ["desk"])])
        let usual = file.adding("team", when: [])
        #expect(usual.channels(for: "run.failed") == ["desk", "team"])
        #expect(
            usual.channels(for: "question.asked") == ["team"] && usual.channels(for: "run.started").isEmpty)
        let own = file.adding("team", when: [.started])
        #expect(own.channels(for: "run.started") == ["team"] && own.channels(for: "run.failed") == ["desk"])
        #expect(usual.removing("team") == file && own.removing("team") == file)
    }
}
