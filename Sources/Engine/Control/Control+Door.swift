import Delivery
package import Ledger
import Logging
package import Timeline

// Tokens of the door.
extension Control {
    /// Keeps a token.
    ///
    /// - Throws: ``EngineError/tokenExists(_:)``.
    package func addToken(_ token: TokenRecord) async throws(EngineError) {
        do throws(EngineError) {
            _ = try await commit([.putToken(token)])
        } catch {
            guard case .ledger(.fenced) = error else { throw error }
            throw .tokenExists(token.name)
        }
        logger.notice("token created", metadata: ["token": "\(token.name)"])
    }

    /// Removes a token.
    ///
    /// - Throws: ``EngineError/noSuchToken(_:)``.
    package func removeToken(_ name: String) async throws(EngineError) {
        do throws(EngineError) {
            _ = try await commit([.removeToken(name: name)])
        } catch {
            guard case .ledger(.fenced) = error else { throw error }
            throw .noSuchToken(name)
        }
        logger.notice("token removed", metadata: ["token": "\(name)"])
    }
}

// What must report in time.
extension Control {
    /// The most there are.
    private static let mostExpectations = 10_000

    /// What must report in time, by name, each with when the next report is due.
    package func expectations() async throws(EngineError) -> [(ExpectationRecord, dueAt: Moment?)] {
        let kept = try await read { () async throws(LedgerError) in try await ledger.expectations() }
        let now = clock.now
        return kept.map { ($0, try? $0.judge(host.zones).dueAt($0, at: now)) }
    }

    /// Makes one, or gives one that is there another schedule and grace; its address stays.
    ///
    /// `makeDigest` makes the digest of the key that belongs to a seed.
    /// - Throws: ``EngineError/invalid(_:)``, and what is wrong with the schedule.
    package func expect(
        _ name: String, _ schedule: ScheduleSpec, grace: Duration, makeDigest: (String) -> String
    ) async throws(EngineError) -> (ExpectationRecord, dueAt: Moment?) {
        for _ in 0..<8 {
            let (kept, now) = (try await expectations(), clock.now)
            let old = kept.first { $0.0.name == name }?.0
            guard old != nil || kept.count < Self.mostExpectations else {
                throw .invalid("there are \(Self.mostExpectations) expectations already")
            }
            let seed = old?.seed ?? makeID()
            var expectation =
                old
                ?? ExpectationRecord(
                    name: name, seed: seed, digest: makeDigest(seed), schedule: schedule, grace: grace,
                    madeAt: now)
            (expectation.schedule, expectation.grace) = (schedule, grace)
            if old != nil { expectation.revision += 1 }
            let judge = try expectation.judge(host.zones)
            guard judge.dueAt(expectation, at: now) != nil else {
                throw .invalid("no report would ever be due by this schedule")
            }
            // A shorter schedule does not make it late at once: nobody knew of it.
            judge.forgive(&expectation, at: now)
            _ = judge.review(&expectation, at: now)
            if try await put(expectation, replacing: old?.revision, []) {
                return (expectation, judge.dueAt(expectation, at: now))
            }
        }
        throw .invalid("somebody else changes it at the same time")
    }

    /// Removes one: reports at its address are refused from then on.
    ///
    /// - Throws: ``EngineError/noSuchExpectation(_:)``.
    package func removeExpectation(_ name: String) async throws(EngineError) {
        do throws(EngineError) {
            _ = try await commit([.removeExpectation(name: name)])
        } catch {
            guard case .ledger(.fenced) = error else { throw error }
            throw .noSuchExpectation(name)
        }
    }

    /// The expectation that a key belongs to; nil: none.
    package func expectation(digest: String) async throws(EngineError) -> ExpectationRecord? {
        try await read { () async throws(LedgerError) in try await ledger.expectation(digest: digest) }
    }

    /// Takes in a report with the last line that came with it; false: there is none with this key any more.
    package func report(
        _ ping: ExpectationPing, _ line: String?, digest: String
    ) async throws(EngineError) -> Bool {
        while let old = try await expectation(digest: digest) {
            var (expectation, now) = (old, clock.now)
            expectation.revision += 1
            let fact = try old.judge(host.zones).receive(ping, line, for: &expectation, at: now)
            let events = fact.map { [Change.append(NewEvent($0, at: now))] } ?? []
            if try await put(expectation, replacing: old.revision, events) { return true }
        }
        return false
    }

    /// False: somebody changed it meanwhile.
    private func put(
        _ expectation: ExpectationRecord, replacing old: Int64?, _ changes: [Change]
    ) async throws(EngineError) -> Bool {
        do throws(EngineError) {
            _ = try await commit([.putExpectation(expectation, replacing: old)] + changes)
            return true
        } catch {
            guard case .ledger(.fenced) = error else { throw error }
            return false
        }
    }
}
