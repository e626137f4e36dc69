import TestSupport
import Testing

/// Another process that holds a daemon's ledger until it is let go.
struct LedgerHolder {
    /// What it holds.
    enum Lock {
        /// SQLite's lock for writers, as a person at `sqlite3` does in a transaction.
        case writer
        /// The lock of the ledger's owner, as another daemon does.
        case owner
    }

    private let process: ChildProcess

    /// Returns once the lock is held.
    init(_ lock: Lock, of belfry: Belfry) async throws {
        let ledger = belfry.statePath + "/ledger.sqlite"
        switch lock {
        case .writer:
            process = try Self.python(
                """
                connection = sqlite3.connect(sys.argv[1], isolation_level=None)
                connection.execute("BEGIN IMMEDIATE"); print("held", flush=True)
                sys.stdin.read()
                connection.execute("ROLLBACK")
                """, ledger)
        case .owner:
            process = try Self.python(
                """
                file = open(sys.argv[1], "w"); fcntl.flock(file, fcntl.LOCK_EX); print("held", flush=True)
                sys.stdin.read()
                """, ledger + "-lock")
        }
        try #require(await process.line { $0 == "held" } != nil)
    }

    /// Lets the ledger go, and returns once that is so.
    func release() async throws {
        try process.closeInput()
        _ = await process.status()
    }

    private static func python(_ script: String, _ path: String) throws -> ChildProcess {
        try ChildProcess("python3", ["-c", "import fcntl, sqlite3, sys\n" + script, path])
    }
}
