import Bots
import Curl
import Delivery
import Performing
import Prompting
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a test of a bot` {
    private static let list = ProviderServer.Answer(
        #"{"data":[{"id":"haiku"},{"id":"opus"}]}"#, type: "application/json")

    private func test(
        _ url: String, key: String? = "sk-secret", model: String = "haiku", asks: Bool = false
    ) async throws -> BotTestResult {
        let reach = try HTTPReach(url: HTTPAddress(url), allow: [AddressException("127.0.0.1/32")])
        var backend = BotBackend(.openAI, reach: reach, model: model)
        backend.price = TokenPrice(input: 3, output: 15)
        let tester = BotTester(
            curl: try CurlMulti(), clock: ManualClock(now: Moment(seconds: 1_793_000_000)),
            userAgent: "Belfry/test", programs: .init(fault: { _ in nil }, home: nil) { _ in .failed("none") }
        )
        let secrets = FormSecrets(key.map { [BotInUse.key: [$0]] } ?? [:])
        return await tester.test("sage", BotInUse(backend, secrets: secrets), asks: asks)
    }

    private func test(
        _ answers: ProviderServer.Answer..., key: String? = "sk-secret", model: String = "haiku",
        asks: Bool = false
    ) async throws -> BotTestResult {
        let server =
            switch answers.count {
            case 1: try await ProviderServer(answers[0])
            default: try await ProviderServer(answers[0], answers[1])
            }
        return try await test(server.url("/v1"), key: key, model: model, asks: asks)
    }

    /// `configuration:ok resolve:ok`.
    private func words(_ result: BotTestResult) -> String {
        result.findings.map { "\($0.step.rawValue):\($0.outcome.rawValue)" }.joined(separator: " ")
    }

    private static let reached = "configuration:ok resolve:ok connect:ok tls:skipped"

    @Test func `shows each step that works`() async throws {
        let result = try await test(Self.list)
        #expect(words(result) == "\(Self.reached) key:ok models:ok model:ok")
        #expect(result.isGood && result.hasAnswered && result.fault == nil)
        #expect(result.findings.first?.detail == "openai, model haiku, with a key")
        let open = try await test(Self.list, key: nil)
        #expect(words(open) == "\(Self.reached) key:skipped models:ok model:ok")
    }

    @Test func `ends at the key that is refused, and shows nothing of it`() async throws {
        let result = try await test(
            .init(
                #"{"error":{"message":"bad key sk-secret","type":"x"}}"#, status: 401,
                type: "application/json"))
        #expect(words(result) == "\(Self.reached) key:failed" && result.fault?.reason == .auth)
        #expect(result.findings.last?.detail == "127.0.0.1 refused the key (401)")
        #expect(result.findings.last?.hint == "check bots.sage.key")
        #expect(!"\(result)".contains("sk-secret"))
    }

    @Test func `names the models there are when the bot's is not one of them`() async throws {
        let result = try await test(
            Self.list, .init("{}", status: 404, type: "application/json"), model: "haikku")
        #expect(words(result) == "\(Self.reached) key:ok models:ok model:failed")
        #expect(result.findings.last?.detail == "127.0.0.1 has no model haikku")
        #expect(result.findings.last?.hint == "set bots.sage.model to one of: haiku, opus")
        #expect(result.fault?.reason == .model)
    }

    @Test func `finds a model that the provider knows and does not list`() async throws {
        let result = try await test(
            Self.list, .init(#"{"id":"latest"}"#, type: "application/json"), model: "latest")
        #expect(result.isGood && result.findings.last?.detail == "latest, which is not listed")
    }

    @Test func `leaves out what a server does not offer`() async throws {
        let result = try await test(.init("not found", status: 404, type: "text/plain"))
        #expect(words(result) == "\(Self.reached) key:skipped models:skipped" && result.isGood)
        #expect(result.findings.last?.hint == "ask it for a word: belfry bot test sage --ask")
    }

    @Test func `tells a page for people from an API`() async throws {
        let result = try await test(.init("<html>hi</html>", type: "text/html"))
        #expect(
            words(result) == "\(Self.reached) key:skipped models:failed" && result.fault?.reason == .malformed
        )
    }

    @Test func `ends where a server floods it, with its reason and a hint`() async throws {
        let text = String(repeating: "x", count: 1 << 16)
        let list = try await test(.init("{\"data\":[\"" + text, type: "application/json", repeating: 600))
        #expect(
            list.fault?.text == "sage: 127.0.0.1 sent an answer that cannot be read (200): it is no list of "
                + "models; check that bots.sage.url is the address of the API")
        let delta = #"data: {"choices":[{"index":0,"delta":{"content":"\#(text)"}}]}"# + "\n\n"
        let reply = try await test(Self.list, .init(delta, repeating: 600), asks: true)
        #expect(
            reply.fault?.text
                == "sage: 127.0.0.1 sent a reply of more than 30 MiB; set bots.sage.maxTokens")
        #expect(reply.fault?.reason == .replyTooLong && reply.fault?.mayPass == false)
    }

    @Test func `shows that nobody listens, and that a host has no address`() async throws {
        let nobody = try RefusingPort()
        #expect(words(try await test(nobody.url("/v1"))) == "configuration:ok resolve:ok connect:failed")
        let nowhere = try await test("https://no-such-host.invalid/v1")
        #expect(words(nowhere) == "configuration:ok resolve:failed")
        #expect(nowhere.fault?.reason == .botUnavailable && nowhere.fault?.mayPass == true)
    }

    @Test func `shows that a server can't be trusted`() async throws {
        let server = try await ProviderServer(Self.list)
        let result = try await test("https://127.0.0.1:\(server.port)/v1")
        #expect(words(result) == "configuration:ok resolve:ok connect:ok tls:failed")
    }

    @Test func `has the bot reply where that is wanted`() async throws {
        let reply =
            #"data: {"choices":[{"index":0,"delta":{"content":"ready"},"finish_reason":"stop"}]}"# + "\n\n"
            + #"data: {"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":2}}"#
            + "\n\ndata: [DONE]\n\n"
        let result = try await test(Self.list, .init(reply), asks: true)
        #expect(words(result).hasSuffix(" model:ok reply:ok"))
        #expect(result.findings.last?.detail.hasPrefix("\"ready\" after ") == true)
        #expect(result.usage == BotUsage(inputTokens: 20, outputTokens: 2, costMicros: 90))
        #expect(result.whole != nil && result.firstWord != nil)
        let failed = try await test(
            Self.list, .init(#"{"error":{"type":"billing_error"}}"#, status: 402, type: "application/json"),
            asks: true)
        #expect(words(failed).hasSuffix(" model:ok reply:failed") && failed.fault?.reason == .budget)
    }

    /// A test of a bot that is a program, which ends so once it is run.
    private func test(_ dialect: ProgramDialect, asks: Bool, _ run: ProgramRun) async throws -> BotTestResult
    {
        var bot = BotInUse(nil, secrets: FormSecrets([BotInUse.key: ["sk-secret"]]))
        bot.program = BotProgram(dialect, command: ["my-bot"])
        let tester = BotTester(
            curl: try CurlMulti(), clock: ManualClock(now: Moment(seconds: 1_793_000_000)),
            userAgent: "Belfry/test",
            programs: .init(fault: { _ in nil }, home: "/home/me") { order in
                guard order.work == .command(["my-bot"]), case .text(let question) = order.stdin,
                    String(decoding: question, as: UTF8.self).contains("ready")
                else { return .failed("it was called in another way") }
                return run
            })
        return await tester.test("cc", bot, asks: asks)
    }

    private func ended(_ code: Int, _ printed: String, errors: String = "", bytes: Int = 0) -> ProgramRun {
        let moment = Moment(seconds: 1_793_000_000)
        var exit = ExitRecord(
            key: RunKey(run: "test", attempt: 1), cause: .exited, exitCode: code, startedAt: moment,
            endedAt: moment, elapsed: .milliseconds(1500), outputBytes: bytes)
        exit.errorTail = Array(errors.utf8)
        return .ended(exit, printed: Array(printed.utf8))
    }

    @Test func `runs a bot that is a program where that is wanted`() async throws {
        let silent = try await test(.text, asks: false, .failed("it was run"))
        #expect(words(silent) == "configuration:ok reply:skipped")
        let good = try await test(.text, asks: true, ended(0, "ready\n"))
        #expect(words(good) == "configuration:ok reply:ok" && good.whole == .milliseconds(1500))
        #expect(good.findings.last?.detail == "\"ready\" after 1.5 s")
    }

    @Test func `shows why a program does not reply, and nothing of its key`() async throws {
        let failed = try await test(.text, asks: true, ended(3, "", errors: "error: bad key sk-secret\n"))
        #expect(words(failed) == "configuration:ok reply:failed")
        #expect(failed.findings.last?.detail == "my-bot ended with exit code 3: error: bad key ***")
        let wrong = try await test(.claude, asks: true, ended(0, "Usage: my-bot\n"))
        #expect(wrong.findings.last?.detail.hasSuffix("a line is not JSON: Usage: my-bot") == true)
        let empty = try await test(.text, asks: true, ended(0, "\n"))
        #expect(empty.findings.last?.detail == "the reply was empty after 1.5 s" && !empty.isGood)
        let endless = try await test(.text, asks: true, ended(0, "ready", bytes: 30_000_000))
        #expect(endless.findings.last?.detail.contains("a line is too long") == true && !endless.isGood)
        let missing = try await test(.text, asks: true, .failed("no program \"my-bot\""))
        #expect(missing.findings.last?.detail == "no program \"my-bot\"" && !missing.isGood)
    }

    @Test func `refuses a key that is none`() async throws {
        let result = try await test(Self.list, key: "two words")
        #expect(words(result) == "configuration:failed" && result.fault == nil)
    }
}
