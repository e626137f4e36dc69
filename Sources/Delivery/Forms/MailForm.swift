import Grouping
import Timeline
package import Tracking

/// Mail, handed to a mail server, or to the machine's own mail program.
///
/// - Source: RFC 5321; sendmail(1) and sysexits.h, as Postfix, Exim, OpenSMTPD, nullmailer and msmtp have them.
package struct MailForm: ProgramForm {
    package static let kind = ChannelKind("mail", isLevel: false)
    package static let fields =
        [
            FormField("to", .list, "who gets the mails", example: "[ops@example.org]"),
            FormField("from", .word, "who they are from", example: "belfry@example.org"),
        ] + MailServer.fields + [
            FormField(
                programKey, .word, "the program that sends mail; true is this machine's own",
                example: "/usr/sbin/sendmail"),
            ProgramTimeout.field,
        ]
    package static let programKey = "sendmail"
    package static let missingHint =
        "install a mail program such as msmtp-mta or postfix, or name a mail server (url:)"
    package static let laterFields = ["cc", "subject"]

    private let recipients: [String]
    private let sender: String?
    private let program: String
    /// Where mails go; `nil`: to the program.
    private let server: MailServer?
    package let timeout: Duration

    package init(_ values: FormValues) throws(FormError) {
        guard case .words(let recipients)? = values["to"], !recipients.isEmpty else { throw .missing("to") }
        self.recipients = recipients
        sender = values.text("from")
        timeout = try ProgramTimeout.read(values)
        server = try MailServer.read(values, timeout: timeout)
        program = try Self.program(values.text(Self.programKey), server)
        for (key, addresses) in [("to", recipients), ("from", [sender].compactMap(\.self))] {
            for address in addresses {
                if let fault = Self.fault(in: address, isForServer: server != nil) {
                    throw .unfit(key, fault)
                }
            }
        }
        if server != nil, sender == nil { throw .missing("from") }
    }

    /// The mail program that a value names.
    private static func program(_ word: String?, _ server: MailServer?) throws(FormError) -> String {
        if word != nil, server != nil {
            throw .unfit(
                programKey, "mails go to the server of url: or to the program of sendmail:, not to both")
        }
        switch word {
        case nil, "true": return "/usr/sbin/sendmail"
        case "false":
            throw .unfit(programKey, "write sendmail: true, the path of a program, or url: smtp://host:587")
        case let path?: return path
        }
    }

    /// Who sends it.
    package var carrier: FormCarrier { server.map { .mail(self, $0) } ?? .program(self) }

    package var doubt: (message: String, hint: String)? {
        guard let server, server.encryption == .none, server.user != nil else { return nil }
        return (
            "the password goes over the network unencrypted",
            "leave out tls: none, or write smtps:// where it is offered"
        )
    }

    /// `-i`: a line of a single dot does not end the mail.
    package var command: [String] { [program, "-i"] + (sender.map { ["-f", $0] } ?? []) + recipients }

    package func render(_ bulletin: Bulletin) -> [UInt8] {
        let notice = bulletin.notice
        let words = notice.body.isEmpty ? notice.title : notice.body
        let text = FormText.fit(words, to: Self.longest, in: .bytes)
        var mail = MailText(text, markup: notice.body.isEmpty ? nil : notice.markup)
        if let command = bulletin.wholeCommand, text != words.spoken {
            mail.append("\n\nThe text is cut here. All of it: \(command)")
        }
        let links = PageLink.lines(notice.links(besides: text))
        if !links.isEmpty { mail.append("\n" + links) }
        let run = bulletin.object("run")
        if bulletin.standing == .wrong, let tail = run?["outputTail"]?.text, !tail.isEmpty {
            mail.append(
                "\n\nThe last lines of its output:\n\n" + FormText.fit(tail, to: Self.longest, in: .bytes))
        }
        if let name = run?["name"]?.text { mail.append("\n\n-- \nbelfry run show \(name)") }
        mail.add("From", sender)
        mail.add("To", recipients.joined(separator: ",\n "))
        mail.add("Subject", MailText.words(CleanText.line(notice.title, limit: Self.longestTitle)))
        mail.add("Date", MailText.date(bulletin.at))
        // Of a mail that never was: what follows of the same item is shown below the first.
        let root = "<\(MailText.atom(notice.tag))@\(domain)>"
        mail.add("In-Reply-To", root)
        mail.add("References", root)
        mail.add("Auto-Submitted", "auto-generated")
        mail.add("X-Belfry-Type", bulletin.matter.type)
        if notice.urgency == .critical {
            mail.add("Importance", "high")
            mail.add("X-Priority", "1 (Highest)")
        }
        return mail.bytes
    }

    package func call(_ parcel: Parcel) -> ProgramCall {
        ProgramCall(command: command, input: message(parcel), timeout: timeout)
    }

    /// What mails are for, by which their troubles are remembered.
    package var destination: String {
        ([server?.shown, server?.user, server?.rule.name].map { $0 ?? "" } + command).joined(
            separator: "\u{0}")
    }

    /// What a server gets for the parcel.
    package func letter(_ parcel: Parcel) -> MailLetter {
        let lines = message(parcel).split(separator: 0x0A, omittingEmptySubsequences: false)
        return MailLetter(
            sender: sender ?? "", recipients: recipients,
            message: Array(lines.joined(separator: [0x0D, 0x0A])))
    }

    /// The id of the mail is that of its entry, so that one that arrives twice is known as the same.
    private func message(_ parcel: Parcel) -> [UInt8] {
        Array("Message-ID: <\(MailText.atom(parcel.id))@\(domain)>\n".utf8) + parcel.body
    }

    /// What the server's answer means; `nil`: it took the mail.
    package func judge(_ answer: MailAnswer) -> DeliveryError? {
        guard let last = answer.replies.last else {
            return .retry(.badAnswer, detail: "\(answer.server) did not answer as a mail server")
        }
        if (200...299).contains(last.code) { return nil }
        let hint: String? =
            switch last.code {
            case 530 where server?.user == nil: "the server wants user: and password:"
            case 530, 534, 535, 538: "check user: and password:"
            case 550, 551, 553: "check the addresses of to: and from:"
            default: nil
            }
        let detail = ["\(answer.server) answered \(last.line)", hint].compactMap(\.self).joined(
            separator: "; ")
        return FailureTable<Int>.smtp.judge(last.code, detail: detail, status: last.code)
    }

    /// Which of its recipients a server refused while it took the mail for the others, in one line; empty: none.
    package func refusals(in answer: MailAnswer) -> String {
        let refused = answer.refused(of: recipients).map { "\($0.recipient): \($0.reply.line)" }
        return refused.isEmpty ? "" : CleanText.line("not for " + refused.joined(separator: ", "), limit: 250)
    }

    package func judge(_ answer: ProgramAnswer) -> DeliveryError? {
        let hint: String? =
            switch answer.end {
            case .exited(65), .exited(67): "check the addresses of to:"
            case .exited(77): "the mail server refuses the login of this machine's mail program"
            case .exited(78): "this machine's mail program is not configured"
            default: nil
            }
        return failure(answer, by: Self.failures, hint: hint)
    }

    /// What the mail server said, such as `550 5.1.1 no such user`, where the mail program repeats it.
    package func explanation(in output: LastLines) -> String? {
        let said = output.lines.last { line in
            line.text.split(separator: " ").contains { word in
                word.utf8.count == 3 && (word.first == "4" || word.first == "5") && Int(word) != nil
            }
        }
        return said?.text ?? FailureLine.find(in: output)
    }

    package static let showsWholeMessages = true

    /// What stands behind the `@` of ids.
    private var domain: String {
        ([sender].compactMap(\.self) + recipients).lazy
            .compactMap { $0.split(separator: "@").dropFirst().last.map(String.init) }.first ?? "localhost"
    }

    /// Why it may not stand in a header and as an argument, where something in it separates, quotes, or begins an option;
    /// or why a server could not take it.
    private static func fault(in text: String, isForServer: Bool) -> String? {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        let isSound =
            text.utf8.count <= 254 && (1...2).contains(parts.count) && parts.allSatisfy { !$0.isEmpty }
            && !text.hasPrefix("-")
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"()<>[],;:\\\"".utf8.contains($0) }
        guard isSound else {
            return "\"\(text)\" is not a mail address, as ops@example.org, or the name of a user"
        }
        guard isForServer else { return nil }
        if parts.count == 1 { return "a mail server needs the whole address, as \(text)@example.org" }
        return text.utf8.allSatisfy { $0 < 0x80 }
            ? nil : "\"\(text)\" has letters that not every mail server takes; write its ASCII form"
    }

    /// Codes that say that the mail itself is refused are final; trouble of the mail program may pass.
    private static let failures = FailureTable<ProgramEnd>.program.preceded(by: [
        .init([68], .retry, .dnsFailed), .init([69, 70, 71, 72, 73, 74, 76, 77, 78], .retry, .serverError),
    ])

    private static let longestTitle = 250
    /// Bytes.
    private static let longest = 65_536
}

extension Bulletin {
    /// The command that shows all of its messages; `nil`: it is about none.
    fileprivate var wholeCommand: String? {
        guard let item = object("item"), let last = item["last"]?.elements.last?["id"]?.text else {
            return nil
        }
        guard item["last"]?.elements.count == 1 else {
            return item["bot"]?.text.map { "belfry messages \($0)" }
        }
        return "belfry messages show \(last)"
    }
}
