import GRDB
import Ledger
import LedgerSQLite
import TestSupport
import Testing

/// A store that must pass the contract.
///
/// A new one is done when it passes unchanged: every suite outside the folder `SQLite`, which holds what only a
/// file on a disk can suffer (damage, a full or failing disk, other processes, older schemas).
enum LedgerBackend: String, CaseIterable, Sendable {
    case sqlite
    /// The model behind the same commits as any store: the smallest example of one.
    case memory

    /// Those that this machine can run.
    static var available: [LedgerBackend] { allCases }

    /// Opens the ledger in `folder`, or makes a new one there.
    func open(in folder: TemporaryFolder) throws(LedgerError) -> any CommittingLedger {
        switch self {
        case .sqlite: try SQLiteLedger(path: folder.file("ledger.db"))
        case .memory: MemoryLedger(path: folder.path)
        }
    }

    /// How many transactions an open ledger has made.
    func transactions(of ledger: any Ledger) -> Int {
        (ledger as? any CommittingLedger)?.transactions ?? 0
    }

    /// Runs `body` on a new, empty ledger and closes it.
    func withNew(_ body: (any Ledger) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let ledger = try open(in: folder)
        try await body(ledger)
        await ledger.close()
    }
}

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

/// Does to a database file what somebody else could: runs `sql` and gives back every value as text.
@discardableResult
func shell(_ path: String, _ sql: String) async throws -> [String] {
    let queue = try DatabaseQueue(path: path)
    let values = try await queue.writeWithoutTransaction { database in
        var values: [String] = []
        for statement in sql.split(separator: ";") where !statement.allSatisfy(\.isWhitespace) {
            for row in try Row.fetchAll(database, sql: String(statement)) {
                values += row.databaseValues.map { String.fromDatabaseValue($0) ?? "\($0)" }
            }
        }
        return values
    }
    try queue.close()
    return values
}
