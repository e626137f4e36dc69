package import Ledger
import Synchronization

/// Where those who make runs or change their rows leave notes, after the commit, for the keeper of runs.
package final class RunNotes: Sendable {
    /// What somebody did to a run.
    package enum Note: Sendable {
        /// It was made, and its row was this; the row may have changed since.
        case made(RunRecord)
        /// Its row was made or changed.
        case changed(String)
    }

    private let notes = Mutex<[Note]>([])
    private let bell = Taps()

    package init() {}

    /// The rows of these runs were made or changed.
    package func add(changed runs: some Sequence<String>) {
        notes.withLock { $0 += runs.map(Note.changed) }
        bell.tap()
    }

    /// These runs were made, and are queued: nobody needs to read their rows before they start.
    package func add(made runs: some Sequence<RunRecord>) {
        notes.withLock { $0 += runs.map(Note.made) }
        bell.tap()
    }

    /// The notes since they were last taken, in that order.
    package func takeAll() -> [Note] {
        notes.withLock { notes in
            defer { notes = [] }
            return notes
        }
    }

    /// A tap at once, and after each note.
    package func taps() -> AsyncStream<Void> { bell.stream() }
}
