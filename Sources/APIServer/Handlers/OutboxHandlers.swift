import API
import Cron
import Delivery
import Engine
import Ledger
import Timeline

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
