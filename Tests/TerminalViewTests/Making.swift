import Timeline
import Tracking

@testable import TerminalView

/// The moment `seconds` after the run was started.
func at(_ seconds: Double) -> Moment { Moment(microseconds: Int64(seconds * 1_000_000)) }

/// A live state of the run `run`, started at second 0.
func live(
    _ run: String, _ state: RunState = .running, progress: Double? = nil, phase: String? = nil,
    message: String? = nil, seq: Int64 = 1, updatedAt: Double = 0
) -> LiveState {
    let task = LiveTask(id: run, botID: "ops", run: run, name: run, botName: "Ops")
    var live = LiveState(task: task, attempt: 1, seq: seq, state: state, updatedAt: at(updatedAt))
    live.startedAt = at(0)
    live.progress = progress
    live.phase = phase
    live.message = message
    return live
}

/// A row of a live state at the moment it was updated.
func row(_ live: LiveState) -> LiveRow { LiveRow(live, at: live.updatedAt, zone: .utc) }

/// A capable terminal without colour.
let plainColors = TerminalTraits(
    color: .never, isTerminal: true, environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8"])

/// A terminal that takes ASCII only.
let asciiOnly = TerminalTraits(
    color: .never, isTerminal: true, environment: ["TERM": "xterm-256color", "LANG": "C"])

/// A capable terminal with colour.
let colorful = TerminalTraits(
    color: .always, isTerminal: true, environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8"])

/// The text of a line without its colours.
func text(_ line: FrameLine) -> String { String(decoding: line.bytes, as: UTF8.self) }

/// The texts of a frame's lines.
func texts(_ rows: [LiveRow], columns: Int, rows height: Int = 24, traits: TerminalTraits) -> [String] {
    Frame(rows, size: TerminalSize(columns: columns, rows: height), traits: traits).lines.map(text)
}

/// A terminal, as far as a painter uses one: enough of ECMA-48 to see what a person would see.
///
/// Anything it does not know is recorded, so that a test can insist on there being none.
struct Screen {
    /// Lines that ended in a line feed, from the first; those above ``top`` have scrolled away.
    private(set) var lines: [[Character]] = [[]]
    private(set) var row = 0
    private(set) var column = 0
    private(set) var isCursorShown = true
    private(set) var isSynchronized = false
    private(set) var touchedLastColumn = false
    private(set) var unknown: [String] = []
    let size: TerminalSize

    init(columns: Int, rows: Int) { size = TerminalSize(columns: columns, rows: rows) }

    /// What every line says, with the spaces at its end taken off and empty lines at the end left out.
    var text: [String] {
        var text = lines.map { line in
            String(line.filter { $0 != "\0" }.reversed().drop { $0 == " " }.reversed())
        }
        while text.last == "" { text.removeLast() }
        return text
    }

    private var top: Int { max(0, lines.count - size.rows) }

    mutating func write(_ bytes: [UInt8]) {
        var rest = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)[...]
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar.value >= 0x20, scalar.value != 0x7F {
                text.append(scalar)
                continue
            }
            put(String(text))
            text.removeAll()
            switch scalar {
            case "\r": column = 0
            case "\n": lineFeed()
            case "\u{1B}": escape(&rest)
            default: unknown.append("\(scalar.value)")
            }
        }
        put(String(text))
    }

    private mutating func put(_ text: String) {
        for character in text {
            let cells = CellWidth.of(character)
            if column + cells >= size.columns { touchedLastColumn = true }
            while lines[row].count < column + cells { lines[row].append(" ") }
            lines[row][column] = character
            // The second half of a wide character.
            for extra in 1..<max(cells, 1) { lines[row][column + extra] = "\0" }
            column += cells
        }
    }

    private mutating func lineFeed() {
        row += 1
        if row == lines.count { lines.append([]) }
    }

    private mutating func escape(_ rest: inout ArraySlice<Unicode.Scalar>) {
        guard rest.popFirst() == "[" else { return unknown.append("ESC") }
        var parameters = ""
        while let scalar = rest.popFirst() {
            guard scalar.value >= 0x40 else {
                parameters.unicodeScalars.append(scalar)
                continue
            }
            let count = Int(parameters) ?? 1
            switch (scalar, parameters) {
            case ("H", _):
                let place = parameters.split(separator: ";").compactMap { Int($0) }
                (row, column) = (top + (place.first ?? 1) - 1, (place.last ?? 1) - 1)
                while lines.count <= row { lines.append([]) }
            case ("A", _): row = max(top, row - count)
            case ("B", _): row = min(lines.count - 1, row + count)
            case ("J", ""):
                clearRest()
                lines.removeSubrange((row + 1)...)
            case ("K", ""): clearRest()
            case ("h", "?25"): isCursorShown = true
            case ("l", "?25"): isCursorShown = false
            case ("h", "?2026"): isSynchronized = true
            case ("l", "?2026"): isSynchronized = false
            case ("m", _): break
            default: unknown.append("CSI \(parameters)\(scalar)")
            }
            return
        }
    }

    private mutating func clearRest() {
        lines[row].removeSubrange(min(column, lines[row].count)...)
    }

    /// The screen after somebody changed its size, where nothing is rewrapped: what is outside is lost.
    func cropped(columns: Int, rows: Int) -> Screen {
        var next = Screen(columns: columns, rows: rows)
        next.lines = lines.prefix(rows).map { Array($0.prefix(columns)) }
        (next.row, next.column) = (min(row, next.lines.count - 1), min(column, columns - 1))
        return next
    }

    /// The screen after somebody changed its width: a line longer than the new width becomes several.
    func resized(columns: Int, rows: Int) -> Screen {
        var next = Screen(columns: columns, rows: rows)
        next.lines = []
        for line in lines {
            var rest = line[...]
            repeat {
                next.lines.append(Array(rest.prefix(columns)))
                rest = rest.dropFirst(columns)
            } while !rest.isEmpty
        }
        // The painter leaves the cursor on the empty line at the end.
        next.row = next.lines.count - 1
        return next
    }
}
