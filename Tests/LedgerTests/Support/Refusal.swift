import Ledger
import Testing

/// Expects that `ledger` refuses the list because of its change number `index`.
func expectFenced(
    _ ledger: any Ledger, at index: Int = 0, _ changes: [Change],
    sourceLocation: SourceLocation = #_sourceLocation
) async {
    do {
        _ = try await ledger.commit(changes)
        Issue.record("was not refused", sourceLocation: sourceLocation)
    } catch {
        guard case .fenced(let refused, let label) = error else {
            Issue.record("was refused otherwise: \(error)", sourceLocation: sourceLocation)
            return
        }
        #expect(refused == index, sourceLocation: sourceLocation)
        #expect(!label.isEmpty, sourceLocation: sourceLocation)
    }
}
