import ArgumentParser
import Glibc
import Host
import Ledger
import LedgerSQLite

/// Puts a copy of the ledger in its place, while no daemon runs.
struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Restore the ledger from a copy; the daemon must be stopped.",
        discussion: """
            The copy is verified first; one from a newer Belfry is refused. The previous ledger is kept as \
            ledger-before-restore.sqlite in the same folder, or under the next free number.

            Everything since the copy was made is lost: later slots are decided again by each job's catchUp, \
            active runs that are not in the copy are ended, and notifications may arrive twice with the same id.

            Examples:
              systemctl --user stop belfryd
              belfryd restore /mnt/backup/belfry.sqlite
              systemctl --user start belfryd
            """)

    @OptionGroup var places: Places

    @Argument(help: ArgumentHelp("The copy, made by belfryd backup.", valueName: "file"))
    var file: String

    func run() async throws {
        umask(0o077)
        let paths = places.paths
        let lock = try Daemon.takeLock(of: paths)
        defer { withExtendedLifetime(lock) {} }
        guard unsafe access(file, F_OK) == 0 else {
            throw Failure("belfryd restore: there is no file \(file)")
        }
        do {
            let summary = try LedgerFile(path: file).check()
            let kept = try replace(paths.state)
            StandardOutput.print("\(LedgerChoice(state: paths.state).path): restored; \(summary.text)")
            if let kept { StandardOutput.print("\(kept): what was there before") }
        } catch let error as LedgerError {
            throw Failure(copy: file, error, of: "restore")
        } catch let error as HostError {
            throw Failure("belfryd restore: \(error)")
        }
    }

    /// Puts the copy in place; where what was there before is now.
    private func replace(_ state: String) throws -> String? {
        let ledger = LedgerChoice(state: state).path
        let draft = ledger + ".restored"
        try LedgerFile(path: file).copy(to: draft)
        var kept: String?
        if unsafe access(ledger, F_OK) == 0 {
            let name = Self.freeName(in: state)
            try keep(ledger, as: name)
            kept = name
        }
        // They belong to the old file: SQLite would write their pages into the new one.
        for ending in ["-wal", "-shm"] { unsafe unlink(ledger + ending) }
        guard unsafe rename(draft, ledger) == 0 else { throw HostError.last("rename", ledger) }
        try SmallFile.syncFolder(of: ledger)
        return kept
    }

    /// A name under which nothing is kept yet: an earlier restore may have kept the only copy of the original.
    private static func freeName(in state: String) -> String {
        var number = 1
        while true {
            let path = "\(state)/ledger-before-restore\(number == 1 ? "" : "-\(number)").sqlite"
            if ["", "-wal"].allSatisfy({ unsafe access(path + $0, F_OK) != 0 }) { return path }
            number += 1
        }
    }

    /// Copies what was there; what can't be read is moved away as it is.
    private func keep(_ ledger: String, as path: String) throws {
        do throws(LedgerError) {
            try LedgerFile(path: ledger).copy(to: path)
        } catch {
            guard case .full = error else {
                for ending in ["", "-wal"] { unsafe rename(ledger + ending, path + ending) }
                return
            }
            throw error
        }
    }
}
