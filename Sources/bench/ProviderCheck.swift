import Bots
import Curl
import Delivery
import Host
import Prompting
import Tracking

/// Asks a real provider what Belfry asks providers, and prints which of it works: `config/check-provider`.
///
/// Each row is one promise that bots rely on. Nothing is repeated, and a long reply is cut by a small limit, so that a check
/// costs a few hundred tokens.
struct ProviderCheck {
    static let usage = "config/check-provider URL [--key-file FILE] [--model NAME] [--api anthropic|openai]"

    /// How a row ended.
    enum Verdict {
        case ok(String), fails(String), notOffered(String)

        var words: (String, String) {
            switch self {
            case .ok(let detail): ("ok", detail)
            case .fails(let detail): ("fails", detail)
            case .notOffered(let detail): ("not offered", detail)
            }
        }
    }

    struct Misused: Error, CustomStringConvertible {
        let description: String
    }

    private let url: HTTPAddress
    private let reach: HTTPReach
    private let dialect: BotBackend.Dialect
    private let key: BotKey?
    private var model: String?
    private let curl: CurlMulti
    private let clock: SystemClock

    /// Checks the provider that the arguments name, and prints the table.
    ///
    /// - Throws: ``Misused`` for arguments that make no sense; ``Failing`` when a row fails.
    static func run(arguments: [String]) async throws {
        var check = try ProviderCheck(arguments)
        defer { check.curl.close() }
        print("provider: \(check.url.host), \(check.dialect.rawValue)")
        var failures = 0
        for (name, row) in try await check.rows() {
            let (word, detail) = row.words
            if word == "fails" { failures += 1 }
            print("  " + name.padded(to: 13) + word.padded(to: 13) + detail)
        }
        if failures > 0 { throw Failing(count: failures) }
    }

    struct Failing: Error, CustomStringConvertible {
        let count: Int
        var description: String { "\(count) of the promises fail" }
    }

    init(_ arguments: [String]) throws {
        var (words, options) = ([String](), [String: String]())
        var rest = arguments[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                words.append(word)
                continue
            }
            guard ["--key-file", "--model", "--api"].contains(word), let value = rest.popFirst() else {
                throw Misused(description: "\(word) is no option with a value; usage: \(Self.usage)")
            }
            options[word] = value
        }
        guard words.count == 1 else { throw Misused(description: "usage: \(Self.usage)") }
        url = try HTTPAddress(words[0])
        // Who names the address on the command line means it.
        reach = try HTTPReach(url: url, allow: [AddressException(Self.exception(url.host))])
        let standard = url.host.hasSuffix("anthropic.com") ? "anthropic" : "openai"
        guard let dialect = BotBackend.Dialect(rawValue: options["--api"] ?? standard) else {
            throw Misused(description: "--api is anthropic or openai")
        }
        self.dialect = dialect
        key = try options["--key-file"].map { path in
            guard let key = BotKey(try SmallFile.text(path)) else {
                throw Misused(description: "\(path) holds no key")
            }
            return key
        }
        model = options["--model"]
        curl = try CurlMulti()
        clock = try SystemClock()
    }

    /// The exception for a host: an address is written as a network of one.
    private static func exception(_ host: String) -> String {
        guard host.allSatisfy({ $0.isNumber || $0 == "." }) else { return host }
        return host + "/32"
    }

    private func call(
        model: String, key: BotKey?, total: Duration = .seconds(120)
    ) throws -> BotCall {
        let backend = BotBackend(dialect, reach: reach, model: model)
        return try BotCall(
            BotEndpoint(bot: "check", backend, key: key), curl: curl, clock: clock,
            userAgent: "Belfry/check", timeouts: BotCall.Timeouts(total: total))
    }

    // MARK: The rows

    private mutating func rows() async throws -> [(String, Verdict)] {
        var rows: [(String, Verdict)] = []
        let listed = await models(key)
        switch listed {
        case .success(let names):
            rows.append(
                (
                    "models",
                    names.isEmpty
                        ? .notOffered("the list is empty")
                        : .ok("\(names.count): \(names.prefix(3).joined(separator: ", "))")
                ))
            model = model ?? names.first
        case .failure(let failure): rows.append(("models", .fails(said(failure))))
        }
        guard let model else {
            throw Misused(description: "the provider lists no model; name one with --model")
        }
        let short = try await ask(model, "Reply with the word ready.", tokens: 64)
        rows += [("reply", reply(short)), ("stream", stream(short)), ("usage", usage(short))]
        let long = try await ask(model, "Count from 1 to 500 in words, one a line.", tokens: 32)
        rows.append(("long answer", longAnswer(long)))
        rows.append(("bad key", try await badKey(model)))
        rows.append(("bad model", try await badModel()))
        rows.append(("cancel", try await cancel(model)))
        return rows
    }

    private func models(_ key: BotKey?) async -> Result<[String], ReplyFailure> {
        do throws(ReplyFailure) {
            return .success(try await (try makeCall(key)).models())
        } catch {
            return .failure(error)
        }
    }

    private func makeCall(_ key: BotKey?) throws(ReplyFailure) -> BotCall {
        do {
            return try call(model: "", key: key)
        } catch {
            throw error as? ReplyFailure ?? ReplyFailure(.address)
        }
    }

    /// What came of one prompt.
    private struct Asked {
        var events: [(event: ReplyEvent, at: Duration)] = []
        var began: Duration = .zero

        var text: String { events.map { if case .text(let piece) = $0.event { piece } else { "" } }.joined() }
        var pieces: Int { events.count { if case .text = $0.event { true } else { false } } }
        var failure: ReplyFailure? {
            if case .failed(let failure)? = events.last?.event { failure } else { nil }
        }
        var finish: Finish? { if case .finished(let finish)? = events.last?.event { finish } else { nil } }
        var usage: TokenUsage? {
            for case (.usage(let usage), _) in events.reversed() { return usage }
            return nil
        }
        var firstText: Duration? {
            events.first { if case .text = $0.event { true } else { false } }.map { $0.at - began }
        }
    }

    private func ask(
        _ model: String, _ text: String, tokens: Int, key: BotKey?? = nil
    ) async throws -> Asked {
        var asked = Asked(began: clock.sinceBoot)
        let prompt = Prompt(model: model, turns: [SpokenTurn(.user, text)], maxTokens: tokens)
        let call = try call(model: model, key: key ?? self.key)
        try await call.ask(prompt) { asked.events.append(($0, clock.sinceBoot)) }
        return asked
    }

    private func reply(_ asked: Asked) -> Verdict {
        if let failure = asked.failure { return .fails(said(failure)) }
        guard let finish = asked.finish else { return .fails("there is no end") }
        guard !asked.text.isEmpty else { return .fails("there is no text") }
        guard finish.turn.parts == [.text(asked.text)] || finish.turn.parts.count > 1 else {
            return .fails("the pieces are another text than the whole")
        }
        return .ok("\"\(CleanText.line(asked.text, limit: 30))\", \(finish.reason)")
    }

    private func stream(_ asked: Asked) -> Verdict {
        guard let first = asked.firstText, let last = asked.events.last?.at else {
            return .fails("no text came")
        }
        let whole = last - asked.began
        let figures =
            "\(asked.pieces) pieces, the first after \(milliseconds(first)) ms, the last after \(milliseconds(whole)) ms"
        return asked.pieces > 1 ? .ok(figures) : .notOffered("the text came in one piece")
    }

    private func usage(_ asked: Asked) -> Verdict {
        guard let usage = asked.usage, usage.output > 0 else { return .notOffered("no tokens were reported") }
        let input = usage.input + usage.cacheRead + usage.cacheWrite
        return .ok("\(input) input tokens, \(usage.output) output tokens")
    }

    private func longAnswer(_ asked: Asked) -> Verdict {
        if let failure = asked.failure { return .fails(said(failure)) }
        switch asked.finish?.reason {
        case .maxTokens: return .ok("cut at its limit of tokens, and said so")
        case let reason?: return .notOffered("it ended before its limit of tokens: \(reason)")
        case nil: return .fails("there is no end")
        }
    }

    private func badKey(_ model: String) async throws -> Verdict {
        let asked = try await ask(model, "Hi", tokens: 16, key: .some(BotKey("sk-belfry-check-wrong")))
        guard let failure = asked.failure else { return .notOffered("it accepts any key") }
        if case .auth = failure.kind { return .ok(said(failure)) }
        return .fails(said(failure))
    }

    private func badModel() async throws -> Verdict {
        let asked = try await ask("belfry-no-such-model", "Hi", tokens: 16)
        guard let failure = asked.failure else { return .notOffered("it accepts any model") }
        if case .model(_, let known) = failure.kind {
            return .ok(said(failure) + (known.isEmpty ? "" : ", and \(known.count) that exist"))
        }
        return .fails(said(failure))
    }

    /// Leaves in the middle of a reply: the end must be there at once, and the next prompt must be answered.
    private func cancel(_ model: String) async throws -> Verdict {
        let (pieces, came) = AsyncStream.makeStream(of: Void.self)
        let call = try call(model: model, key: key)
        let prompt = Prompt(
            model: model, turns: [SpokenTurn(.user, "Count from 1 to 500 in words.")], maxTokens: 512)
        let asking = Task {
            defer { came.finish() }
            try await call.ask(prompt) { if case .text = $0 { came.yield() } }
        }
        for await _ in pieces { break }
        let began = clock.sinceBoot
        asking.cancel()
        do {
            try await asking.value
            return .notOffered("the reply was complete before it could be canceled")
        } catch {
            let time = clock.sinceBoot - began
            return time < .seconds(1)
                ? .ok("ended after \(milliseconds(time)) ms") : .fails("ended after \(milliseconds(time)) ms")
        }
    }

    // MARK: Words

    private func said(_ failure: ReplyFailure) -> String {
        let sentence = failure.sentence(at: .init(bot: "", provider: "")).drop { $0 == ":" || $0 == " " }
        return CleanText.line("\(failure.word): \(sentence)", limit: 100)
    }

    private func milliseconds(_ time: Duration) -> Int { Int(time / .milliseconds(1)) }
}
