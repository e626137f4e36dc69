import API
import ArgumentParser
import Glibc
import Host
import Ledger
import LedgerSQLite

/// Copies the ledger, whether a daemon is at work on it or not.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy the ledger to a file, or check such a copy.",
        discussion: """
            The copy is a consistent snapshot with mode 0600; a running daemon is not disturbed. It does not \
            contain the output of runs.

            Examples:
              belfryd backup /mnt/backup/belfry.sqlite
              belfryd backup --force --system /mnt/backup/belfry.sqlite
              belfryd backup --check /mnt/backup/belfry.sqlite
            """)

    @OptionGroup var places: Places

    @Flag(help: "Replace the file if it exists.")
    var force = false

    @OptionGroup var checking: Checking

    @Argument(help: ArgumentHelp("The file of the copy.", valueName: "file"))
    var file: String

    func validate() throws {
        if force && checking.check { throw ValidationError("--force and --check exclude each other") }
    }

    func run() async throws {
        umask(0o077)
        do {
            checking.check ? try verify() : try copy()
        } catch let error as LedgerError {
            throw Failure("belfryd backup: \(error)")
        }
    }

    private func verify() throws {
        guard unsafe access(file, F_OK) == 0 else {
            throw Failure("belfryd backup: there is no file \(file)")
        }
        do {
            let summary = try LedgerFile(path: file).check()
            StandardOutput.print("\(file): good; \(summary.text)")
        } catch {
            throw Failure(copy: file, error, of: "backup")
        }
    }

    private func copy() throws {
        let ledger = LedgerChoice(state: places.paths.state).path
        guard unsafe access(ledger, F_OK) == 0 else {
            throw Failure(
                "belfryd backup: there is no ledger in \(places.paths.state)",
                hint: "name the daemon's state folder with --state, or the machine's daemon with --system")
        }
        var (here, there) = (stat(), stat())
        if unsafe stat(ledger, &here) == 0, unsafe stat(file, &there) == 0 {
            guard here.st_ino != there.st_ino || here.st_dev != there.st_dev else {
                throw Failure("belfryd backup: \(file) is the ledger itself", code: 2)
            }
            guard force else {
                throw Failure(
                    "belfryd backup: \(file) already exists", hint: "give another name, or --force")
            }
        }
        try LedgerFile(path: ledger).copy(to: file)
        StandardOutput.print("\(file): written; \(try LedgerFile(path: file).check().text)")
    }
}

extension Failure {
    /// The copy at `path` can't be used.
    init(copy path: String, _ error: LedgerError, of command: String) {
        self.init("belfryd \(command): \(error)")
        guard case .damaged(path, let detail) = error else { return }
        message = "belfryd \(command): the copy \(path) is damaged (\(detail))"
        hint = "use another copy; belfryd backup --check FILE checks one"
    }
}

extension LedgerFile.Summary {
    /// `schema 1, 3 jobs, 120 runs, 482 events`.
    var text: String {
        "schema \(schema), \(Plural.of(jobs, "job")), \(Plural.of(runs, "run")), newest event \(lastEvent)"
    }
}

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
