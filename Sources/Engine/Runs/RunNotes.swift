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
    private let bell = Broadcast<Void>()

    package init() {}

    /// The rows of these runs were made or changed.
    package func add(changed runs: some Sequence<String>) {
        notes.withLock { $0 += runs.map(Note.changed) }
        bell.publish(())
    }

    /// These runs were made, and are queued: nobody needs to read their rows before they start.
    package func add(made runs: some Sequence<RunRecord>) {
        notes.withLock { $0 += runs.map(Note.made) }
        bell.publish(())
    }

    /// The notes since they were last taken, in that order.
    package func takeAll() -> [Note] {
        notes.withLock { notes in
            defer { notes = [] }
            return notes
        }
    }

    /// An element after each note.
    func arrivals() -> AsyncStream<Void> { bell.listen() }
}

/// The rows that the keeper of runs is to look at, in order, and those it has just seen.
struct NotedRows {
    /// Where others leave their notes.
    let notes: RunNotes
    private var noted = Fifo<RunNotes.Note>()
    /// Rows seen in this turn: a run that starts in the same turn needs no other look.
    private var seen: [String: RunRecord] = [:]

    init(_ notes: RunNotes = RunNotes()) {
        self.notes = notes
    }

    /// Whether none is left to look at.
    var isEmpty: Bool { noted.isEmpty }

    /// Appends the notes that others left.
    mutating func gather() { add(notes.takeAll()) }

    mutating func add(_ more: some Sequence<RunNotes.Note>) { noted.append(contentsOf: more) }

    /// Takes the first notes, at most `most`.
    mutating func removeFirst(_ most: Int) -> [RunNotes.Note] {
        var taken: [RunNotes.Note] = []
        while taken.count < most, let note = noted.popFirst() { taken.append(note) }
        return taken
    }

    /// They could not be looked at: they are the first again.
    mutating func putBack(_ taken: [RunNotes.Note]) {
        for note in taken.reversed() { noted.prepend(note) }
    }

    /// The run waits again, and comes before the others; this is its row as it was just committed.
    mutating func addFirst(_ run: RunRecord) { noted.prepend(.made(run)) }

    mutating func keep(_ row: RunRecord) { seen[row.id] = row }

    /// The row as it was seen in this turn.
    subscript(run: String) -> RunRecord? { seen[run] }

    /// The turn ended: other rows may be newer now.
    mutating func forgetSeen() { if !seen.isEmpty { seen = [:] } }
}
