import Delivery
import Foundation
import Grouping
import Testing
import Timeline
import Tracking

/// Mails as a mail program gets them; what a reader makes of them is tested with the binaries.
@Suite struct `a mail` {
    private func form(
        to: [String] = ["ops@example.org", "root"], from: String? = "belfry@tower.example.org",
        sendmail: String? = nil
    ) throws -> MailForm {
        var values = FormValues()
        values["to"] = .words(to)
        values["from"] = from.map { .word($0) }
        values["sendmail"] = sendmail.map { .word($0) }
        return try MailForm(values)
    }

    private func call(_ bulletin: Bulletin, _ form: MailForm, id: String = "0190-a") -> ProgramCall {
        form.call(
            Parcel(
                id: id, type: bulletin.matter.type, timestamp: bulletin.at, body: form.render(bulletin),
                attempt: 1))
    }

    private func headers(_ bulletin: Bulletin, _ form: MailForm) -> [String] {
        let text = String(decoding: call(bulletin, form).input, as: UTF8.self)
        let head = text.prefix(upTo: text.firstRange(of: "\n\n")?.lowerBound ?? text.endIndex)
        return head.replacing("\n ", with: " ").split(separator: "\n").map(String.init)
    }

    @Test func `has the headers that put it in its thread`() throws {
        let headers = headers(Sample.failure(), try form())
        let root = try #require(headers.first { $0.hasPrefix("References: ") }?.dropFirst(12))
        #expect(root.hasPrefix("<") && root.hasSuffix("@tower.example.org>") && !root.contains(":"))
        #expect(
            headers.filter { !$0.hasPrefix("References: ") } == [
                "Message-ID: <0190-a@tower.example.org>", "From: belfry@tower.example.org",
                "To: ops@example.org, root", "Subject: backup failed",
                "Date: Fri, 15 Jan 2027 08:00:00 +0000",
                "In-Reply-To: \(root)", "Auto-Submitted: auto-generated", "X-Belfry-Type: run.failed",
                "Importance: high", "X-Priority: 1 (Highest)", "MIME-Version: 1.0",
                "Content-Type: multipart/alternative; boundary=\"=_belfry_=\"",
            ])
        #expect(
            self.headers(Sample.recovery, try form()).contains("In-Reply-To: \(root)"), "one thread a job")
        #expect(!self.headers(Sample.messages(["Hi"]), try form()).contains("In-Reply-To: \(root)"))
    }

    @Test func `is handed to the mail program with its addresses as arguments`() throws {
        let call = call(Sample.failure(), try form())
        #expect(
            call.command == [
                "/usr/sbin/sendmail", "-i", "-f", "belfry@tower.example.org", "ops@example.org", "root",
            ])
        #expect(call.timeout == .seconds(30) && call.environment.isEmpty)
        let plain = try form(to: ["root"], from: nil, sendmail: "/usr/bin/msmtp")
        #expect(plain.command == ["/usr/bin/msmtp", "-i", "root"])
        #expect(headers(Sample.failure(), plain).first == "Message-ID: <0190-a@localhost>")
        #expect(!headers(Sample.failure(), plain).contains { $0.hasPrefix("From:") })
    }

    @Test func `keeps a hostile title in one header`() throws {
        let title = "x\r\nBcc: all@example.org\n\nbody"
        let shown = headers(Sample.texts(title: title, body: "b"), try form())
        #expect(shown.filter { $0.contains("all@example.org") }.count == 1, "\(shown)")
        #expect(shown.contains { $0.hasPrefix("Subject: x") } && !shown.contains { $0.hasPrefix("Bcc") })
    }

    @Test(arguments: [
        ("backup failed", "Subject: backup failed"),
        ("Größe", "Subject: =?UTF-8?B?R3LDtsOfZQ==?="),
        ("a =?UTF-8?B?eA==?=", "Subject: =?UTF-8?B?YSA9P1VURi04P0I/ZUE9PT89?="),
    ])
    func `encodes a title where a reader would not see it as it is`(title: String, header: String) throws {
        #expect(headers(Sample.texts(title: title, body: "b"), try form()).contains(header))
    }

    @Test func `has all of a message, and says where the rest of a very long one is`() throws {
        var bulletin = Sample.messages(["m"])
        bulletin.objects = [
            JSON.Member(
                "item",
                .object(["bot": .string("ops"), "last": .array([.object(["id": .string("0190-m")])])]))
        ]
        bulletin.notice.body = (1...200).map { "line \($0)" }.joined(separator: "\n")
        let whole = try plain(bulletin)
        #expect(whole.hasSuffix("line 199\nline 200\n") && whole.hasPrefix("line 1\nline 2\n"))
        bulletin.notice.body = String(repeating: "0123456789abcde\n", count: 5000)
        let cut = try plain(bulletin)
        #expect(cut.utf8.count < 66_000)
        #expect(
            cut.hasSuffix("…\n\nThe text is cut here. All of it: belfry messages show 0190-m\n"),
            "\(cut.suffix(200))")
        bulletin.objects[0].value["last"] = .array([
            .object(["id": .string("a")]), .object(["id": .string("b")]),
        ])
        #expect(try plain(bulletin).hasSuffix("All of it: belfry messages ops\n"))
    }

    /// The plain part of the mail.
    private func plain(_ bulletin: Bulletin) throws -> String {
        let mail = String(decoding: call(bulletin, try form()).input, as: UTF8.self)
        let parts = mail.split(separator: "--=_belfry_=")
        let base64 = try #require(
            parts.dropFirst().first?.firstRange(of: "\n\n").map {
                parts[1][$0.upperBound...].filter { !$0.isNewline }
            })
        return String(decoding: try #require(Data(base64Encoded: String(base64))), as: UTF8.self)
    }

    @Test func `has no line that is too long, whatever the text`() throws {
        let text = String(repeating: "👨‍👩‍👧‍👦é", count: 400)
        let mail = call(Sample.texts(title: text, body: text), try form())
        let lines = String(decoding: mail.input, as: UTF8.self).split(separator: "\n")
        #expect(lines.allSatisfy { $0.utf8.count <= 78 })
        #expect(mail.input.allSatisfy { $0 < 0x80 })
    }

    @Test(arguments: [
        (
            67, "ops: user unknown",
            DeliveryError.giveUp(
                .rejected,
                detail: "sendmail exited with code 67: ops: user unknown; check the addresses of to:")
        ),
        (75, "", .retry(.askedAgain, detail: "sendmail exited with code 75")),
        (68, "", .retry(.dnsFailed, detail: "sendmail exited with code 68")),
        (
            69, "recipient refused: 550 no such user",
            .retry(.serverError, detail: "sendmail exited with code 69: recipient refused: 550 no such user")
        ),
        (
            77, "msmtp: server message: 535 5.7.8 bad\nmsmtp: could not send mail",
            .retry(
                .serverError,
                detail:
                    "sendmail exited with code 77: msmtp: server message: 535 5.7.8 bad; the mail server refuses the "
                    + "login of this machine's mail program")
        ),
        (
            78, "",
            .retry(
                .serverError,
                detail: "sendmail exited with code 78; this machine's mail program is not configured")
        ),
    ])
    func `is judged by the codes of mail programs`(code: Int, line: String, error: DeliveryError) throws {
        #expect(try form().judge(ProgramAnswer(.exited(code), printed: Array(line.utf8))) == error)
    }

    @Test func `is delivered once the mail program accepted it, and waits where there is none`() throws {
        #expect(try form().judge(ProgramAnswer(.exited(0))) == nil)
        let detail =
            "there is no program /usr/sbin/sendmail; install a mail program such as msmtp-mta or postfix, or name a "
            + "mail server (url:)"
        #expect(
            try form().judge(ProgramAnswer(.missing("there is no program /usr/sbin/sendmail")))
                == .unreachable(.noProgram, detail: detail))
    }

    @Test(arguments: ["", "a b", "-oQ/tmp", "a@b@c", "@e.org", "a@", "a\nb", "a,b", "<a@b>", "a\"b"])
    func `goes to nothing that is not an address`(address: String) throws {
        #expect(throws: FormError.self) { try form(to: [address]) }
        #expect(throws: FormError.self) { try form(from: address) }
    }
}

/// Mails for a server: where they go, and what its replies mean.
@Suite struct `a mail by a mail server` {
    private func form(
        _ url: String = "smtp://mail.example.org", to: [String] = ["ops@example.org", "eve@example.org"],
        _ more: [String: FormValues.Value] = [:]
    ) throws -> MailForm {
        var values = FormValues()
        values["to"] = .words(to)
        values["from"] = .word("belfry@example.org")
        values["url"] = .word(url)
        for (key, value) in more { values[key] = value }
        return try MailForm(values)
    }

    private func server(_ form: MailForm) throws -> MailServer {
        guard case .mail(_, let server) = form.carrier else { throw NotAServer() }
        return server
    }

    private struct NotAServer: Error {}

    @Test(arguments: [
        ("smtp://mail.example.org", "smtp://mail.example.org:587", MailServer.Encryption.startTLS),
        ("SMTP://Mail.Example.org:25/", "smtp://mail.example.org:25", .startTLS),
        ("smtps://mail.example.org", "smtps://mail.example.org:465", .immediate),
        ("smtps://[2606:4700::1]:2465", "smtps://[2606:4700::1]:2465", .immediate),
    ])
    func `goes to its host, encrypted`(url: String, shown: String, encryption: MailServer.Encryption) throws {
        let server = try server(try form(url))
        #expect(server.shown == shown && server.encryption == encryption)
    }

    @Test func `goes unencrypted or to a private address only by choice`() throws {
        let allow = FormValues.Value.exceptions([try AddressException("relay.lan")])
        let relay = try server(try form("smtp://relay.lan:25", ["tls": .word("none"), "allow": allow]))
        #expect(relay.encryption == .none && relay.rule.mayConnect(to: [10, 0, 0, 1]))
        #expect(throws: FormError.self) { try form("smtp://relay.lan:25", ["tls": .word("none")]) }
        #expect(try !server(try form()).rule.mayConnect(to: [10, 0, 0, 1]))
        let login: [String: FormValues.Value] = ["user": .word("u"), "password": .secrets([.file("/p")])]
        #expect(try form(login).doubt == nil)
        let open: [String: FormValues.Value] = [
            "tls": .word("none"), "allow": .exceptions([try AddressException("mail.example.org")]),
        ]
        #expect(
            try form(login.merging(open) { $1 }).doubt?.message
                == "the password goes over the network unencrypted")
    }

    private func form(_ more: [String: FormValues.Value]) throws -> MailForm {
        try form("smtp://mail.example.org", more)
    }

    private func form(_ url: String, _ more: [String: FormValues.Value]) throws -> MailForm {
        try form(url, to: ["ops@example.org"], more)
    }

    @Test func `has the line ends of mail, and nothing else that ends a line`() throws {
        let form = try form()
        let bulletin = Sample.texts(title: "a\r\nBcc: b@example.org", body: "x\r\n.\r\ny\u{85}z")
        let letter = form.letter(
            Parcel(
                id: "0190-a", type: "message.posted", timestamp: bulletin.at, body: form.render(bulletin),
                attempt: 1))
        #expect(letter.sender == "belfry@example.org")
        #expect(letter.recipients == ["ops@example.org", "eve@example.org"])
        let text = String(decoding: letter.message, as: UTF8.self)
        #expect(text.hasPrefix("Message-ID: <0190-a@example.org>\r\nFrom: belfry@example.org\r\n"))
        #expect(!text.replacing("\r\n", with: "").utf8.contains { $0 == 0x0A || $0 == 0x0D })
        #expect(!text.contains("\r\nBcc"))
    }

    @Test(
        arguments: [
            (250, "2.0.0 queued", nil),
            (
                451, "4.7.1 greylisted",
                DeliveryError.retry(.askedAgain, detail: "answered 451 4.7.1 greylisted", status: 451)
            ),
            (421, "busy", .retry(.serverError, detail: "answered 421 busy", status: 421)),
            (
                535, "5.7.8 bad",
                .giveUp(.rejected, detail: "answered 535 5.7.8 bad; check user: and password:", status: 535)
            ),
            (
                530, "5.7.0 login first",
                .giveUp(
                    .rejected, detail: "answered 530 5.7.0 login first; the server wants user: and password:",
                    status: 530)
            ),
            (
                550, "5.1.1 no\u{1B}[31m such user",
                .giveUp(
                    .rejected,
                    detail: "answered 550 5.1.1 no such user; check the addresses of to: and from:",
                    status: 550)
            ),
            (552, "too large", .giveUp(.rejected, detail: "answered 552 too large", status: 552)),
            (999, "?", .retry(.badAnswer, detail: "answered 999 ?", status: 999)),
        ] as [(Int, String, DeliveryError?)])
    func `is judged by the last reply`(code: Int, text: String, error: DeliveryError?) throws {
        let answer = MailAnswer([MailReply(220, "hi"), MailReply(code, text)], from: "")
        let judged = try form().judge(answer)
        #expect(judged?.detail.trimmed == error?.detail && judged?.status == error?.status)
        #expect(judged?.reason == error?.reason)
        #expect(try form().judge(MailAnswer([], from: "s"))?.reason == .badAnswer)
    }

    @Test func `knows which recipients were refused`() throws {
        let replies = [
            MailReply(220, "hi"), MailReply(250, "mail.test"), MailReply(250, "ok"), MailReply(250, "ok"),
            MailReply(550, "5.1.1 unknown"), MailReply(354, "go"), MailReply(250, "ok"),
        ]
        #expect(
            try form().refusals(in: MailAnswer(replies, from: "s"))
                == "not for eve@example.org: 550 5.1.1 unknown")
        #expect(try form().refusals(in: MailAnswer(Array(replies.dropLast(2)), from: "s")).isEmpty)
        let short = [MailReply(354, "go"), MailReply(250, "ok")]
        #expect(try form().refusals(in: MailAnswer(short, from: "s")).isEmpty)
    }
}

extension String {
    fileprivate var trimmed: String { String(drop { $0 == " " }) }
}

/// A mail's two parts, of the Markdown that bots write.
@Suite struct `the text of a mail` {
    private func parts(_ texts: [String]) throws -> (plain: String, html: String) {
        var values = FormValues()
        values["to"] = .words(["ops@example.org"])
        let mail = String(decoding: try MailForm(values).render(Sample.messages(texts)), as: UTF8.self)
        let parts = mail.split(separator: "--=_belfry_=").map { part in
            let lines = part.split(separator: "\n", omittingEmptySubsequences: false)
            let body = lines.dropFirst().drop { !$0.isEmpty }.joined()
            return String(decoding: Base64Reader.read(body), as: UTF8.self)
        }
        try #require(parts.count >= 3)
        return (parts[1], parts[2])
    }

    @Test func `is Markdown without its marks, and as HTML`() throws {
        let (plain, html) = try parts(["# News\n- **two** `a<b`\n- [docs](https://e.org/?a&b)"])
        #expect(plain == "News\n• two a<b\n• docs (https://e.org/?a&b)\n")
        let shown =
            "<b>News</b>\n• <b>two</b> <code>a&lt;b</code>\n• <a href=\"https://e.org/?a&amp;b\">docs</a>"
        #expect(html.contains(">\(shown)</div>"), "\(html)")
    }

    @Test func `is a line each of several messages`() throws {
        let (plain, html) = try parts(["**a**", "<b>"])
        #expect(plain.contains("a\n<b>") && html.contains("<b>a</b>\n&lt;b&gt;"), "\(plain) \(html)")
    }
}

/// Reads base64, as readers of mail do.
private enum Base64Reader {
    static func read(_ text: String) -> [UInt8] {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var (bytes, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
        for digit in text.utf8 {
            guard let value = digits.firstIndex(of: digit) else { continue }
            (bits, count) = (bits << 6 | UInt32(value), count + 6)
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }
}
