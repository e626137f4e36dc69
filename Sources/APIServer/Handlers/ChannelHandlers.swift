import API
import Cron
import Delivery
import Engine
import Grouping
import Ledger
import Timeline

extension DaemonHandler {
    func channels() -> [WireChannel] {
        let configuration = control.activeConfiguration.configuration
        let all = configuration.channels.map { WireChannel($0, control.channels[$0.name]) } + leftOutChannels
        return all.map { channel in
            var channel = channel
            channel.origin = configuration.ownChannels.contains(channel.name) ? "cli" : "file"
            channel.when = configuration.routing.words(to: channel.name).map(\.rawValue).sorted()
            let safety = configuration.safety[channel.name]
            channel.fallback = safety?.fallback
            channel.heartbeatSeconds = safety?.heartbeat.map { Int($0.components.seconds) }
            return channel
        }
    }

    func addChannel(_ draft: WireChannelDraft) async throws(APIError) -> WireChannel {
        try await asking(
            await control.addChannel(
                draft.name, draft.settings, secrets: draft.secrets ?? [:], when: draft.when ?? []))
        guard let channel = channels().first(where: { $0.name == draft.name }) else {
            throw APIError(.noSuchChannel, "channel \(Quoted.of(draft.name)) was removed at the same time")
        }
        return channel
    }

    func removeChannel(_ name: String) async throws(APIError) -> WireChannelDiscard {
        WireChannelDiscard(channel: name, discarded: try await asking(await control.removeChannel(name)))
    }

    /// Sends a test and waits a while for its outcome.
    func testChannel(_ name: String) async throws(APIError) -> WireChannelTest {
        guard let channel = control.activeConfiguration.channel(name) else {
            if let fault = leftOutChannels.first(where: { $0.name == name })?.lastError {
                return WireChannelTest(
                    channel: name, outcome: "failed", detail: "the channel is left out: \(fault)")
            }
            throw noSuchChannel(name)
        }
        let (start, startedAt) = (control.clock.now, control.clock.sinceBoot)
        let cause = try await asking(await control.testChannel(name))
        // Of a channel that is known to be in trouble no long wait is worth it.
        let limit = isTroubled(name) ? Self.testTimeout / 5 : Self.testTimeout
        var test = WireChannelTest(channel: name, outcome: Self.pending)
        while true {
            test =
                channel.kind.isLevel
                ? try await shown(on: name, since: start) : try await delivered(to: name, cause)
            let isSending =
                test.outbox.map { control.activeConfiguration.inHand.sending.contains($0) } ?? false
            let waited = control.clock.sinceBoot - startedAt
            if test.outcome != Self.pending || waited > (isSending ? Self.longestTest : limit) { break }
            do {
                try await control.clock.sleep(until: control.clock.now + .milliseconds(100))
            } catch {
                throw APIError(.stopping)
            }
        }
        if test.outcome == Self.pending {
            let last =
                control.channels[name]?.lastError.map { "; the channel's last known error: \($0)" } ?? ""
            let waited = Duration.seconds((control.clock.sinceBoot - startedAt).components.seconds).words
            let what =
                channel.kind == DesktopForm.kind
                ? "nobody has shown it after \(waited); it is shown when a notification server is there"
                : "no answer after \(waited); it is sent when its turn comes"
                    + (channel.kind.isLevel ? "" : ", see: belfry outbox")
            test.detail = what + last
        }
        return test
    }

    /// That there is no such channel, and which one was meant.
    func noSuchChannel(_ name: String) -> APIError {
        APIError(
            .noSuchChannel, "no channel \(Quoted.of(name))",
            hint: NearestName.hint(name, among: channels().map(\.name)))
    }

    private func isTroubled(_ channel: String) -> Bool {
        switch control.channels[channel]?.state {
        case .away, .failing, .disabled: true
        case .working, nil: false
        }
    }

    private static let testTimeout = Duration.seconds(10)
    /// An attempt under way is waited for until here, as long as a client waits for an answer.
    private static let longestTest = Duration.seconds(25)
    private static let pending = "pending"

    /// The outcome of the test's outbox entry.
    private func delivered(to channel: String, _ cause: String) async throws(APIError) -> WireChannelTest {
        let entry = try await reading(await control.ledger.outbox(cause: cause))
        guard let entry else { return WireChannelTest(channel: channel, outcome: Self.pending) }
        switch entry.state {
        case .delivered:
            let receipts = try await reading(await control.ledger.receipts(of: entry.id))
            let known = [entry.status.map { "status \($0)" }, receipts.last?.receipt.detail]
            var test = WireChannelTest(
                channel: channel, outcome: "delivered",
                detail: known.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "; "),
                outbox: entry.id)
            test.latencyMs = receipts.last?.receipt.latency?.shownMilliseconds
            test.answer = receipts.last?.receipt.answer
            return test
        case .pending where entry.attempts == 0, .waiting where entry.attempts == 0:
            return WireChannelTest(channel: channel, outcome: Self.pending, outbox: entry.id)
        default:
            var test = WireChannelTest(
                channel: channel, outcome: "failed", detail: entry.lastError ?? entry.state.rawValue,
                outbox: entry.id)
            let last = try await tries(of: entry.id).last
            (test.latencyMs, test.answer) = (last?.latencyMs, last?.answer)
            return test
        }
    }

    /// Whether the test's message is shown.
    private func shown(on channel: String, since start: Moment) async throws(APIError) -> WireChannelTest {
        let key = ItemKey.thread(bot: "belfry", thread: "test \(channel)")
        let surface = try await reading(await control.ledger.surface(channel: channel, item: "\(key)"))
        guard let surface, surface.wantedAt >= start else {
            return WireChannelTest(channel: channel, outcome: Self.pending)
        }
        if surface.refused >= surface.wanted {
            return WireChannelTest(channel: channel, outcome: "failed", detail: surface.refusal)
        }
        guard surface.shown >= surface.wanted else {
            return WireChannelTest(channel: channel, outcome: Self.pending)
        }
        return WireChannelTest(channel: channel, outcome: "delivered", detail: "shown")
    }
}
