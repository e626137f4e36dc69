import Glibc
import Host
import TerminalView

/// The screen of a chat: what was said scrolls up, and below it stand the reply that comes, what the bot is doing, and
/// the line that is typed.
final class ChatScreen {
    private let traits: TerminalTraits
    private var painter: TerminalPainter
    private var flow = FlowingText()
    private var permanent: [FrameLine] = []
    /// The cells of the line that is typed, as it is drawn, and the cell of its cursor; nil: it is not drawn.
    private var drawn: (cells: Int, cursor: Int)?
    /// What the bot is doing.
    var phase: String?

    init(_ traits: TerminalTraits) {
        self.traits = traits
        painter = TerminalPainter(traits)
    }

    private var size: TerminalSize { TerminalSize(of: STDOUT_FILENO) }
    private var columns: Int { max(8, size.columns - 1) }

    /// Adds what a person said.
    func add(said text: String) {
        var lines = PlainText.lines(text)[...]
        add("> \(lines.popFirst() ?? "")", .cyan)
        for line in lines { add("  \(line)", .cyan) }
    }

    /// Adds lines of one colour.
    func add(_ text: String, _ color: TerminalColor = .normal) {
        var flow = FlowingText()
        let rows = flow.receive(text, columns: columns) + flow.finish()
        permanent += (rows.isEmpty ? [""] : rows).map { line($0, color) }
    }

    /// Adds the next piece of a reply.
    func stream(_ text: String) {
        permanent += flow.receive(text, columns: columns).map { line($0) }
    }

    /// The reply is complete: an empty line follows it.
    func endStream() {
        permanent += flow.finish().filter { !$0.allSatisfy(\.isWhitespace) }.map { line($0) }
        permanent.append(line(""))
    }

    private func line(_ text: String, _ color: TerminalColor = .normal) -> FrameLine {
        var line = FrameLine(traits)
        let isColored = traits.usesColor && color != .normal
        if isColored { line.color(color) }
        line.add(text, limit: columns)
        if isColored { line.color(.normal) }
        return line
    }

    /// Draws everything with `editor` as the line that is typed; nothing while another job has the terminal.
    func draw(_ editor: LineEditor) {
        guard tcgetpgrp(STDOUT_FILENO) == getpgrp() else { return }
        let size = size
        var frame = Frame([], size: size, traits: traits)
        if !flow.tail.isEmpty { frame.lines.append(line(flow.tail)) }
        if let phase { frame.lines.append(line("\(phase) …", .dim)) }
        let window = editor.window(cells: columns - 2)
        let typed = line("> \(window.text)")
        frame.lines.append(typed)
        let bytes = raise(at: size) + painter.paint(frame, after: permanent, size: size)
        permanent = []
        drawn = (typed.cells, window.cursor + 2)
        StandardOutput.write(bytes + Array("\u{1B}[1A\r\u{1B}[\(window.cursor + 2)C".utf8))
    }

    /// Takes the line that is typed away, and what the bot is doing; what was said stays.
    func close() {
        let bytes = raise(at: size) + painter.erase(leaving: permanent, size: size)
        permanent = []
        StandardOutput.write(bytes)
    }

    /// Clears the terminal; the next draw shows everything again.
    func clear() {
        painter = TerminalPainter(traits)
        drawn = nil
        StandardOutput.write(Array("\u{1B}[H\u{1B}[2J".utf8))
    }

    /// Takes the cursor from the line that is typed to the empty one below it, where the painter expects it.
    private func raise(at size: TerminalSize) -> [UInt8] {
        guard let drawn else { return [] }
        self.drawn = nil
        guard traits.reflows else { return Array("\r\u{1B}[1B".utf8) }
        // A terminal that became narrower wrapped the line.
        let below = max(0, drawn.cells - 1) / size.columns - drawn.cursor / size.columns
        return Array("\r\u{1B}[\(max(0, below) + 1)B".utf8)
    }
}
