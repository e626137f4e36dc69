import Delivery
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
                "Importance: high", "MIME-Version: 1.0",
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
            "there is no program /usr/sbin/sendmail; install a mail program such as msmtp-mta or postfix, or set "
            + "sendmail:"
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
