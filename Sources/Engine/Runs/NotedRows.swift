import Ledger

/// The rows that the keeper of runs is to look at, in order, and those it has just seen.
struct NotedRows {
    private var notes = Fifo<RunNotes.Note>()
    /// Rows seen in this turn: a run that starts in the same turn needs no other look.
    private var seen: [String: RunRecord] = [:]

    /// Whether none is left to look at.
    var isEmpty: Bool { notes.isEmpty }

    mutating func add(_ more: some Sequence<RunNotes.Note>) { notes.append(contentsOf: more) }

    /// Takes the first notes, at most `most`.
    mutating func take(_ most: Int) -> [RunNotes.Note] {
        var taken: [RunNotes.Note] = []
        while taken.count < most, let note = notes.popFirst() { taken.append(note) }
        return taken
    }

    /// They could not be looked at: they are the first again.
    mutating func putBack(_ taken: [RunNotes.Note]) {
        for note in taken.reversed() { notes.prepend(note) }
    }

    /// The run waits again and is looked at before the others.
    mutating func addFirst(_ run: String) { notes.prepend(.changed(run)) }

    mutating func keep(_ row: RunRecord) { seen[row.id] = row }

    /// The row as it was seen in this turn.
    subscript(run: String) -> RunRecord? { seen[run] }

    /// The turn ended: other rows may be newer now.
    mutating func forgetSeen() { if !seen.isEmpty { seen = [:] } }
}
