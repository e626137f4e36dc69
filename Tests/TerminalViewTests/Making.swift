import TerminalView
import Timeline
import Tracking

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
