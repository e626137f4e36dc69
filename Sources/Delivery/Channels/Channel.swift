package import Grouping
package import Timeline
import Tracking

/// A way to a person or a program.
package protocol Channel: Sendable {
    /// The name it has in the config file.
    var name: String { get }
    /// What it was made of.
    var form: any ChannelForm { get }
    /// Stands for its address, its secrets and whom it may reach, and gives none of them away.
    ///
    /// What is known of a channel's troubles counts only for the same identity.
    var identity: String { get }
    /// The protocol of the last answer, as `HTTP/2`; nil, the default: there was none, or its protocol is not known.
    var lastProtocol: String? { get }
}

extension Channel {
    /// The kind of its form.
    package var kind: ChannelKind { form.kind }
    package var lastProtocol: String? { nil }
}

/// A channel that sends each thing once.
package protocol EdgeChannel: Channel {
    /// Where the tasks that serve it best run; nil, as left out: anywhere.
    var executor: (any TaskExecutor)? { get }

    /// Announces that something to send may follow in a moment, once it is on the disk: a sleeping sender can wake up meanwhile.
    ///
    /// Called on the thread that commits; returns at once.
    func expectWork()

    /// Sends `parcel` one time, without a retry of its own.
    ///
    /// `now` goes into the signature and is another one on each attempt.
    /// - Returns: that it was accepted, with the status.
    /// - Throws: how the attempt failed; see ``DeliveryError``.
    func deliver(_ parcel: Parcel, at now: Moment) async throws(DeliveryError) -> Receipt

    /// The same, with what the other side said of what it refused.
    func attempt(_ parcel: Parcel, at now: Moment) async -> DeliveryReport
}

extension EdgeChannel {
    package var executor: (any TaskExecutor)? { nil }

    package func expectWork() {}

    package func attempt(_ parcel: Parcel, at now: Moment) async -> DeliveryReport {
        do throws(DeliveryError) {
            return DeliveryReport(.success(try await deliver(parcel, at: now)))
        } catch {
            return DeliveryReport(.failure(error))
        }
    }
}

/// How one attempt ended.
package struct DeliveryReport: Sendable {
    /// A receipt, or how it failed.
    package var result: Result<Receipt, DeliveryError>
    /// The head of the answer to what failed, without secrets; absent where nothing came.
    package var answer: String?

    /// How much of an answer is kept, in bytes.
    package static let answerLimit = 2048

    /// The end of an attempt.
    package init(_ result: Result<Receipt, DeliveryError>, answer: String? = nil) {
        self.result = result
        self.answer = answer
    }

    /// The head of an answer as it is kept: what can be read of it, at most ``answerLimit`` bytes; absent where there is
    /// nothing to read.
    package static func kept(_ answer: String) -> String? {
        var text = ""
        for character in answer.spoken {
            guard text.utf8.count + String(character).utf8.count <= answerLimit else { break }
            text.append(character)
        }
        return text.isEmpty ? nil : text
    }
}

/// What an edge channel sends: finished bytes under an id.
package struct Parcel: Hashable, Codable, Sendable {
    /// The outbox entry's id, the same on every attempt; contains no dot.
    package var id: String
    /// The event's type, as `run.failed`.
    package var type: String
    /// When the event happened, not when it is sent.
    package var timestamp: Moment
    /// The very bytes that its form rendered when it was queued.
    package var body: [UInt8]
    /// Which attempt this is, from 1.
    package var attempt: Int

    /// A parcel for one attempt.
    package init(id: String, type: String, timestamp: Moment, body: [UInt8], attempt: Int) {
        self.id = id
        self.type = type
        self.timestamp = timestamp
        self.body = body
        self.attempt = attempt
    }
}

/// A channel that edits in place: it is given what one item should look like now, and nights without it
/// replay nothing.
package protocol LevelChannel: Channel {
    /// Serves the connection until the task is cancelled. Comes back by itself when the server does.
    func run() async throws

    /// Shows `notice`, in the place of `remote` when that still stands.
    ///
    /// A `remote` of an earlier generation is ignored and a new thing is shown.
    /// - Returns: what the server calls it now.
    /// - Throws: `.unreachable` when no server is there (wait for ``SurfaceSignal/available(generation:)``),
    ///   `.retry` when it was there and refused for now, `.giveUp` when it never will take this notice.
    ///   After `.unreachable(.timeout)` the notice may still be shown: ``SurfaceSignal/answered(_:revision:_:)``
    ///   says so before the channel is available again.
    func show(_ notice: Notice, replacing remote: RemoteID?) async throws(DeliveryError) -> RemoteID

    /// Looks for its server now, if it would only do so after a pause.
    func retryNow() async

    /// Takes back what was shown; does nothing when it no longer exists.
    func close(_ remote: RemoteID) async

    /// Shows on an icon, where there is one, how many messages are unread.
    func showBadge(_ unread: Int) async

    /// Whether a terminal can be opened where it shows things.
    var hasTerminal: Bool { get }

    /// Opens a terminal in which `belfry` runs with these arguments.
    func openTerminal(_ arguments: [String]) async

    /// What the channel reports, in order, for one reader, from ``run()`` on.
    var signals: AsyncStream<SurfaceSignal> { get }

    /// What it is worth to show late, and how often.
    var manner: SurfaceManner { get }

    /// Whether it sees that somebody is there before it shows anything; a service is only asked with a notice.
    var seesPresence: Bool { get }
}

extension LevelChannel {
    /// That of a screen.
    package var manner: SurfaceManner { .screen }
    package var seesPresence: Bool { true }
    package func showBadge(_ unread: Int) async {}
    package var hasTerminal: Bool { false }
    package func openTerminal(_ arguments: [String]) async {}
}

/// How late something is still shown on a level channel, and how often it changes there.
package struct SurfaceManner: Hashable, Sendable {
    /// What was wanted longer ago is shown without a ring; nil: it rings however late it is.
    package let ringsWithin: Duration?
    /// What was wanted longer ago is not brought up any more; nil: it always is.
    package let showsWithin: Duration?
    /// The pause between two versions of a run at work.
    package let pace: Duration

    /// Whether what was wanted `age` ago still rings.
    package func rings(after age: Duration) -> Bool { ringsWithin.map { age < $0 } ?? true }

    /// Whether what was wanted `age` ago is still brought up.
    package func shows(after age: Duration) -> Bool { showsWithin.map { age < $0 } ?? true }

    /// Somebody sits before it: old news are no news.
    package static let screen = SurfaceManner(
        ringsWithin: .seconds(300), showsWithin: .seconds(12 * 3600), pace: .seconds(2))
    /// Somebody comes back to it: a failure of the night is wanted in the morning.
    ///
    /// Services limit edits to about twenty a minute.
    package static let history = SurfaceManner(ringsWithin: nil, showsWithin: nil, pace: .seconds(10))
}

/// What a level channel reports on its own account.
package enum SurfaceSignal: Hashable, Sendable {
    /// A server is there; ids of any other generation are void. Sent again when the server changes.
    case available(generation: String)
    /// No server, although one was there or ought to be, with a sentence saying why. Becomes `.available` when one
    /// appears.
    case unavailable(String)
    /// There is no desktop, and none was seen so far, with a sentence saying why. Becomes `.available` when one appears.
    case absent(String)
    /// Something we showed was closed; its id is void from here on. `revision` is what it showed then, where the
    /// channel knows: a newer one may be on its way there.
    case closed(RemoteID, CloseReason, revision: Int?)
    /// The answer to `show` that came after `show` gave up waiting: what shows that revision now, or why nothing
    /// does.
    case answered(ItemKey, revision: Int, Result<RemoteID, DeliveryError>)
    /// A person pressed a button; `key` is that of the ``NoticeAction``.
    case action(RemoteID, key: String)
    /// A person typed a reply into what we showed.
    case reply(RemoteID, text: String)
}

/// Why something is no longer shown.
///
/// - Source: Desktop Notifications Specification 1.3, `NotificationClosed`.
package enum CloseReason: String, Hashable, Codable, Sendable, CaseIterable {
    /// Its time was over, or the server made room: gone from the screen, still unread.
    case expired
    /// A person closed it: read.
    case dismissed
    /// We asked for it.
    case closedByUs
    /// The server does not say: treated as still unread.
    case undefined
}

/// What is known of a delivery: never more than the other side said.
package struct Receipt: Hashable, Codable, Sendable {
    /// When it was known.
    package var at: Moment
    /// How far it got.
    package var kind: ReceiptKind
    /// A word more, as the head of the answer; at most a line, without secrets.
    package var detail: String
    /// The HTTP status, where there is one.
    package var status: Int?
    /// How long the other side took to answer.
    package var latency: Duration?
    /// The head of its answer, without secrets; absent where it said nothing.
    package var answer: String?

    /// A receipt.
    package init(
        at: Moment, kind: ReceiptKind, detail: String = "", status: Int? = nil, latency: Duration? = nil,
        answer: String? = nil
    ) {
        self.at = at
        self.kind = kind
        self.detail = detail
        self.status = status
        self.latency = latency
        self.answer = answer
    }
}

/// How far a delivery got; each case can only grow into a later one.
package enum ReceiptKind: String, Hashable, Codable, Sendable, CaseIterable {
    /// The other side took it (2xx). Becomes `.shown`, `.seen` or `.acted` where that can be known.
    case accepted
    /// It is on a screen. Becomes `.seen` or `.acted`.
    case shown
    /// A person closed or read it. Becomes `.acted`.
    case seen
    /// A person answered or pressed a button.
    case acted
}

/// What a server calls the thing it shows for us.
package struct RemoteID: Hashable, Codable, Sendable {
    /// The life of the server that gave the id, as the unique name of its bus connection.
    ///
    /// Ids die with the server; an id of another generation must never be used, it may hit a stranger.
    package var generation: String
    /// The id within that generation.
    package var id: String

    /// An id given by the server of that generation.
    package init(generation: String, id: String) {
        self.generation = generation
        self.id = id
    }
}

/// Who is at the other end of a channel.
package enum Audience: String, Hashable, Sendable, CaseIterable {
    /// Somebody who reads: what was held comes as one digest.
    case people
    /// A program that acts on each thing it is sent: what was held comes one by one.
    case programs
    /// What watches over this machine, or wakes somebody: quiet hours and budgets never hold it.
    case pagers
}

/// What keeps a channel from failing unnoticed: where its things go that do not arrive, and a sign of life.
package struct ChannelSafety: Hashable, Sendable {
    /// The channel that is sent what does not arrive here; nil: none.
    package var fallback: String?
    /// How long something may take to arrive before it goes there; what is refused for good goes there at once.
    package var fallbackAfter: Duration
    /// How often a sign of life is sent; nil: never.
    package var heartbeat: Duration?

    /// Nothing is kept safe, unless it is said how.
    package init(
        fallback: String? = nil, fallbackAfter: Duration = ChannelSafety.usualWait, heartbeat: Duration? = nil
    ) {
        (self.fallback, self.fallbackAfter, self.heartbeat) = (fallback, fallbackAfter, heartbeat)
    }

    /// An hour: a receiver that is restarted is none that fails.
    package static let usualWait = Duration.seconds(3600)
    /// What ``fallbackAfter`` may be.
    package static let waits = Duration.seconds(60)...Duration.seconds(7 * 86_400)
    /// What ``heartbeat`` may be.
    package static let heartbeats = Duration.seconds(60)...Duration.seconds(31 * 86_400)

    package static let (fallbackKey, waitKey, heartbeatKey) = ("fallback", "fallbackAfter", "heartbeat")

    /// The keys of every channel but a desktop, whatever its form: who sits before that one sees that it is there.
    package static let fields = [
        FormField(
            fallbackKey, .word, "the channel that is sent what does not arrive here", example: "mail"),
        FormField(
            waitKey, .duration, "how long something may take to arrive before it goes there", example: "1h"),
        FormField(heartbeatKey, .duration, "how often a sign of life is sent", example: "1d"),
    ]

    /// The keys of a form's channels besides those of the form.
    package static func fields(of form: any ChannelForm.Type) -> [FormField] {
        form.kind == DesktopForm.kind ? [] : fields
    }
}
