package import Host
package import OpenClaw
import Performing
import Prompting
import Synchronization
import Timeline
import Tracking

/// What must be known of a prompt that was perhaps sent to a gateway: kept in a file from before it is sent until its end is
/// in the ledger, so that it is never sent a second time without asking.
struct GatewayNote: Hashable {
    /// The bot's name.
    var bot: String
    /// The key of the gateway's session; empty: nothing was sent yet.
    var session: String
    /// What it says.
    var text: String
    /// Whether the gateway delivers the reply elsewhere, too.
    var isDelivered: Bool
    /// When it was first sent.
    var sent: Moment
    /// How long the reply may take.
    var timeout: Duration
    /// Where the reply goes while it comes.
    var output: ProcessOrder.Output
    /// How it ended; nil: it has not, as far as is known.
    var end: End?

    /// How a prompt ended.
    struct End: Hashable {
        var reply: String?
        var partial: String?
        var fault: AttemptFault?
        var isTimeout = false
    }

    /// How long a reply may take where its job has no timeout.
    static let standardTimeout = Duration.seconds(1800)
}

extension GatewayNote {
    /// What an order asks, before the gateway is known that it goes to.
    init(draftOf order: PromptOrder, at moment: Moment) {
        self.init(
            bot: order.bot, session: "", text: order.text, isDelivered: false, sent: moment,
            timeout: order.timeout ?? Self.standardTimeout, output: order.output)
    }

    /// Whether nothing was sent yet.
    var isDraft: Bool { session.isEmpty }
}

extension GatewayNote: AttemptNote {
    var bytes: [UInt8] {
        JSON.object([
            "bot": .string(bot), "session": .string(session), "text": .string(text),
            "isDelivered": .bool(isDelivered), "sent": .int(sent.microseconds),
            "timeoutMs": .int(timeout.milliseconds), "path": .string(output.path),
            "head": .int(output.headBytes), "tail": .int(output.tailBytes), "end": end.map(\.json),
        ]).bytes
    }

    init?(_ bytes: [UInt8]) {
        guard let json = JSON(parsing: bytes[...]), let bot = json["bot"]?.text,
            let session = json["session"]?.text, let text = json["text"]?.text,
            let sent = json["sent"]?.int, let timeout = json["timeoutMs"]?.int,
            let path = json["path"]?.text, let head = json["head"]?.int, let tail = json["tail"]?.int
        else { return nil }
        self.init(
            bot: bot, session: session, text: text, isDelivered: json["isDelivered"] == .bool(true),
            sent: Moment(microseconds: Int64(sent)), timeout: .milliseconds(timeout),
            output: .init(path: path, headBytes: head, tailBytes: tail))
        end = json["end"].map { End($0) }
    }
}

extension GatewayNote.End {
    fileprivate var json: JSON {
        .object([
            "reply": reply.map { .string($0) }, "partial": partial.map { .string($0) },
            "isTimeout": .bool(isTimeout),
            "fault": fault.map {
                .object([
                    "reason": .string($0.reason.rawValue), "text": .string($0.text),
                    "mayPass": .bool($0.mayPass),
                ])
            },
        ])
    }

    fileprivate init(_ json: JSON) {
        reply = json["reply"]?.text
        partial = json["partial"]?.text
        isTimeout = json["isTimeout"] == .bool(true)
        if let fault = json["fault"], let reason = fault["reason"]?.text.flatMap(RunReason.init) {
            self.fault = AttemptFault(
                reason, fault["text"]?.text ?? "", mayPass: fault["mayPass"] == .bool(true))
        }
    }
}

/// The newest prompts that were sent to gateways, in a file: by them Belfry knows its own again in a session's history.
package final class SentPrompts: Sendable {
    private static let most = 200
    private let path: String
    private let known: Mutex<[SentPrompt]>

    /// Those of the file; none where it can't be read, so that what was sent may be shown as said elsewhere.
    package init(path: String) {
        self.path = path
        let bytes = (try? SmallFile.read(path, limit: 1 << 20, mayBeLink: false)) ?? []
        known = Mutex((JSON(parsing: bytes[...])?.elements ?? []).compactMap { SentPrompt($0) })
    }

    /// Keeps a prompt before it is sent.
    package func note(_ prompt: SentPrompt) throws(HostError) {
        try write(
            known.withLock { known in
                known = Array((known + [prompt]).suffix(Self.most))
                return known
            })
    }

    /// Notes that the gateway has taken the prompt that was sent into the session at that moment, and how it ended.
    func noteTaken(_ session: String, at moment: Moment, _ end: SentPrompt.End) throws(HostError) {
        let all: [SentPrompt]? = known.withLock { known in
            guard let place = known.lastIndex(where: { $0.session == session && $0.at == moment }),
                !known[place].isTaken
            else { return nil }
            (known[place].isTaken, known[place].end) = (true, end)
            return known
        }
        if let all { try write(all) }
    }

    private func write(_ all: [SentPrompt]) throws(HostError) {
        let folder = SmallFile.parent(of: path)
        try PrivateFolder.make(folder, within: SmallFile.parent(of: folder))
        try SmallFile.replace(path, with: JSON.array(all.map(\.json)).bytes + [0x0A], isDurable: false)
    }

    /// Those that were sent into the session.
    package func prompts(in session: String) -> [SentPrompt] {
        known.withLock { $0.filter { $0.session == session } }
    }
}
