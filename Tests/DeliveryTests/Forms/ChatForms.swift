import Delivery
import Grouping
import Testing
import Tracking

@Suite struct `a notice at a service` {
    @Test func `is a message of ntfy that replaces the one before of its run`() throws {
        let form = try Sample.ntfy()
        let request = form.sent(Sample.failure(), ["token": "tk_1"])
        #expect(request.url == "https://ntfy.sh/" && request.method == "POST")
        #expect(request["Authorization"] == "Bearer tk_1")
        let json = try #require(request.json)
        #expect(json["topic"]?.text == "alerts" && json["title"]?.text == "backup failed")
        #expect(json["message"]?.text == "no tape in the drive\nexit code 3 after 12 s")
        #expect(json["priority"]?.int == 5 && json["tags"]?[0]?.text == "rotating_light")
        let sequence = try #require(json["sequence_id"]?.text)
        #expect(sequence.utf8.count <= 64 && form.json(Sample.start)?["sequence_id"]?.text == sequence)
        #expect(form.json(Sample.messages(["a"]))?["sequence_id"]?.text != sequence)
        let quiet = Sample.messages(["a"], reason: .tooSoon)
        #expect(form.json(Sample.messages(["a"]))?["priority"]?.int == 3)
        #expect(form.json(quiet)?["priority"]?.int == 2)
        #expect(form.json(Sample.texts(title: "only this", body: ""))?["message"]?.text == "only this")
    }

    @Test func `is plain text under a bar of Slack`() throws {
        let request = try Sample.slack().sent(
            Sample.failure(), ["webhook": "https://hooks.slack.com/services/T/B/x"])
        #expect(request.url == "https://hooks.slack.com/services/T/B/x")
        #expect(
            request.text == """
                {"attachments":[{"color":"#d32f2f",\
                "fallback":"backup failed: no tape in the drive · exit code 3 after 12 s","blocks":[\
                {"type":"header","text":{"type":"plain_text","text":"backup failed","emoji":false}},\
                {"type":"section","text":{"type":"plain_text","text":"no tape in the drive\\nexit code 3 after 12 s",\
                "emoji":false}}]}]}
                """)
    }

    @Test func `is an attachment of Mattermost`() throws {
        let attachment = try Sample.mattermost().json(Sample.recovery)?["attachments"]?[0]
        #expect(attachment?["color"]?.text == "#388e3c")
        #expect(attachment?["title"]?.text == "backup recovered")
        #expect(attachment?["text"]?.text == "after 3 failures (2 h)")
        #expect(attachment?["blocks"] == nil)
    }

    @Test func `is an embed of Discord, which calls nobody`() throws {
        let form = try Sample.discord()
        let address = "https://discord.com/api/webhooks/1/x"
        #expect(form.sent(Sample.failure(), ["webhook": address]).url == "\(address)?wait=true")
        #expect(
            form.sent(Sample.failure(), ["webhook": "\(address)?thread_id=9"]).url
                == "\(address)?thread_id=9&wait=true")
        let json = form.json(Sample.failure())
        #expect(json?["embeds"]?[0]?["title"]?.text == "backup failed")
        #expect(json?["embeds"]?[0]?["color"]?.int == 0xD32F2F)
        #expect(json?["flags"] == nil)
        #expect(form.json(Sample.messages(["a"], reason: .tooSoon))?["flags"]?.int == 4096)
    }

    @Test func `is a message of Gotify with a priority`() throws {
        let request = try Sample.gotify().sent(Sample.failure(), ["token": "A1"])
        #expect(request.url == "https://e.org/gotify/message" && request["X-Gotify-Key"] == "A1")
        #expect(request.json?["title"]?.text == "backup failed" && request.json?["priority"]?.int == 8)
        #expect(request.json?["extras"]?["client::display"]?["contentType"]?.text == "text/plain")
    }

    @Test func `is a message of Telegram in a topic of a group`() throws {
        let request = try Sample.telegram().sent(Sample.failure(), ["token": "1:abc"])
        #expect(request.url == "https://api.telegram.org/bot1:abc/sendMessage")
        #expect(request.json?["chat_id"]?.int == -100 && request.json?["message_thread_id"]?.int == 7)
        #expect(
            request.json?["text"]?.text
                == "<b>backup failed</b>\nno tape in the drive\nexit code 3 after 12 s")
        #expect(request.json?["disable_notification"] == .bool(false))
        #expect(!request.text.contains("abc"))
        let channel = try Sample.form(TelegramForm.self, ["chat": "@news", "token": "/x"])
        #expect(channel.json(Sample.failure())?["chat_id"]?.text == "@news")
    }

    @Test func `is edited and removed in place at Telegram`() throws {
        let form = try Sample.telegram()
        let edit = form.step(.edit(Sample.failure().notice, at: Sample.noon, of: "42"), ["token": "1:abc"])
        #expect(edit.url == "https://api.telegram.org/bot1:abc/editMessageText")
        #expect(edit.json?["message_id"]?.int == 42 && edit.json?["chat_id"]?.int == -100)
        #expect(edit.json?["text"]?.text?.hasPrefix("<b>backup failed</b>\n") == true)
        #expect(edit.json?["message_thread_id"] == nil)
        let removal = form.step(.remove("42"), ["token": "1:abc"])
        #expect(removal.url.hasSuffix("/deleteMessage"))
        #expect(removal.text == #"{"chat_id":-100,"message_id":42}"#)
        #expect(form.remote(in: form.answer(#"{"ok":true,"result":{"message_id":42}}"#)) == "42")
        #expect(form.remote(in: form.answer("<html>")) == nil)
        func said(_ text: String) -> HTTPAnswer {
            form.answer(#"{"ok":false,"error_code":400,"description":"Bad Request: \#(text)"}"#, status: 400)
        }
        #expect(form.isLost(said("message to edit not found")))
        #expect(form.isLost(said("message can't be edited")) && !form.isLost(said("chat not found")))
        #expect(form.judge(said("message is not modified: the content is the same")) == nil)
        #expect(form.judge(said("chat not found")) != nil)
    }

    @Test func `is edited and removed in place at Discord`() throws {
        let form = try Sample.discord()
        let secrets = ["webhook": "https://discord.com/api/webhooks/1/x?thread_id=9"]
        let edit = form.step(.edit(Sample.recovery.notice, at: Sample.noon, of: "77"), secrets)
        #expect(edit.method == "PATCH")
        #expect(edit.url == "https://discord.com/api/webhooks/1/x/messages/77?thread_id=9")
        #expect(edit.json?["embeds"]?[0]?["color"]?.int == 0x388E3C)
        let removal = form.step(.remove("../../9"), secrets)
        #expect(removal.method == "DELETE" && removal.body.isEmpty)
        #expect(removal.url == "https://discord.com/api/webhooks/1/x/messages/..%2F..%2F9?thread_id=9")
        #expect(form.remote(in: form.answer(#"{"id":"77","type":0}"#)) == "77")
        #expect(form.isLost(form.answer(#"{"message":"Unknown Message","code":10008}"#, status: 404)))
        #expect(!form.isLost(form.answer(#"{"message":"Unknown Webhook","code":10015}"#, status: 404)))
    }

    @Test func `is edited and removed in place in a room of Matrix`() throws {
        let form = try Sample.matrix()
        let notice = Sample.failure().notice
        let edit = form.step(.edit(notice, at: Sample.noon, of: "$e:e.org"), ["token": "syt"])
        #expect(edit.method == "PUT" && edit["Authorization"] == "Bearer syt")
        #expect(edit.json?["body"]?.text?.hasPrefix("* backup failed\n") == true)
        #expect(edit.json?["m.new_content"]?["body"]?.text?.hasPrefix("backup failed\n") == true)
        #expect(edit.json?["m.relates_to"]?["rel_type"]?.text == "m.replace")
        #expect(edit.json?["m.relates_to"]?["event_id"]?.text == "$e:e.org")
        let removal = form.step(.remove("$e:e.org"))
        #expect(removal.url.contains("/rooms/%21a%2Fb%3Ae.org/redact/%24e%3Ae.org/belfry-"))
        #expect(form.remote(in: form.answer(#"{"event_id":"$e:e.org"}"#)) == "$e:e.org")
        // The same version is the same transaction, another one another.
        #expect(edit.url == form.step(.edit(notice, at: Sample.noon, of: "$e:e.org")).url)
        var next = notice
        next.revision += 1
        #expect(edit.url != form.step(.edit(next, at: Sample.noon, of: "$e:e.org")).url)
        #expect(edit.url != form.step(.post(notice, at: Sample.noon)).url)
    }

    @Test func `is an event of Matrix under the version's own id`() throws {
        let request = try Sample.matrix().sent(Sample.failure(), ["token": "syt"])
        #expect(request.method == "PUT" && request["Authorization"] == "Bearer syt")
        #expect(
            request.url.hasPrefix(
                "https://e.org/_matrix/client/v3/rooms/%21a%2Fb%3Ae.org/send/m.room.message/belfry-"))
        #expect(request.json?["msgtype"]?.text == "m.text")
        #expect(request.json?["body"]?.text == "backup failed\nno tape in the drive\nexit code 3 after 12 s")
        let quiet = try Sample.matrix().json(Sample.messages(["a"], reason: .tooSoon))
        #expect(quiet?["msgtype"]?.text == "m.notice")
    }

    @Test func `is a card of Teams`() throws {
        let address = "https://prod.logic.azure.com/workflows/1?sig=x"
        let request = try Sample.teams().sent(Sample.failure(), ["webhook": address])
        #expect(request.url == address)
        let card = request.json?["attachments"]?[0]?["content"]
        let lines = card?["body"]?.elements.compactMap { $0["inlines"]?[0]?["text"]?.text }
        #expect(lines == ["backup failed", "no tape in the drive", "exit code 3 after 12 s"])
        #expect(card?["body"]?[0]?["inlines"]?[0]?["color"]?.text == "Attention")
    }
}

@Suite struct `the settings of a service` {
    private func fault<Form: HTTPService>(
        _ form: Form.Type, _ settings: KeyValuePairs<String, String>
    ) -> String {
        do {
            _ = try Sample.form(form, settings)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func `are refused with what to write instead`() {
        #expect(fault(NtfyForm.self, ["url": "https://ntfy.sh/"]).contains("must end in one topic"))
        #expect(fault(NtfyForm.self, ["url": "https://ntfy.sh/a/b"]).contains("must end in one topic"))
        #expect(fault(TelegramForm.self, ["token": "/x", "chat": "bob"]).contains("a chat is a number"))
        #expect(fault(TelegramForm.self, ["token": "/x", "chat": "1", "topic": "a"]).contains("a number"))
        #expect(
            fault(MatrixForm.self, ["url": "https://e.org", "token": "/x", "room": "#a:e.org"])
                .contains("a room's id begins with !"))
        #expect(
            fault(CloudEventsForm.self, ["url": "https://e.org", "mode": "batch"]).contains(
                "binary, structured"))
        #expect(
            fault(AlertmanagerForm.self, ["url": "https://e.org", "resolveAfter": "1"]).contains("a minute"))
    }

    @Test func `have no address in them that is a secret`() {
        let shown = fault(
            SlackForm.self, ["url": "https://hooks.slack.com/services/T/B/secret"])
        #expect(shown.contains("whoever knows this address can post there") && !shown.contains("secret}"))
        #expect(!shown.contains("T/B/secret"))
    }

    @Test(arguments: [
        ("https://hooks.slack.com/services/T/B/x", nil),
        ("https://mm.example.org/hooks/x", "write url: https://mm.example.org"),
        ("T0/B0/x", "is not an http or https address"),
    ])
    func `fit the address that a service gave out`(address: String, fault: String?) throws {
        let shown = try Sample.slack().fault(in: FormSecrets(["webhook": [address]]))
        #expect((shown == nil) == (fault == nil))
        if let fault { #expect(shown?.contains(fault) == true && shown?.contains("/x") == false) }
    }

    @Test func `fit the token of a bot and the key of a check`() throws {
        #expect(try Sample.telegram().fault(in: FormSecrets(["token": ["12:aB-_"]])) == nil)
        for token in ["aB", "12:", "12:a/b", "x:y", "12:a b"] {
            let shown = try #require(try Sample.telegram().fault(in: FormSecrets(["token": [token]])))
            #expect(!shown.contains(token))
        }
        #expect(try Sample.ping().fault(in: FormSecrets(["key": ["https://hc-ping.com/x"]])) != nil)
    }

    @Test(arguments: [
        ("https://hooks.slack.com/services/T/B/x", "write kind: slack"),
        ("https://discord.com/api/webhooks/1/x", "write kind: discord"),
        ("https://me.webhook.office.com/webhookb2/x", "write kind: teams"),
        ("https://api.telegram.org/bot1:x/sendMessage", "write kind: telegram"),
        ("https://ntfy.sh/topic", "write kind: ntfy"),
    ])
    func `are not those of a generic webhook`(url: String, hint: String) {
        let shown = fault(WebhookForm.self, ["url": url])
        #expect(shown.contains("does not accept the JSON of kind: webhook") && shown.contains(hint))
        #expect(!shown.contains("/x"))
    }

    @Test func `hide what a service repeats of them`() {
        let secrets = FormSecrets([
            "webhook": ["https://e.org/services/T/secret"], "token": ["tk_123 tk_1234"],
        ])
        #expect(
            secrets.hidden(
                in: "no /services/T/secret with tk_1234, tk_123 at https://e.org/services/T/secret")
                == "no /… with …, … at …")
        let post = FormSecrets([
            "webhook": ["https://hooks.slack.com/services/T0/B0/aBcDeFgHiJkLmNoP"],
            "token": ["12345:AAHdqTcvCH1vGWJx"],
        ])
        #expect(
            post.hidden(in: "hooks.slack.com: services: token aBcDeFgHiJkLmNoP is bad, and AAHdqTcvCH1vGWJx")
                == "hooks.slack.com: services: token … is bad, and …")
    }
}

@Suite struct `a chat that moved` {
    @Test func `is followed by each step, once`() throws {
        let form = try Sample.telegram()
        let secrets = FormSecrets(["token": ["1:a"]])
        let answer = HTTPAnswer(
            status: 400, body: Array(#"{"ok":false,"parameters":{"migrate_to_chat_id":-1001}}"#.utf8),
            receiver: "https://api.telegram.org")
        let moved = try #require(form.following(answer, .remove("5"), secrets: secrets))
        #expect(moved.hint == "write chat: -1001")
        #expect(moved.request.url.hasSuffix("/deleteMessage"))
        #expect(JSON(parsing: moved.request.body[...])?["chat_id"]?.int == -1001)
        var other = answer
        other.body = Array(#"{"ok":false,"parameters":{"migrate_to_chat_id":-100}}"#.utf8)
        #expect(form.following(other, .remove("5"), secrets: secrets) == nil)
        other.body = Array(#"{"ok":false}"#.utf8)
        #expect(form.following(other, .remove("5"), secrets: secrets) == nil)
        #expect(try Sample.matrix().following(answer, .remove("5"), secrets: secrets) == nil)
    }
}
