package import Curl
import Delivery
package import GatewayClient
package import Performing
package import Prompting
package import Timeline
import Tracking

/// Tests bots step by step: what of a provider answers, and what does not.
package struct BotTester: Sendable {
    private let curl: CurlMulti
    private let clock: any WallClock
    private let userAgent: String
    private let programs: Programs
    private let gateways: GatewayPool?

    /// What runs bots that are programs.
    package struct Programs: Sendable {
        /// Why a program can't be run here; nil where it can.
        let fault: @Sendable (String) -> String?
        /// The home folder of the programs; nil: they have none.
        let home: String?
        /// Runs the program of an order to its end.
        let run: @Sendable (ProcessOrder) async -> ProgramRun

        package init(
            fault: @escaping @Sendable (String) -> String?, home: String?,
            run: @escaping @Sendable (ProcessOrder) async -> ProgramRun
        ) {
            (self.fault, self.home, self.run) = (fault, home, run)
        }
    }

    /// A tester whose requests bear `userAgent`.
    package init(
        curl: CurlMulti, clock: any WallClock, userAgent: String, programs: Programs,
        gateways: GatewayPool? = nil
    ) {
        self.programs = programs
        self.gateways = gateways
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
        if let program = bot.program {
            test(name, program, asks: asks, &result)
            if asks, result.isGood { await tryReply(of: program, bot, name, &result) }
        }
        if let gateway = bot.gateway {
            await test(name, gateway, hasToken: !bot.secrets[BotInUse.key].isEmpty, &result)
        }
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

    /// Whether the program is there; to run it costs what a prompt costs.
    private func test(_ name: String, _ program: BotProgram, asks: Bool, _ result: inout BotTestResult) {
        var words = program.sandbox == nil ? [] : [Sandbox.program]
        words += program.command.prefix(1)
        // Inside of a sandbox there may be more, or less, than here.
        if let word = words.first, let fault = programs.fault(word) {
            result.note(
                .configuration, .failed, fault, hint: "install it, or set bots.\(name).command")
            return
        }
        let model = program.model.map { ", model \($0)" } ?? ""
        result.note(.configuration, .ok, "\(program.kind), \(words.joined(separator: " "))\(model)")
        if !asks {
            result.note(
                .reply, .skipped, "not asked", hint: "ask it for a word: belfry bot test \(name) --ask")
        }
    }

    /// What the gateway says of itself and of the agent.
    private func test(
        _ name: String, _ gateway: BotGateway, hasToken: Bool, _ result: inout BotTestResult
    ) async {
        result.note(
            .configuration, .ok,
            "openclaw, \(gateway.agent.map { "agent \($0)" } ?? "the default agent"), "
                + "session \(gateway.session.rawValue), \(hasToken ? "with a token" : "no token")")
        guard let link = gateways?.link(of: name) else {
            return result.note(.connect, .failed, "it is not loaded yet", hint: "belfry reload")
        }
        await link.retry()
        await GatewayTrial(name, gateway, link).run(&result)
    }

    /// The program is run once, as for a prompt.
    private func tryReply(
        of program: BotProgram, _ bot: BotInUse, _ name: String, _ result: inout BotTestResult
    ) async {
        let place = ReplyFailure.Place(bot: name, provider: program.name, isProgram: true)
        do throws(AttemptFault) {
            try program.sandbox?.requireNoLinks(of: name)
        } catch {
            result.fault = error
            return result.note(.reply, .failed, String(error.text.dropFirst(name.count + 2)))
        }
        let limit = Self.timeouts.total
        // Whoever runs it names it, and where its output goes.
        var order = ProcessOrder(
            key: RunKey(run: "test", attempt: 1), work: .command([]), timeout: limit, output: .init(path: ""))
        order.run(program.call(Self.question, home: programs.home), of: program, bot)
        let start = clock.sinceBoot
        switch await programs.run(order) {
        case .failed(let reason): result.note(.reply, .failed, reason)
        case .ended(let exit, let printed):
            let hidden = HiddenTexts(bot.secrets[BotInUse.key])
            let reply = ProgramTrial(of: program, exit, printed, limit: limit, hiding: hidden)
            result.usage = reply.usage.map { BotUsage($0, price: program.price) }
            if let failure = reply.failure?.counted(from: clock.now) {
                return result.fail(.reply, failure, at: place)
            }
            result.whole = exit.elapsed ?? clock.sinceBoot - start
            note(reply: reply.text, &result)
        }
    }

    private static let question = "Reply with the single word: ready"

    private func tryReply(
        of call: BotCall, _ backend: BotBackend, _ result: inout BotTestResult
    ) async throws(CancellationError) {
        var (text, failure, usage) = ("", ReplyFailure?.none, TokenUsage?.none)
        var firstWord: Duration?
        let start = clock.sinceBoot
        var prompt = backend.prompt([SpokenTurn(.user, Self.question)])
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
        note(reply: text, &result)
    }

    /// It replied so, and how long that took.
    private func note(reply text: String, _ result: inout BotTestResult) {
        let used = result.usage.map {
            "; " + UsageWords.tokens(read: $0.inputTokens, written: $0.outputTokens)
        }
        let time = result.whole.map { Double($0.milliseconds / 10) / 100 } ?? 0
        let word = CleanText.line(text, limit: 60)
        result.note(
            .reply, word.isEmpty ? .failed : .ok,
            (word.isEmpty ? "the reply was empty" : "\"\(word)\"") + " after \(time) s" + (used ?? ""))
    }
}

/// What a program printed when it was asked for a word, read as a reply.
private struct ProgramTrial {
    private(set) var text = ""
    private(set) var usage: TokenUsage?
    /// Why it is none; nil: it is one.
    private(set) var failure: ReplyFailure?

    init(
        of program: BotProgram, _ exit: ExitRecord, _ printed: [UInt8], limit: Duration,
        hiding hidden: HiddenTexts
    ) {
        guard exit.cause == .exited else {
            failure = ReplyFailure(exit.cause == .timeout ? .deadline(limit) : .program(exit: nil))
            return
        }
        // Of very much only the beginning is at hand; a prompt would have failed by the rest.
        let lastLine = printed.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        guard exit.outputBytes - lastLine <= ProgramDecoder.longestLine else {
            failure = ReplyFailure(.malformed, detail: "a line is too long")
            return
        }
        var decoder = ProgramDecoder(program.dialect)
        decoder.receive(printed[...]) { apply($0) }
        decoder.end(exit.exitCode.map { .code($0) } ?? .signal) { apply($0) }
        if failure == nil, let code = exit.exitCode, code != 0 {
            failure = ReplyFailure(.program(exit: code))
        }
        // It may quote its key.
        text = hidden.hide(in: text)
        guard var explained = failure else { return }
        explained.explain(by: exit, of: program.dialect)
        explained.detail = hidden.hide(in: explained.detail)
        failure = explained
    }

    private mutating func apply(_ event: ReplyEvent) {
        switch event {
        case .text(let piece): text += piece
        case .usage(let used): usage = used
        case .failed(let reason): failure = failure ?? reason
        case .started, .activity, .thinking, .calling, .toolCall, .finished: break
        }
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
