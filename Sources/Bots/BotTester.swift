package import Curl
import Delivery
package import Performing
package import Prompting
package import Timeline
import Tracking

/// Tests bots step by step: what of a provider answers, and what does not.
package struct BotTester: Sendable {
    private let curl: CurlMulti
    private let clock: any WallClock
    private let userAgent: String
    private let programFault: @Sendable (String) -> String?

    /// A tester whose requests bear `userAgent`; `programFault` says why a program can't be run here, nil where it can.
    package init(
        curl: CurlMulti, clock: any WallClock, userAgent: String,
        programFault: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        self.programFault = programFault
        self.curl = curl
        self.clock = clock
        self.userAgent = userAgent
    }

    /// How long a reply to a test may take.
    private static let timeouts = BotCall.Timeouts(
        head: .seconds(90), silence: .seconds(30), total: .seconds(120))

    /// Tests the bot; with `asks` it is also asked for a word, which costs what a word costs.
    package func test(_ name: String, _ bot: BotInUse, asks: Bool) async -> BotTestResult {
        var result = BotTestResult()
        if let program = bot.program { test(name, program, &result) }
        guard let backend = bot.backend else { return result }
        var endpoint = BotEndpoint(bot: name, backend)
        if let text = bot.secrets[BotInUse.key].first {
            guard let key = BotKey(text) else {
                result.note(
                    .configuration, .failed, "the key is empty or malformed", hint: "check bots.\(name).key")
                return result
            }
            endpoint = BotEndpoint(bot: name, backend, key: key)
        }
        do {
            let call = try BotCall(
                endpoint, curl: curl, clock: clock, userAgent: userAgent, timeouts: Self.timeouts)
            let key = endpoint.key == nil ? "no key" : "with a key"
            result.note(.configuration, .ok, "\(backend.dialect.rawValue), model \(backend.model), \(key)")
            try await call.tryModels(&result)
            guard result.isGood else { return result }
            if asks { try await tryReply(of: call, backend, &result) }
        } catch let failure as ReplyFailure {
            result.fail(.configuration, failure, at: endpoint.place)
        } catch {
            result.note(.connect, .failed, "the daemon is stopping")
        }
        return result
    }

    /// Whether the program is there; to run it costs what a prompt costs, and is left to one.
    private func test(_ name: String, _ program: BotProgram, _ result: inout BotTestResult) {
        var words = program.sandbox == nil ? [] : [Sandbox.program]
        words += program.command.prefix(1)
        // Inside of a sandbox there may be more, or less, than here.
        if let word = words.first, let fault = programFault(word) {
            result.note(
                .configuration, .failed, fault, hint: "install it, or set bots.\(name).command")
            return
        }
        let model = program.model.map { ", model \($0)" } ?? ""
        result.note(.configuration, .ok, "\(program.kind), \(words.joined(separator: " "))\(model)")
        result.note(.reply, .skipped, "not asked", hint: "ask it: belfry ask \(name) hello")
    }

    private func tryReply(
        of call: BotCall, _ backend: BotBackend, _ result: inout BotTestResult
    ) async throws(CancellationError) {
        var (text, failure, usage) = ("", ReplyFailure?.none, TokenUsage?.none)
        var firstWord: Duration?
        let start = clock.sinceBoot
        var prompt = backend.prompt([Turn(.user, "Reply with the single word: ready")])
        prompt.maxTokens = min(prompt.maxTokens, 512)
        try await call.ask(prompt) { event in
            switch event {
            case .text(let piece):
                text += piece
                firstWord = firstWord ?? clock.sinceBoot - start
            case .failed(let reason): failure = reason
            case .usage(let used): usage = used
            default: break
            }
        }
        result.usage = usage.map { BotUsage($0, price: backend.price) }
        if let failure { return result.fail(.reply, failure, at: call.endpoint.place) }
        (result.firstWord, result.whole) = (firstWord, clock.sinceBoot - start)
        let used = result.usage.map {
            "; " + UsageWords.tokens(read: $0.inputTokens, written: $0.outputTokens)
        }
        let time = result.whole.map { Double($0.milliseconds / 10) / 100 } ?? 0
        let word = CleanText.line(text, limit: 60)
        result.note(
            .reply, .ok,
            (word.isEmpty ? "the reply was empty" : "\"\(word)\"") + " after \(time) s" + (used ?? ""))
    }
}

extension BotTestResult {
    /// A step failed as an attempt would.
    fileprivate mutating func fail(_ step: Step, _ failure: ReplyFailure, at place: ReplyFailure.Place) {
        let sentence = failure.sentence(at: place)
        note(
            step, .failed, String(sentence.dropFirst(place.bot.count + 2)), hint: failure.hint(at: place))
        fault = AttemptFault(failure, at: place)
    }
}

extension BotCall {
    /// Asks for the models: how far that comes shows what works.
    fileprivate func tryModels(_ result: inout BotTestResult) async throws(CancellationError) {
        let (host, isTLS) = (endpoint.reach.url.host, endpoint.reach.url.isSecure)
        func noteUp(to step: BotTestResult.Step) {
            if step == .resolve { return }
            result.note(.resolve, .ok, host)
            if step == .connect { return }
            result.note(.connect, .ok, endpoint.reach.url.shown)
            if step == .tls { return }
            result.note(.tls, isTLS ? .ok : .skipped, isTLS ? "the certificate is valid" : "plain http")
        }
        let response: CurlResponse
        do throws(CurlError) {
            response = try await modelsResponse()
        } catch {
            let failure = try failure(error)
            let step = Self.step(of: error)
            noteUp(to: step)
            return result.fail(step, failure, at: endpoint.place)
        }
        noteUp(to: .key)
        result.hasAnswered = true
        let keyName = endpoint.key == nil ? "none is configured" : "accepted"
        do throws(ReplyFailure) {
            let names = try models(in: response)
            result.note(.key, endpoint.key == nil ? .skipped : .ok, keyName)
            result.note(.models, .ok, "\(names.count) listed")
            try await tryModel(among: names, &result)
        } catch {
            switch error.kind {
            case .auth: result.fail(.key, error, at: endpoint.place)
            case .address where error.status.map { [404, 405, 501].contains($0) } ?? false:
                result.note(.key, .skipped, "not checked")
                result.note(
                    .models, .skipped, "\(host) lists no models (\(error.status ?? 0))",
                    hint: "ask it for a word: belfry bot test \(endpoint.bot) --ask")
            default:
                result.note(.key, .skipped, "not checked")
                result.fail(.models, error, at: endpoint.place)
            }
        }
    }

    /// Whether the model is there: listed, or known by another name of it.
    private func tryModel(among names: [String], _ result: inout BotTestResult) async throws(ReplyFailure) {
        let model = endpoint.backend.model
        if names.contains(model) { return result.note(.model, .ok, model) }
        if await knowsModel(model) { return result.note(.model, .ok, "\(model), which is not listed") }
        result.fail(.model, ReplyFailure(.model(model, known: names)), at: endpoint.place)
    }

    /// The step at which a request failed.
    private static func step(of error: CurlError) -> BotTestResult.Step {
        switch error {
        case .resolve, .timedOut(.resolving, _): .resolve
        case .malformed, .connect, .refused, .timedOut(.connecting, _), .library, .canceled, .closed: .connect
        case .tls: .tls
        case .cut, .answer, .timedOut(.answering, _), .timedOut(.silent, _): .models
        }
    }
}
