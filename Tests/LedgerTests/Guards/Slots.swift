import Ledger
import Testing
import Timeline
import Tracking

@Suite struct `the watermark` {
    @Test(arguments: LedgerBackend.available)
    func `is moved only from where it stands`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let first = Watermark(decidedUntil: at(0), era: 0)
            let second = Watermark(decidedUntil: at(60), era: 0)
            #expect(try await ledger.watermark() == nil)
            try await ledger.commit([.moveWatermark(from: first, to: first)])
            try await ledger.commit([.moveWatermark(from: first, to: second)])
            await expectFenced(ledger, [.moveWatermark(from: first, to: second)])
            let otherEra = Watermark(decidedUntil: at(60), era: 1)
            await expectFenced(ledger, [.moveWatermark(from: otherEra, to: second)])
            #expect(try await ledger.watermark() == second)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `fences the runs of a second decider`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let start = Watermark(decidedUntil: at(0), era: 0)
            let end = Watermark(decidedUntil: at(60), era: 0)
            try await ledger.commit([.moveWatermark(from: start, to: start)])
            try await ledger.commit([.run("r1", slot: 30), .moveWatermark(from: start, to: end)])
            await expectFenced(
                ledger, at: 1, [.run("r2", job: "other", slot: 30), .moveWatermark(from: start, to: end)])
            #expect(try await ledger.run(id: "r2") == nil)
        }
    }
}

@Suite struct `slots that did not run` {
    private func span(
        _ first: Double, _ last: Double, count: Int = 1, job: String = "backup", era: Int = 0,
        reason: RunReason = .overlap
    ) -> SlotSpan {
        SlotSpan(
            job: job, era: era, first: at(first), last: at(last), count: count, state: .skipped,
            reason: reason)
    }

    @Test(arguments: LedgerBackend.available)
    func `join the span they follow`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([.recordSpan(span(60, 60), follows: nil)])
            try await ledger.commit([.recordSpan(span(120, 180, count: 2), follows: at(60))])
            #expect(try await ledger.spans(of: "backup", limit: 10) == [span(60, 180, count: 3)])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `begin a new span when reason, state, era, job or neighbour differ`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            var missed = span(300, 300)
            missed.state = .missed
            let others = [
                span(120, 120, reason: .paused), span(180, 180, era: 1), span(60, 60, job: "other"), missed,
            ]
            try await ledger.commit([.recordSpan(span(60, 60), follows: nil)])
            for other in others { try await ledger.commit([.recordSpan(other, follows: at(60))]) }
            try await ledger.commit([.recordSpan(span(420, 420), follows: at(360))])
            let expected = [others[1], span(420, 420), missed, others[0], span(60, 60)]
            #expect(try await ledger.spans(of: "backup", limit: 10) == expected)
            #expect(try await ledger.spans(of: "backup", limit: 2) == Array(expected.prefix(2)))
            #expect(try await ledger.spans(of: "other", limit: 10) == [others[2]])
            #expect(try await ledger.spans(of: nil, limit: 10).count == 6)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `are listed by their last slot, newest first`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let others = (1...5).map { span(Double(60 * $0), Double(60 * $0), job: "job-\($0)") }
            try await ledger.commit([.recordSpan(span(30, 30, reason: .paused), follows: nil)])
            try await ledger.commit(others.map { .recordSpan($0, follows: nil) })
            // A long pause is one span, and its newest slot is the newest of all.
            try await ledger.commit([
                .recordSpan(span(90, 390, count: 6, reason: .paused), follows: at(30))
            ])
            let pause = span(30, 390, count: 7, reason: .paused)
            #expect(try await ledger.spans(of: nil, limit: 2) == [pause, others[4]])
            #expect(try await ledger.spans(of: "backup", limit: 2) == [pause])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `are recorded once`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([.recordSpan(span(60, 120, count: 2), follows: nil)])
            try await ledger.commit([.recordSpan(span(60, 60), follows: nil)])
            #expect(try await ledger.spans(of: nil, limit: 10) == [span(60, 120, count: 2)])
        }
    }
}
