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
            checking.check ? try look() : try copy()
        } catch let error as LedgerError {
            throw Failure("belfryd backup: \(error)")
        }
    }

    private func look() throws {
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
                    "belfryd backup: \(file) is there already", hint: "give another name, or --force")
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
