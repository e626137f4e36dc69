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
/// With `--ask` the default agent is asked for a word, twice, in a conversation of its own. With `--write` a job of the
/// gateway's scheduler is made, changed, run where it is due (it never is) and removed, and its main conversation is woken
/// with its next heartbeat. With `--deliver` a message goes to a person by one of its channels.
struct GatewayCheck {
    static let usage =
        "config/check-gateway URL [--token-file FILE] [--state FOLDER] [--ask] [--write] [--deliver CHANNEL:PERSON]"

    private let reach: HTTPReach
    private let token: String?
    private let folder: String
    private let asks: Bool
    private let writes: Bool
    private let person: (channel: String, name: String)?
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
        var (words, options) = ([String](), [String: String]())
        var (asks, writes) = (false, false)
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--ask": asks = true
            case "--write": writes = true
            case "--token-file", "--state", "--deliver":
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
        (self.asks, self.writes) = (asks, writes)
        person = try options["--deliver"].map { text in
            let parts = text.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else {
                throw ProviderCheck.Misused(description: "--deliver is CHANNEL:PERSON, not \(text)")
            }
            return (String(parts[0]), String(parts[1]))
        }
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
                let hint = "; \(trouble.hint(of: "check"))"
                return [("connect", .fails(trouble.sentence(of: "check", at: place) + hint))]
            case .online(let online):
                var all = await rows(of: link, online.hello)
                if writes {
                    all += await pool.administrate("check", { await changes(over: $0) }) ?? []
                }
                return all
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
        if asks {
            rows.append(("chat.send", await reply(from: link, hello)))
            rows.append(("agent", await secondAnswer(from: link, hello)))
        }
        if let person {
            let call = GatewayCall.deliver(
                "Belfry checks this gateway.", to: person.name, by: person.channel,
                key: "belfry-check-\(UniqueID.v4())")
            rows.append(("send", await verdict(of: call, link)))
        }
        return rows
    }

    /// What only its administrators may do: a job that never runs, from its making to its removal.
    private func changes(over link: GatewayLink) async -> [(String, ProviderCheck.Verdict)] {
        guard let hello = await link.online(within: .seconds(10)) else {
            guard case .away(let trouble, _) = await link.state else {
                return [("administration", .fails("the gateway did not answer"))]
            }
            let place = "\(reach.url.host):\(reach.url.port)"
            return [
                (
                    "administration",
                    .fails("\(trouble.sentence(of: "check", at: place)); \(trouble.hint(of: "check"))")
                )
            ]
        }
        var rows: [(String, ProviderCheck.Verdict)] = []
        let job: JSON = .object([
            "name": .string("belfry-check"), "enabled": .bool(false),
            "schedule": .object(["kind": .string("cron"), "expr": .string("0 0 29 2 *")]),
            "sessionTarget": .string("isolated"), "wakeMode": .string("next-heartbeat"),
            "payload": .object(["kind": .string("agentTurn"), "message": .string("Nothing.")]),
        ])
        do throws(GatewayLink.CallFailure) {
            let made = try await link.call(.cronAdd(job))
            guard let id = made["id"]?.text else {
                return [("cron.add", .fails("its answer has no id"))]
            }
            rows.append(("cron.add", .ok("made a job, disabled")))
            var calls: [GatewayCall] = [
                .cronUpdate(id, ["name": .string("belfry-check-2")], revision: nil),
                .cronRun(id, onlyIfDue: true), .cronRemove(id),
            ]
            if hello.version >= 4 { calls.insert(.cronJob(id), at: 0) }
            for call in calls { rows.append((call.method, await verdict(of: call, link))) }
        } catch {
            rows.append(("cron.add", .fails("\(error)")))
        }
        rows.append(("wake", await verdict(of: .wake("Belfry checks this gateway.", atOnce: false), link)))
        return rows
    }

    /// Whether an agent that is asked by `agent` answers twice.
    private func secondAnswer(
        from link: GatewayLink, _ hello: GatewayHello
    ) async -> ProviderCheck.Verdict {
        let start = clock.sinceBoot
        do throws(GatewayLink.CallFailure) {
            let end = try await link.call(
                .agent(
                    "Reply with the single word: ready", of: hello.mainAgent,
                    in: "agent:\(hello.mainAgent):belfry:check", key: "belfry-check-\(UniqueID.v4())",
                    isDelivered: false, timeout: .seconds(120)),
                endingWithin: .seconds(130))
            let word = end["result"]?["payloads"]?.elements.first?["text"]?.text ?? ""
            let time = (clock.sinceBoot - start).milliseconds
            return end["status"]?.text == "ok"
                ? .ok("\"\(CleanText.line(word, limit: 60))\" after \(time) ms")
                : .fails(CleanText.line(end["summary"]?.text ?? "", limit: 120))
        } catch {
            return .fails("\(error)")
        }
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
