import Grouping
import Timeline
package import Tracking

/// Mail, handed to the machine's own mail program.
///
/// - Source: sendmail(1) and sysexits.h, as Postfix, Exim, OpenSMTPD, nullmailer and msmtp have them.
package struct MailForm: ProgramForm {
    package static let kind = ChannelKind("mail", isLevel: false)
    package static let fields = [
        FormField("to", .list, "who gets the mails", example: "[ops@example.org]"),
        FormField("from", .word, "who they are from", example: "belfry@example.org"),
        FormField(programKey, .word, "the program that sends mail", example: "/usr/sbin/sendmail"),
        ProgramTimeout.field,
    ]
    package static let programKey = "sendmail"
    package static let missingHint = "install a mail program such as msmtp-mta or postfix, or set sendmail:"
    package static let laterFields = ["url", "user", "password", "cc", "subject"]

    private let recipients: [String]
    private let sender: String?
    private let program: String
    package let timeout: Duration

    package init(_ values: FormValues) throws(FormError) {
        guard case .words(let recipients)? = values["to"], !recipients.isEmpty else { throw .missing("to") }
        self.recipients = recipients
        sender = values.text("from")
        program = values.text(Self.programKey) ?? "/usr/sbin/sendmail"
        timeout = try ProgramTimeout.read(values)
        for (key, addresses) in [("to", recipients), ("from", [sender].compactMap(\.self))] {
            for address in addresses where !Self.isAddress(address) {
                throw .unfit(
                    key, "\"\(address)\" is not a mail address, as ops@example.org, or the name of a user")
            }
        }
    }

    /// `-i`: a line of a single dot does not end the mail.
    package var command: [String] { [program, "-i"] + (sender.map { ["-f", $0] } ?? []) + recipients }

    package func render(_ bulletin: Bulletin) -> [UInt8] {
        let notice = bulletin.notice
        var text = FormText.fit(
            notice.body.isEmpty ? notice.title : notice.body, to: Self.longest, in: .bytes)
        let run = bulletin.object("run")
        if bulletin.standing == .wrong, let tail = run?["outputTail"]?.text, !tail.isEmpty {
            text += "\n\nThe last lines of its output:\n\n" + FormText.fit(tail, to: Self.longest, in: .bytes)
        }
        if let name = run?["name"]?.text { text += "\n\n-- \nbelfry run show \(name)" }
        var mail = MailText(text: text)
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
        if notice.urgency == .critical { mail.add("Importance", "high") }
        return mail.bytes
    }

    /// The id of the mail is that of its entry, so that one that arrives twice is known as the same.
    package func call(_ parcel: Parcel) -> ProgramCall {
        let id = "Message-ID: <\(MailText.atom(parcel.id))@\(domain)>\n"
        return ProgramCall(command: command, input: Array(id.utf8) + parcel.body, timeout: timeout)
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

    /// What stands behind the `@` of ids.
    private var domain: String {
        ([sender].compactMap(\.self) + recipients).lazy
            .compactMap { $0.split(separator: "@").dropFirst().last.map(String.init) }.first ?? "localhost"
    }

    /// Whether it may stand in a header and as an argument: nothing in it separates, quotes, or begins an option.
    private static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return text.utf8.count <= 254 && (1...2).contains(parts.count) && parts.allSatisfy { !$0.isEmpty }
            && !text.hasPrefix("-")
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"()<>[],;:\\\"".utf8.contains($0) }
    }

    /// Codes that say that the mail itself is refused are final; trouble of the mail program may pass.
    private static let failures = FailureTable<ProgramEnd>.program.preceded(by: [
        .init([68], .retry, .dnsFailed), .init([69, 70, 71, 72, 73, 74, 76, 77, 78], .retry, .serverError),
    ])

    private static let longestTitle = 250
    /// Bytes.
    private static let longest = 65_536
}
