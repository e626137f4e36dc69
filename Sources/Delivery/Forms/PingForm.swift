import Timeline
import Tracking

/// Checks of healthchecks.io, or of what takes its pings: start, success, failure with the exit code and the last lines.
///
/// A check is either the one whose id the key is, or, with the ping key of a project, the one whose slug is the job's
/// name.
///
/// - Source: healthchecks.io's documentation, "Pinging API".
package struct PingForm: HTTPForm {
    package static let kind = ChannelKind("ping", isLevel: false)
    package static let audience = Audience.pagers
    package static let fields =
        [
            FormField(
                keyKey, .secrets, "the UUID of one check, or the ping key of a project",
                example: "{ file: /path }"),
            FormField("url", .address, "another server of pings", example: "https://hc.example.org/ping"),
        ] + HTTPReach.fields
    package static let laterFields = ["slug", "create"]
    private static let keyKey = "key"

    package let reach: HTTPReach

    package init(_ values: FormValues) throws(FormError) {
        try values.secrets(Self.keyKey)
        reach = try HTTPReach(to: try values.address("url", or: "https://hc-ping.com"), values)
    }

    /// The path of the ping without the key, and what is logged with it.
    package func render(_ bulletin: Bulletin) -> [UInt8] {
        let run = bulletin.object("run")
        let log = [bulletin.headline, run?["outputTail"]?.text].compactMap(\.self).joined(separator: "\n\n")
        return JSON.object([
            "slug": .string(Self.slug(run?["job"]?.text ?? bulletin.notice.bot)),
            "signal": .string(Self.signal(bulletin, run)),
            "run": run?["id"],
            "log": .string(FormText.fit(log, to: Self.longestLog, in: .bytes)),
        ]).bytes
    }

    private static func signal(_ bulletin: Bulletin, _ run: JSON?) -> String {
        switch EventType(rawValue: bulletin.matter.type) {
        case .runStarted: return "start"
        case .runCompleted, .runRecovered: return "0"
        case .runFailed:
            let code = run?["exitCode"]?.int ?? 0
            return (1...255).contains(code) ? "\(code)" : "fail"
        case .runLost, .runMissed: return "fail"
        // Neither a success nor a failure: it stands in the log of the check.
        default: return "log"
        }
    }

    /// A job's name as a slug, which has no dots.
    private static func slug(_ name: String) -> String {
        name.lowercased().map { $0 == "." || $0.isWhitespace ? "-" : "\($0)" }.joined()
    }

    package func fault(in secrets: FormSecrets) -> String? {
        guard let key = secrets[Self.keyKey].first else { return nil }
        let isWord = key.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
        return isWord && !key.isEmpty
            ? nil : "the secret that key names is neither a UUID nor a ping key, the last part of the address"
    }

    package func request(_ parcel: Parcel, secrets: FormSecrets) -> HTTPRequest {
        let ping = JSON(parsing: parcel.body[...])
        let key = secrets[Self.keyKey].first ?? ""
        let check = Self.isID(key) ? key : "\(key)/\(PercentText.segment(ping?["slug"]?.text ?? ""))"
        let run = ping?["run"]?.text.flatMap { Self.isID($0) ? "?rid=\($0)" : nil } ?? ""
        return HTTPRequest(
            url: reach.url.appending("/\(check)/\(ping?["signal"]?.text ?? "log")\(run)"),
            headers: [.init("Content-Type", "text/plain; charset=utf-8")],
            body: Array((ping?["log"]?.text ?? "").utf8))
    }

    /// A check that does not exist is answered with 200 by some versions.
    package func judge(_ answer: HTTPAnswer) -> DeliveryError? {
        var judged = answer
        if answer.status == 200, answer.line.contains("not found") { judged.status = 404 }
        if answer.status == 200, answer.line.contains("rate limited") { judged.status = 429 }
        let hint: String? =
            switch judged.status {
            case 404: "there is no such check: give one of the project the job's name as its slug"
            case 409: "several checks of the project have the job's name as their slug"
            case 429: "more than five pings a minute to one check"
            default: nil
            }
        return judged.failure(by: .http, detail: HTTPAnswer.said(answer.line, hint: hint))
    }

    /// Whether it is a UUID.
    private static func isID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }

    /// Bytes; more is cut by the server.
    private static let longestLog = 10_000
}
