import Delivery
import GatewayClient
import Host
import OpenClaw
import Prompting
import Synchronization
import Timeline
import Tracking

/// Asks a real gateway what Belfry asks gateways, and prints which of it works: `config/check-gateway`.
///
/// Nothing is changed there but what connecting changes: the gateway may learn of this device, or ask for its approval.
/// With `--ask` the default agent is asked for a word, in a conversation of its own.
struct GatewayCheck {
    static let usage = "config/check-gateway URL [--token-file FILE] [--state FOLDER] [--ask]"

    private let reach: HTTPReach
    private let token: String?
    private let folder: String
    private let asks: Bool
    private let clock: SystemClock

    /// Checks the gateway that the arguments name, and prints the table.
    ///
    /// - Throws: `ProviderCheck.Misused` for arguments that make no sense; `ProviderCheck.Failing` when a row fails.
    static func run(arguments: [String]) async throws {
        let check = try GatewayCheck(arguments)
        print("gateway: \(check.reach.url.host):\(check.reach.url.port)")
        var failures = 0
        for (name, verdict) in await check.rows() {
            let (word, detail) = verdict.words
            if word == "fails" { failures += 1 }
            print("  " + name.padded(to: 15) + word.padded(to: 13) + detail)
        }
        if failures > 0 { throw ProviderCheck.Failing(count: failures) }
    }

    private init(_ arguments: [String]) throws {
        var (words, options, asks) = ([String](), [String: String](), false)
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--ask": asks = true
            case "--token-file", "--state":
                guard let value = rest.popFirst() else {
                    throw ProviderCheck.Misused(description: "\(word) needs a value; usage: \(Self.usage)")
                }
                options[word] = value
            default: words.append(word)
            }
        }
        guard words.count == 1, !words[0].hasPrefix("--") else {
            throw ProviderCheck.Misused(description: "usage: \(Self.usage)")
        }
        // Who names the address on the command line means it.
        reach = try BotGateway.reach(words[0], allow: [])
        token = try options["--token-file"].map { try SmallFile.text($0) }
        folder = options["--state"].map { $0 + "/gateways" } ?? "/tmp/belfry-check-\(UniqueID.v4())"
        self.asks = asks
        clock = try SystemClock()
    }

    // MARK: The rows

    private func rows() async -> [(String, ProviderCheck.Verdict)] {
        let (news, reported) = AsyncStream.makeStream(of: GatewayLink.State.self)
        let pool = GatewayPool(
            folder: folder, version: "check", clock: clock, reread: { [token] _ in token },
            report: { _, _, state in if let state { reported.yield(state) } })
        defer { pool.close() }
        pool.update(["check": .init(reach: reach, token: token)])
        guard let link = pool.link(of: "check") else { return [] }
        for await state in news {
            switch state {
            case .connecting: continue
            case .away(let trouble, _):
                let place = "\(reach.url.host):\(reach.url.port)"
                let hint = trouble.hint(of: "check").map { "; \($0)" } ?? ""
                return [("connect", .fails(trouble.sentence(of: "check", at: place) + hint))]
            case .online(let online): return await rows(of: link, online.hello)
            }
        }
        return []
    }

    private func rows(
        of link: GatewayLink, _ hello: GatewayHello
    ) async -> [(String, ProviderCheck.Verdict)] {
        var rows: [(String, ProviderCheck.Verdict)] = [
            ("connect", .ok("OpenClaw \(hello.server), protocol \(hello.version)")),
            (
                "scopes",
                hello.missingScopes.isEmpty
                    ? .ok((hello.scopes ?? []).joined(separator: ", "))
                    : .fails("not granted: " + hello.missingScopes.joined(separator: ", "))
            ),
            (
                "device token",
                hello.deviceToken == nil ? .notOffered("none was issued") : .ok("issued, and kept")
            ),
        ]
        let calls: [GatewayCall] = [
            .health, .status, .agents, .sessions(activeWithin: .seconds(86_400)),
            .history(of: hello.mainSession),
            .wait(for: "belfry-check", atMost: .milliseconds(1)), .cronStatus, .cronJobs(from: 0),
            .cronRuns(limit: 20),
        ]
        for call in calls { rows.append((call.method, await verdict(of: call, link))) }
        if asks { rows.append(("chat.send", await reply(from: link, hello))) }
        return rows
    }

    private func verdict(of call: GatewayCall, _ link: GatewayLink) async -> ProviderCheck.Verdict {
        let start = clock.sinceBoot
        do throws(GatewayLink.CallFailure) {
            let answer = try await link.call(call)
            let size = answer.bytes.count
            return .ok("\(size) bytes after \((clock.sinceBoot - start).milliseconds) ms")
        } catch {
            guard case .fault(let fault) = error else { return .fails("\(error)") }
            return fault.message.hasPrefix("unknown method")
                ? .notOffered(fault.message) : .fails("\(fault.code): \(fault.message)")
        }
    }

    /// Whether a prompt's reply comes, and what it is.
    private func reply(from link: GatewayLink, _ hello: GatewayHello) async -> ProviderCheck.Verdict {
        let key = "belfry-check-\(UniqueID.v4())"
        let signals = await link.follow(key)
        let start = clock.sinceBoot
        do throws(GatewayLink.CallFailure) {
            _ = try await link.call(
                .send(
                    "Reply with the single word: ready", to: "agent:\(hello.mainAgent):belfry:check",
                    key: key,
                    isDelivered: false, timeout: .seconds(120)))
        } catch {
            return .fails("\(error)")
        }
        var assembly = ChatAssembly()
        for await signal in signals {
            guard case .chat(let event) = signal else { return .fails("the connection was lost") }
            for case .ended(let state) in assembly.receive(event) {
                guard state == .final else { return .fails("it ended as \(state)") }
                let word = CleanText.line(assembly.text, limit: 60)
                return .ok("\"\(word)\" after \((clock.sinceBoot - start).milliseconds) ms")
            }
        }
        return .fails("the connection was lost")
    }
}
