import API
import Delivery
import Engine
import Grouping
import Ledger
import Timeline

extension DaemonHandler {
    func channels() async throws(APIError) -> APIResponse {
        .value(control.switchboard.configuration.channels.map { WireChannel($0, control.channels[$0.name]) })
    }

    /// Sends a test, and waits a while for what becomes of it.
    func testChannel(_ name: String) async throws(APIError) -> APIResponse {
        let names = control.switchboard.configuration.channels.map(\.name)
        guard let channel = control.switchboard.channel(name) else {
            throw APIError(
                .noSuchChannel, "no channel \"\(name)\"", hint: NearestName.hint(name, among: names))
        }
        let start = control.clock.now
        let before = try await reading { () async throws(LedgerError) in
            try await control.ledger.lastEvent()
        }
        try await asking { () async throws(EngineError) in try await control.testChannel(name) }
        // Of a channel that is known to be in trouble no long wait is worth it.
        let patience = isTroubled(name) ? Self.testPatience / 5 : Self.testPatience
        while control.clock.now - start < patience {
            let outcome =
                channel.kind.isLevel
                ? try await shown(on: name, since: start) : try await entry(of: name, after: before)
            if let outcome { return .value(outcome) }
            do {
                try await control.clock.sleep(until: control.clock.now + .milliseconds(100))
            } catch {
                throw APIError(.stopping)
            }
        }
        let why = control.channels[name]?.lastError ?? "nothing is known after \(patience.text)"
        return .value(
            WireChannelTest(channel: name, outcome: isTroubled(name) ? "failed" : "pending", detail: why))
    }

    private func isTroubled(_ channel: String) -> Bool {
        switch control.channels[channel]?.state {
        case .away, .failing, .disabled: true
        case .working, nil: false
        }
    }

    private static let testPatience = Duration.seconds(10)

    /// What became of the test's outbox entry; nil while it waits.
    private func entry(of channel: String, after seq: Int64) async throws(APIError) -> WireChannelTest? {
        let events = try await reading { () async throws(LedgerError) in
            try await control.ledger.events(after: seq, limit: 1000)
        }
        guard let event = events.first(where: { $0.event.type == .test && $0.event.channel == channel })
        else {
            return nil
        }
        let entries = try await reading { () async throws(LedgerError) in
            try await control.ledger.outbox(states: [], limit: 1000)
        }
        guard let entry = entries.first(where: { $0.cause == "event:\(event.seq):\(channel)" }) else {
            return nil
        }
        switch entry.state {
        case .delivered:
            let status = entry.status.map { "status \($0)" }
            return WireChannelTest(channel: channel, outcome: "delivered", detail: status, outbox: entry.id)
        case .pending where entry.attempts == 0, .held where entry.attempts == 0: return nil
        default:
            return WireChannelTest(
                channel: channel, outcome: "failed", detail: entry.lastError ?? entry.state.rawValue,
                outbox: entry.id)
        }
    }

    /// Whether the test's message is shown; nil while it is not.
    private func shown(on channel: String, since start: Moment) async throws(APIError) -> WireChannelTest? {
        let key = ItemKey.thread(bot: "belfry", thread: "test \(channel)")
        let surface = try await reading { () async throws(LedgerError) in
            try await control.ledger.surface(channel: channel, item: "\(key)")
        }
        guard let surface, surface.wantedAt >= start, surface.shown >= surface.wanted else { return nil }
        return WireChannelTest(channel: channel, outcome: "delivered", detail: "shown")
    }
}
