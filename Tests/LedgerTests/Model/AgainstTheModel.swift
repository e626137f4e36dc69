import Ledger
import TestSupport
import Testing

@Suite struct `a ledger beside the model` {
    private static let seeds: [UInt64] = [1, 2] + (0..<2).map { _ in UInt64.random(in: 0 ... .max) }

    @Test(arguments: LedgerBackend.available, seeds)
    func `answers and holds the same after every random list`(
        _ backend: LedgerBackend, seed: UInt64
    ) async throws {
        let folder = try TemporaryFolder()
        var ledger = try backend.open(in: folder)
        var model = ModelLedger()
        var changes = RandomChanges(seed: seed)
        var refused = 0
        for step in 0..<200 {
            let list = changes.list(for: model)
            let expected = model.commit(list)
            let outcome = await outcome(of: list, on: ledger)
            if case .failure = expected { refused += 1 }
            #expect(outcome == expected, "seed \(seed), list \(step): \(list)")
            if step % 50 == 49 {
                await ledger.close()
                ledger = try backend.open(in: folder)
            }
            let depth = step % 50 == 49 ? 9999 : 6
            let differences = try await Snapshot(of: ledger, asking: model, depth: depth)
                .differences(from: Snapshot(of: model, asking: model, depth: depth))
            #expect(differences == [], "seed \(seed), list \(step): \(list)")
            if outcome != expected || !differences.isEmpty { break }
        }
        await ledger.close()
        // Neither side of the guards may go untried.
        #expect((20...180).contains(refused), "seed \(seed)")
    }

    private func outcome(
        of list: [Change], on ledger: any Ledger
    ) async -> Result<Commit, ModelLedger.RefusedAt> {
        do {
            return .success(try await ledger.commit(list))
        } catch {
            guard case .fenced(let index, _) = error else {
                Issue.record("\(error)")
                return .failure(.init(index: -1))
            }
            return .failure(.init(index: index))
        }
    }
}
