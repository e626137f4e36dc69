import Grouping
import Tracking

/// Any program: it is run for each notice, with the notice as JSON on its standard input and its words in the environment.
package struct CommandForm: ProgramForm {
    package static let kind = ChannelKind("command", isLevel: false)
    package static let audience = Audience.programs
    package static let fields = [
        FormField(
            programKey, .words, "the program that is run for each notice, and its arguments",
            example: "[/usr/local/bin/my-notifier, --quiet]"),
        ProgramTimeout.field,
    ]
    package static let laterFields = ["env", "user", "cwd"]
    package static let programKey = "command"
    package static let missingHint = "install it, or correct command: of this channel"

    package let command: [String]
    package let timeout: Duration

    package init(_ values: FormValues) throws(FormError) {
        guard case .words(let words)? = values[Self.programKey], !words.isEmpty else {
            throw .missing(Self.programKey)
        }
        command = words
        timeout = try ProgramTimeout.read(values)
    }

    package func render(_ bulletin: Bulletin) -> [UInt8] {
        let notice = bulletin.notice
        let shown = JSON.object([
            "title": .string(CleanText.line(notice.title, limit: Self.longestTitle)),
            "body": .string(FormText.fit(notice.body, to: Self.longestBody, in: .bytes)),
            "urgency": .string(notice.urgency.rawValue),
            "bot": .string(notice.bot),
            "ring": .bool(notice.ring),
        ])
        return WebhookBody(
            type: bulletin.matter.type, timestamp: bulletin.at, reason: bulletin.matter.reason,
            objects: [JSON.Member("notice", shown)] + bulletin.objects
        ).bytes
    }

    package func call(_ parcel: Parcel) -> ProgramCall {
        let body = JSON(parsing: parcel.body[...])
        let (data, run) = (body?["data"], body?["data"]?["run"])
        let values: [(name: String, text: String?)] = [
            ("ID", parcel.id), ("TYPE", parcel.type), ("AT", body?["timestamp"]?.text),
            ("REASON", data?["reason"]?.text), ("TITLE", data?["notice"]?["title"]?.text),
            ("BODY", data?["notice"]?["body"]?.text), ("URGENCY", data?["notice"]?["urgency"]?.text),
            ("BOT", data?["notice"]?["bot"]?.text), ("JOB", run?["job"]?.text), ("RUN", run?["name"]?.text),
        ]
        var environment: [String: String] = [:]
        for (name, text) in values { environment[Self.prefix + name] = text }
        return ProgramCall(
            command: command, input: parcel.body + [0x0A], environment: environment, timeout: timeout)
    }

    package func judge(_ answer: ProgramAnswer) -> DeliveryError? {
        failure(answer, by: .program)
    }

    private static let prefix = "NOTICE_"
    private static let longestTitle = 250
    /// Bytes; the kernel takes 128 KiB for a variable.
    private static let longestBody = 16_384
}
