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
        } else {
            test.protocol = channel.lastProtocol
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

extension DaemonHandler {
    /// Entries in states as they are shown, newest first; all of them without a state.
    func outbox(_ query: OutboxQuery) async throws(APIError) -> [WireOutboxEntry] {
        let (wanted, limit) = (Set(query.states), query.limit)
        var states = Set(wanted.compactMap { OutboxState(rawValue: $0.rawValue) })
        if wanted.contains(.sending) { states.insert(.pending) }
        let sending = control.activeConfiguration.inHand.sending
        // What is shown as being sent is stored as pending: so many more may be needed to fill the list.
        let asked = wanted.isEmpty ? limit : wanted == [.sending] ? .max : limit &+ sending.count
        let records = try await reading(await control.ledger.outbox(states: states, limit: max(asked, limit)))
        let words = Set(wanted.map(\.rawValue))
        let shown = try await shown(records)
        return Array(shown.filter { words.isEmpty || words.contains($0.state) }.prefix(limit))
    }

    func outboxEntry(_ id: String) async throws(APIError) -> WireOutboxEntry {
        let record = try await asking(await control.entry(id))
        var entry = try await shown(record)
        entry.tries = try await tries(of: record.id)
        return entry
    }

    /// Each attempt to deliver an entry.
    func tries(of id: String) async throws(APIError) -> [WireTry] {
        let failed = try await reading(await control.ledger.outboxAttempts(of: id))
        let receipts = try await reading(await control.ledger.receipts(of: id))
        let tries =
            failed.map(WireTry.init) + receipts.filter { $0.receipt.kind == .accepted }.map(WireTry.init)
        return tries.sorted { $0.at.moment < $1.at.moment }
    }

    func retryEntry(_ id: String) async throws(APIError) -> WireOutboxEntry {
        let record = try await asking(await control.retryEntry(id))
        return try await shown(record)
    }

    /// Retries all entries of a channel, and those that wait for its previous name.
    func retryChannel(_ name: String, from: String?) async throws(APIError) -> WireChannelRetry {
        let names = control.activeConfiguration.edges.map(\.name)
        guard names.contains(name) else {
            throw APIError(
                .noSuchChannel, "no channel \"\(name)\" with an outbox",
                hint: NearestName.hint(name, among: names))
        }
        let retried = try await asking(await control.retryChannel(name, from: from))
        return WireChannelRetry(
            channel: name, retried: retried.own, from: retried.from, moved: retried.moved,
            state: control.channels[name]?.state.rawValue ?? "untried")
    }

    func discardEntry(_ id: String) async throws(APIError) -> WireOutboxEntry {
        let record = try await asking(await control.discardEntry(id))
        return try await shown(record)
    }

    /// Sends settled entries of a channel again.
    func replayChannel(_ name: String, since: Moment?) async throws(APIError) -> WireChannelReplay {
        guard let since else {
            throw APIError(
                .badValue, "a replay needs a time: since", hint: "Send since=2026-11-23T03:00:00Z.")
        }
        let count = try await asking(await control.replayChannel(name, since: since))
        return WireChannelReplay(channel: name, replayed: count)
    }

    /// Discards all that waits for a channel.
    func discardChannel(_ name: String) async throws(APIError) -> WireChannelDiscard {
        WireChannelDiscard(channel: name, discarded: try await asking(await control.discardChannel(name)))
    }

    private func shown(_ record: OutboxRecord) async throws(APIError) -> WireOutboxEntry {
        try await shown([record])[0]
    }

    private func shown(_ records: [OutboxRecord]) async throws(APIError) -> [WireOutboxEntry] {
        let sending = control.activeConfiguration.inHand.sending
        let waits = try await reading(await control.waits(of: records))
        var shown = records.map {
            WireOutboxEntry($0, isSending: sending.contains($0.id), wait: waits[$0.id])
        }
        // Only mail servers take a part of what they are sent.
        let partial = Set(
            control.activeConfiguration.configuration.channels.filter { $0.form is MailForm }.map(\.name))
        for (index, record) in records.enumerated()
        where record.state == .delivered && partial.contains(record.channel) {
            let receipts = try await reading(await control.ledger.receipts(of: record.id))
            shown[index].detail = receipts.last.flatMap {
                $0.receipt.detail.isEmpty ? nil : $0.receipt.detail
            }
        }
        return shown
    }
}

extension DaemonHandler {
    func why(_ query: WhyQuery) async throws(APIError) -> [WireVerdict] {
        guard let id = query.id, !id.isEmpty else {
            throw APIError(.badValue, "the query needs an id", hint: "/v1/why?id=JOB%23N")
        }
        let explanations = try await asking(await control.why(id, limit: query.limit))
        return explanations.filter { !query.not || $0.isKeptBack }.map(WireVerdict.init)
    }
}

extension WireVerdict {
    /// The verdict as the API shows it.
    fileprivate init(_ explanation: Explanation) {
        let verdict = explanation.verdict
        self.init(
            at: Timestamp(verdict.at), event: verdict.event, action: verdict.action.rawValue,
            stage: verdict.stage.rawValue, reason: verdict.reason)
        type = explanation.type?.rawValue
        run = explanation.run
        item = verdict.item
        channel = verdict.channel.isEmpty ? nil : verdict.channel
        until = Timestamp(verdict.until)
        rule = verdict.rule
        guard let found = explanation.delivery else { return }
        var delivery = WireDelivery(state: found.state.rawValue)
        delivery.waitsFor = found.waitsFor
        delivery.nextAt = Timestamp(found.nextAt)
        delivery.error = found.error
        self.delivery = delivery
    }
}

extension WireTry {
    /// An attempt that failed.
    fileprivate init(_ attempt: OutboxAttempt) {
        self.init(at: Timestamp(attempt.at))
        latencyMs = attempt.latency?.shownMilliseconds
        (status, reason) = (attempt.status, attempt.reason.rawValue)
        (error, answer) = (attempt.error, attempt.answer)
    }

    /// One that was accepted.
    fileprivate init(_ record: ReceiptRecord) {
        self.init(at: Timestamp(record.receipt.at))
        latencyMs = record.receipt.latency?.shownMilliseconds
        (status, answer) = (record.receipt.status, record.receipt.answer)
    }
}

extension Duration {
    /// In milliseconds, with three digits behind the point.
    var shownMilliseconds: Double { (self / .microseconds(1)).rounded() / 1000 }
}

extension WireOutboxEntry {
    /// The entry as the API shows it; `sending` is no stored state.
    init(_ record: OutboxRecord, isSending: Bool, wait: OutboxWait?) {
        let isSending = isSending && record.state == .pending
        let state = isSending ? WireOutboxState.sending.rawValue : record.state.rawValue
        self.init(
            id: record.id, channel: record.channel, type: record.type, reason: record.reason,
            state: state, createdAt: Timestamp(record.createdAt))
        attempts = record.attempts
        if !isSending {
            // What goes before all that waits, a test, is due since before there was time.
            let due = wait == nil ? record.nextAt : wait?.nextAt
            nextAt = Timestamp(due.map { max($0, record.createdAt) })
            waitsFor = wait?.word
            if case .channel(let hold) = wait { channelError = hold.lastError }
        }
        lastError = record.lastError
        status = record.status
        settledAt = Timestamp(record.settledAt)
        run = record.run
        item = record.item
    }
}
