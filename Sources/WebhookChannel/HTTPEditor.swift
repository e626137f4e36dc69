package import Curl
package import Delivery
import Grouping
package import Logging
package import Timeline

/// Shows items at a service that edits in place, by HTTP.
///
/// One attempt a call and no memory between calls: what the service called a message is in the surface. A version that
/// rings is a new message, since an edit calls nobody; any other changes the last message of the item where that says
/// the same kind of thing, or shows work in progress. Work and questions are removed when something rings in their place
/// or nothing is left to show; all else stays where it was read.
package struct HTTPEditor: LevelChannel {
    /// The name it has in the config file.
    package let name: String
    /// A code of the address, the secrets and the exceptions.
    package var identity: String { exchange.identity }
    package var lastProtocol: String? { exchange.lastProtocol }
    /// That somebody can be asked: there is no other way to see a service come back than to ask it.
    package let signals: AsyncStream<SurfaceSignal>
    private let reports: AsyncStream<SurfaceSignal>.Continuation
    private let service: any HTTPLevelForm
    private let exchange: HTTPExchange
    private let clock: any WallClock
    private let logger: Logger

    /// A channel of this form; see ``HTTPSender/init(name:form:secrets:userAgent:curl:)``.
    /// - Throws: ``HTTPSenderError`` when nothing could ever be sent there.
    package init(
        name: String, form: any HTTPLevelForm, secrets: FormSecrets = FormSecrets(), userAgent: String,
        curl: CurlMulti, clock: any WallClock, logger: Logger
    ) throws(HTTPSenderError) {
        self.name = name
        service = form
        exchange = try HTTPExchange(with: form, secrets: secrets, userAgent: userAgent, curl: curl)
        (signals, reports) = AsyncStream.makeStream(of: SurfaceSignal.self)
        self.clock = clock
        var logger = logger
        logger[metadataKey: "channel"] = "\(name)"
        self.logger = logger
    }

    /// The form it sends for.
    package var form: any ChannelForm { service }

    /// That of a history that is read when somebody looks.
    package var manner: SurfaceManner { .history }

    package var seesPresence: Bool { false }

    package func run() async throws {
        reports.yield(.available(generation: identity))
        let (ends, _) = AsyncStream.makeStream(of: Never.self)
        for await _ in ends {}
        try Task.checkCancellation()
    }

    package func retryNow() { reports.yield(.available(generation: identity)) }

    package func show(
        _ notice: Notice, replacing remote: RemoteID?
    ) async throws(DeliveryError) -> RemoteID {
        let last = remote.flatMap(PostedMessage.init)
        if let last, !notice.ring, last.gives(wayTo: notice), try await edit(last, to: notice) {
            return PostedMessage(notice, id: last.id).remote(of: identity)
        }
        let answer = try await take(.post(notice, at: clock.now))
        try exchange.check(answer)
        // A message without an id stands where it is; the next version is another one.
        let shown = PostedMessage(notice, id: service.remote(in: answer) ?? "")
        if let last, last.isPassing { await remove(last) }
        return shown.remote(of: identity)
    }

    package func close(_ remote: RemoteID) async {
        guard let last = PostedMessage(remote), last.isPassing else { return }
        await remove(last)
    }

    /// Whether the message now shows the notice; it does not when it was removed by somebody else.
    private func edit(_ last: PostedMessage, to notice: Notice) async throws(DeliveryError) -> Bool {
        let answer = try await take(.edit(notice, at: clock.now, of: last.id))
        if service.isLost(answer) { return false }
        try exchange.check(answer)
        return true
    }

    /// Removes what is of no use to anybody who comes later.
    ///
    /// A service that wants a pause first gets it once, as long as nothing else could be shown there either.
    private func remove(_ last: PostedMessage) async {
        do throws(DeliveryError) {
            do throws(DeliveryError) {
                try await removeOnce(last)
            } catch .retry(.throttled, let asked, _, _) {
                let pause = min(asked ?? .seconds(1), Self.longestPause)
                try? await clock.sleep(until: clock.now + pause)
                try await removeOnce(last)
            }
        } catch {
            logger.notice(
                "an outdated message could not be deleted", metadata: ["reason": "\(error.sentence)"])
        }
    }

    private func removeOnce(_ last: PostedMessage) async throws(DeliveryError) {
        let answer = try await take(.remove(last.id))
        if !service.isLost(answer) { try exchange.check(answer) }
    }

    /// The longest that a removal waits.
    private static let longestPause = Duration.seconds(30)

    /// Who does not answer is tried again like who refuses: nobody will say that a service is back.
    private func take(_ step: LevelStep) async throws(DeliveryError) -> HTTPAnswer {
        let request = service.request(step, secrets: exchange.secrets)
        do throws(DeliveryError) {
            let answer = try await exchange.perform(request, at: clock.now)
            // Once: who moves again is refused.
            guard let moved = service.following(answer, step, secrets: exchange.secrets) else {
                return answer
            }
            logger.warning("the receiver has moved", metadata: ["hint": "\(moved.hint)"])
            return try await exchange.perform(moved.request, at: clock.now)
        } catch .unreachable(let reason, let detail) where reason != .stopping {
            throw .retry(reason, detail: detail)
        }
    }
}

/// What a service calls a message that it shows, and what that says.
private struct PostedMessage {
    /// A message of a bot.
    private static let word = "word"
    private static let question = "question"

    var id: String
    /// The news of a job, ``word`` or ``question``.
    var kind: String

    init(_ notice: Notice, id: String) {
        self.id = id
        if case .question = notice.item {
            kind = Self.question
        } else {
            kind = notice.news?.rawValue ?? Self.word
        }
    }

    /// - Returns: `nil` where the service gave no id.
    init?(_ remote: RemoteID) {
        let parts = remote.id.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        (kind, id) = (String(parts[0]), String(parts[1]))
    }

    /// Whether it is of no use to anybody who comes later: work in progress, and a question.
    var isPassing: Bool { kind == Self.question || JobNews(rawValue: kind)?.isLive ?? false }

    /// Whether the notice may take its place: a run at work gives way to its result, and a failure of yesterday to nothing
    /// but a failure.
    func gives(wayTo notice: Notice) -> Bool {
        isPassing || kind == PostedMessage(notice, id: id).kind
    }

    func remote(of generation: String) -> RemoteID { RemoteID(generation: generation, id: "\(kind) \(id)") }
}
