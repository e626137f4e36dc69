import Ledger
import LedgerSQLite
import TestSupport

/// A store that must pass the contract.
///
/// A new one is done when it passes unchanged.
enum LedgerBackend: String, CaseIterable, Sendable {
    case sqlite

    /// Those that this machine can run.
    static var available: [LedgerBackend] { allCases }

    /// Opens the ledger in `folder`, or makes a new one there.
    func open(in folder: TemporaryFolder) throws(LedgerError) -> any Ledger {
        switch self {
        case .sqlite: try SQLiteLedger(path: folder.file("ledger.db"))
        }
    }

    /// How many transactions an open ledger has made.
    func transactions(of ledger: any Ledger) -> Int {
        switch self {
        case .sqlite: (ledger as? SQLiteLedger)?.transactions ?? 0
        }
    }

    /// Runs `body` on a new, empty ledger and closes it.
    func withNew(_ body: (any Ledger) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let ledger = try open(in: folder)
        try await body(ledger)
        await ledger.close()
    }
}
