package import Curl
import Delivery
package import Prompting
package import Timeline
import Tracking

/// Asks a provider, and reports the stream of its reply.
///
/// What failed before the reply said anything is asked again at most twice, after a short wait; see
/// ``RequestRetries``. The address is judged when the connection is made, as a webhook's is.
package struct BotCall: Sendable {
    /// How long the parts of a call may take.
    package struct Timeouts: Hashable, Sendable {
        /// For having a connection.
        package var connect: Duration
        /// For the head of the answer: a server may load its model first.
        package var head: Duration
        /// For the next byte of the reply.
        package var silence: Duration
        /// For everything: the requests and the waits between them.
        package var total: Duration

        /// 10 seconds, 5 minutes, 60 seconds and 30 minutes unless set otherwise.
        package init(
            connect: Duration = .seconds(10), head: Duration = .seconds(300),
            silence: Duration = .seconds(60), total: Duration = .seconds(1800)
        ) {
            self.connect = connect
            self.head = head
            self.silence = silence
            self.total = total
        }
    }

    /// Whom it asks.
    package let endpoint: BotEndpoint
    private let target: CurlTarget
    private let curl: CurlMulti
    private let clock: any WallClock
    private let userAgent: String
    private let timeouts: Timeouts
    private let sizeNames: SizeNames

    /// How much of an answer that is no stream is read.
    private static let answerLimit = 65_536
    /// How much of a reply that came as one object is read.
    private static let replyLimit = 32 << 20

    /// A call to the endpoint; `userAgent` is the header's value, as `Belfry/1.0`, and `sizeNames` is what earlier
    /// calls have learned.
    ///
    /// - Throws: ``ReplyFailure`` when nothing could ever be sent there.
    package init(
        _ endpoint: BotEndpoint, curl: CurlMulti, clock: any WallClock, userAgent: String,
        timeouts: Timeouts = Timeouts(), sizeNames: SizeNames = SizeNames()
    ) throws(ReplyFailure) {
        let reach = endpoint.reach
        do throws(CurlTarget.Refusal) {
            target = try CurlTarget(endpoint.promptURL, host: reach.url.host, rule: reach.rule) {
                reach.mayConnect(to: $0)
            }
        } catch {
            switch error {
            case .notAnAddress: throw ReplyFailure(.address)
            case .addressRefused(let address): throw ReplyFailure(.refusedAddress, detail: "\(address.ip)")
            }
        }
        self.endpoint = endpoint
        self.curl = curl
        self.clock = clock
        self.userAgent = userAgent
        self.timeouts = timeouts
        self.sizeNames = sizeNames
    }

    /// Asks, and reports what happens; the last event is an end.
    ///
    /// - Throws: `CancellationError` when the task is cancelled or the transfers are closed; no end is reported then.
    package func ask(_ prompt: Prompt, _ report: (ReplyEvent) -> Void) async throws(CancellationError) {
        var prompt = prompt
        var retries = RequestRetries()
        var hasStarted = false
        var earlier = PausedReply()
        let deadline = clock.sinceBoot + timeouts.total
        while true {
            var failure: ReplyFailure?
            var pause: Finish?
            try await askOnce(prompt, within: deadline - clock.sinceBoot) { event in
                switch event {
                case .failed(let last): failure = last
                case .finished(let finish) where finish.reason == .pause: pause = finish
                case .started where hasStarted: report(.activity)
                default:
                    if case .started = event { hasStarted = true }
                    report(earlier.joined(with: event))
                }
            }
            if let pause {
                guard !pause.turn.parts.isEmpty else {
                    let failure = ReplyFailure(
                        .truncated, detail: "it paused without a word", retryAdvice: false)
                    return report(earlier.joined(with: .failed(failure)))
                }
                guard earlier.add(pause.turn) else {
                    let detail = "it paused more than \(PausedReply.limit) times"
                    return report(
                        earlier.joined(with: .failed(ReplyFailure(.truncated, detail: detail))))
                }
                prompt.turns.append(pause.turn)
                retries = RequestRetries()
                continue
            }
            guard var failure else { return }
            if sizeNames.learn(from: failure, at: endpoint, model: prompt.model) { continue }
            // A wait that leaves no time to ask again is the scheduler's.
            if let wait = retries.wait(after: failure, chance: Double.random(in: 0...1)),
                clock.sinceBoot + wait + Self.tick < deadline
            {
                try await sleep(wait)
                continue
            }
            if case .model(let name, _) = failure.kind, let known = try? await models() {
                failure.kind = .model(name, known: known)
            }
            return report(earlier.joined(with: .failed(failure)))
        }
    }

    /// By how much a wait is rounded up, at most.
    private static let tick = Duration.milliseconds(1)

    private func sleep(_ wait: Duration) async throws(CancellationError) {
        // Moments count microseconds: a finer rest of the wait would never pass.
        let (seconds, attoseconds) = wait.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1
        let end = clock.sinceBoot + .milliseconds(milliseconds)
        // A clock that was set ends the wait early.
        while clock.sinceBoot < end {
            do {
                try await clock.sleep(until: clock.now + (end - clock.sinceBoot))
            } catch {
                throw CancellationError()
            }
        }
    }

    private func askOnce(
        _ prompt: Prompt, within time: Duration, _ report: (ReplyEvent) -> Void
    ) async throws(CancellationError) {
        var request = request("POST", endpoint.promptURL)
        request.timeouts.total = time
        request.headers += [
            CurlHeader("Content-Type", "application/json"), CurlHeader("Accept", "text/event-stream"),
        ]
        request.body = endpoint.body(
            prompt, sizeName: sizeNames.name(at: endpoint, model: prompt.model))
        var decoder = endpoint.decoder(prompt)
        var hasOutput = false
        var hasAnswer = false
        var isOver = false
        func note(_ event: ReplyEvent) {
            switch event {
            case .text, .toolCall: hasOutput = true
            default: break
            }
            isOver = isOver || event.isLast
            if case .failed(var failure) = event {
                failure.detail = redacted(failure.detail)
                report(.failed(failure))
            } else {
                report(event)
            }
        }
        do throws(CurlError) {
            let answer = try await curl.open(request)
            hasAnswer = true
            let isGood = (200...299).contains(answer.status)
            let beginning = isGood ? try await answer.next() ?? [] : []
            if !isGood || Self.isWhole(answer, beginning) {
                let body = try await read(answer, after: beginning, isGood: isGood)
                guard isGood, let chunk = endpoint.chunk(of: body) else {
                    let isTooLong = isGood && body.count >= Self.replyLimit && Self.isObject(body)
                    return note(
                        .failed(
                            isTooLong
                                ? ReplyFailure(.replyTooLong(limit: Self.replyLimit))
                                : failure(of: answer, body, prompt)))
                }
                decoder.receive(chunk[...], note)
                return decoder.end(note)
            }
            decoder.receive(beginning[...], note)
            while !isOver, let bytes = try await answer.next() { decoder.receive(bytes[...], note) }
            if !isOver { decoder.end(note) }
        } catch {
            guard !isOver else { return }
            note(.failed(try failure(error, hasAnswer: hasAnswer, hasOutput: hasOutput)))
        }
    }

    /// Whether an answer that begins so is no stream: a page, or one object.
    private static func isWhole(_ answer: CurlStream, _ beginning: [UInt8]) -> Bool {
        let type = (answer.header("Content-Type") ?? "").lowercased()
        if type.hasPrefix("text/html") || type.hasPrefix("application/json") { return true }
        // Servers name the type of a stream and send something else.
        return isObject(beginning) || firstByte(of: beginning) == UInt8(ascii: "<")
    }

    private static func isObject(_ body: [UInt8]) -> Bool { firstByte(of: body) == UInt8(ascii: "{") }

    /// The first byte that is neither white space nor a byte order mark.
    private static func firstByte(of body: [UInt8]) -> UInt8? {
        body.first { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }
    }

    /// The failure that an answer is when it is no stream.
    private func failure(of answer: CurlStream, _ body: [UInt8], _ prompt: Prompt) -> ReplyFailure {
        ProviderAnswer(
            status: answer.status, body: Array(body.prefix(Self.answerLimit)),
            retryAfter: retryAfter(answer),
            retryAdvice: answer.header("x-should-retry").flatMap { Bool($0.lowercased()) }
        ).failure(model: prompt.model)
    }

    /// The rest of an answer: of a good one all of a reply, else enough to know why there is none.
    private func read(
        _ answer: CurlStream, after beginning: [UInt8], isGood: Bool
    ) async throws(CurlError) -> [UInt8] {
        let limit = isGood ? Self.replyLimit : Self.answerLimit
        var body = beginning
        while body.count < limit, let bytes = try await answer.next() { body += bytes }
        answer.cancel()
        return Array(body.prefix(limit))
    }

    private func retryAfter(_ answer: CurlStream) -> Duration? {
        if let text = answer.header("retry-after-ms"), let milliseconds = Int64(text), milliseconds >= 0 {
            return .milliseconds(min(milliseconds, 1_000_000_000_000))
        }
        if let text = answer.header("Retry-After"), let wait = RetryAfter.parse(text, now: clock.now) {
            return max(wait, .zero)
        }
        guard answer.status == 429, endpoint.dialect == .anthropic else { return nil }
        return RateHeaders.wait(now: clock.now) { answer.header($0) }
    }

    private func request(_ method: String, _ url: String) -> CurlRequest {
        var headers = [CurlHeader("User-Agent", userAgent)]
        switch endpoint.dialect {
        case .anthropic:
            headers.append(CurlHeader("anthropic-version", AnthropicRequest.version))
            if let key = endpoint.key { headers.append(CurlHeader("x-api-key", key.text)) }
        case .openAI:
            if let key = endpoint.key { headers.append(CurlHeader("Authorization", "Bearer \(key.text)")) }
        }
        return CurlRequest(
            method: method, url: url, headers: headers,
            timeouts: CurlTimeouts(
                connect: timeouts.connect, total: timeouts.total, head: timeouts.head,
                silence: timeouts.silence),
            addressGuard: target.addressGuard)
    }

    private func redacted(_ text: String) -> String { endpoint.key.map { $0.redact(text) } ?? text }
}

/// What a reply said before its provider paused it: to resume it, the provider is sent that back.
private struct PausedReply {
    /// How often a reply may pause.
    static let limit = 8

    private var turns: [SpokenTurn] = []
    private var hasOutput = false
    private var usage = TokenUsage()
    /// What the present request used so far.
    private var more = TokenUsage()

    /// The event as one of the whole reply.
    mutating func joined(with event: ReplyEvent) -> ReplyEvent {
        switch event {
        case .usage(let used):
            more = used
            return .usage(usage + used)
        case .finished(var finish):
            finish.turn.parts = turns.flatMap(\.parts) + finish.turn.parts
            return .finished(finish)
        case .failed(var failure):
            failure.hasOutput = failure.hasOutput || hasOutput
            return .failed(failure)
        case .text, .toolCall:
            hasOutput = true
            return event
        case .started, .activity, .thinking, .calling: return event
        }
    }

    /// It paused after this turn; false: it did too often.
    mutating func add(_ turn: SpokenTurn) -> Bool {
        turns.append(turn)
        (usage, more) = (usage + more, TokenUsage())
        return turns.count <= Self.limit
    }
}

// MARK: - Models

extension BotCall {
    /// The names of the models that the provider has, at most a thousand.
    ///
    /// - Throws: ``ReplyFailure``; of a cancelled task, one of the network.
    package func models() async throws(ReplyFailure) -> [String] {
        let response: CurlResponse
        do throws(CurlError) {
            response = try await modelsResponse()
        } catch {
            guard let failure = try? failure(error) else { throw ReplyFailure(.network) }
            throw failure
        }
        return try models(in: response)
    }

    /// What the provider answers when it is asked for its models.
    func modelsResponse(_ more: String = "") async throws(CurlError) -> CurlResponse {
        var request = request("GET", endpoint.modelsURL + more)
        request.bodyLimit = 1 << 20
        request.timeouts = CurlTimeouts(connect: timeouts.connect, total: .seconds(20))
        return try await curl.perform(request)
    }

    /// Whether the provider shows a model of that name when it is asked for that one.
    func knowsModel(_ name: String) async -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x3A, 0x5F: true
            default: false
            }
        }
        guard isPlain, let response = try? await modelsResponse("/" + name), response.status == 200 else {
            return false
        }
        return JSON(parsing: response.body[...], repairing: true)?["id"]?.text == name
    }

    /// The names in such an answer.
    func models(in response: CurlResponse) throws(ReplyFailure) -> [String] {
        guard response.status == 200 else {
            var failure = ProviderAnswer(status: response.status, body: response.body).failure(model: "")
            failure.detail = redacted(failure.detail)
            throw failure
        }
        guard let json = JSON(parsing: response.body[...], repairing: true), json["data"] != nil else {
            throw ReplyFailure(.malformed, status: 200, detail: "it is no list of models")
        }
        let names = (json["data"]?.elements ?? []).prefix(1000).compactMap { $0["id"]?.text }
        return names.map { CleanText.line($0, limit: 100) }.sorted()
    }
}

// MARK: - Without an answer

extension BotCall {
    /// What it means that the transfer failed.
    ///
    /// - Throws: `CancellationError` for an end that was asked for.
    func failure(
        _ error: CurlError, hasAnswer: Bool = false, hasOutput: Bool = false
    ) throws(CancellationError) -> ReplyFailure {
        var failure: ReplyFailure
        switch error {
        case .canceled, .closed: throw CancellationError()
        case .malformed(let flaw): failure = ReplyFailure(.badRequest, detail: "unsendable \(flaw.rawValue)")
        case .resolve(let fault), .connect(let fault), .tls(let fault), .library(let fault),
            .timedOut(.resolving, let fault), .timedOut(.connecting, let fault):
            failure = ReplyFailure(.network, detail: "\(fault)")
        case .refused(let address): failure = ReplyFailure(.refusedAddress, detail: "\(address.ip)")
        case .timedOut(.answering, _): failure = ReplyFailure(.deadline(timeouts.total))
        case .timedOut(.silent, _):
            failure = ReplyFailure(.silent(hasAnswer ? timeouts.silence : timeouts.head))
        // A server that took the request and hangs up is there: it fails, and may have worked for its price.
        case .cut(let fault): failure = ReplyFailure(hasAnswer ? .truncated : .server, detail: "\(fault)")
        case .answer(let fault): failure = ReplyFailure(.malformed, detail: "\(fault)")
        }
        failure.hasOutput = hasOutput
        return failure
    }
}
