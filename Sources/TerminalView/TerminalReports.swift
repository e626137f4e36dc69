package import Timeline
package import Tracking

/// What a terminal is sent about runs besides rows: the bar of its tab (OSC 9;4), and each run by name (OSC 7501).
///
/// Both are what the terminal takes, and nothing where it takes neither.
package struct TerminalReports: Sendable {
    private let traits: TerminalTraits
    private var taskbar = TaskbarProgress()
    private var status = StatusReports()
    private var title = WindowTitle()

    /// Reports to a terminal that was sent none.
    package init(_ traits: TerminalTraits) { self.traits = traits }

    /// The bytes to write for the runs as they are; none when nothing changed and no heartbeat is due.
    package mutating func update(_ runs: [LiveState], at now: Moment) -> [UInt8] {
        guard traits.showsTaskbar || traits.showsStatus else { return [] }
        var sequences = traits.showsTaskbar ? [taskbar.update(runs, at: now)] : []
        if traits.showsStatus { sequences += status.update(runs) }
        if traits.showsTitle { sequences.append(title.update(runs)) }
        return sequences.flatMap { Self.wrapped($0, traits) }
    }

    /// The bytes that take all of it away.
    package static func clear(_ traits: TerminalTraits) -> [UInt8] {
        (traits.showsTaskbar ? wrapped(TaskbarProgress.clear, traits) : [])
            + (traits.showsStatus ? wrapped(StatusReports.clear, traits) : [])
            + (traits.showsTitle ? WindowTitle.clear : [])
    }

    /// A sequence for the terminal around a tmux that does not know it.
    ///
    /// - Source: tmux(1), `allow-passthrough`.
    private static func wrapped(_ bytes: [UInt8], _ traits: TerminalTraits) -> [UInt8] {
        guard traits.passesThrough, !bytes.isEmpty else { return bytes }
        return Array("\u{1B}Ptmux;".utf8) + bytes.flatMap { $0 == 0x1B ? [0x1B, 0x1B] : [$0] }
            + Array("\u{1B}\\".utf8)
    }
}

/// The title of a window, for a terminal whose tab shows less than a person should know.
///
/// The title of before is kept by the terminal meanwhile.
/// - Source: xterm's control sequences, OSC 2 and XTWINOPS 22 and 23.
struct WindowTitle: Sendable {
    /// The bytes that bring back the title of before.
    static let clear = Array("\u{1B}[23;2t".utf8)

    private var shown: String?

    /// `42% backup#7 +2`, of the run that a person should see first, when it is another title than before.
    mutating func update(_ runs: [LiveState]) -> [UInt8] {
        guard let first = runs.min(by: { $0.state.viewRank < $1.state.viewRank }) else {
            defer { shown = nil }
            return shown == nil ? [] : Self.clear
        }
        let percent = first.progress.map { RunWording.percent($0) + " " } ?? ""
        let state = first.state == .running ? "" : ", \(first.state.words)"
        let others = runs.count > 1 ? " +\(runs.count - 1)" : ""
        let text = percent + CleanText.line(first.task.run, limit: 80) + state + others
        guard text != shown else { return [] }
        let push = shown == nil ? "\u{1B}[22;2t" : ""
        shown = text
        return Array("\(push)\u{1B}]2;\(text)\u{1B}\\".utf8)
    }
}

/// Reports each run, and all of them together, to a terminal.
///
/// A report replaces the last one of its run, so only what is new is sent. A run that ended is reported as done or failed
/// once, and stays until the view is left.
/// - Source: OSC 7501, Program Status Protocol, revision 0.4.
struct StatusReports: Sendable {
    private struct Record: Hashable {
        var state: String
        var kind: String?
        var percent: Int?
        var message: String?
    }

    /// The bytes that take away all records of this program.
    static let clear = Array("\u{1B}]7501;state=clear\u{1B}\\".utf8)
    /// So many runs are reported.
    private static let limit = 32
    private static let messageBytes = 300

    private var shown: [String: Record] = [:]
    private var whole: Record?

    /// The sequences for the runs as they are.
    mutating func update(_ runs: [LiveState]) -> [[UInt8]] {
        var sequences: [[UInt8]] = []
        var next: [String: Record] = [:]
        for live in runs.prefix(Self.limit) {
            guard let record = Self.record(of: live) else { continue }
            let id = Self.id(of: live)
            next[id] = record
            if shown[id] != record { sequences.append(Self.sequence(record, id: id, title: live.task.run)) }
        }
        // Runs that are no longer reported have ended, or left the list.
        for id in shown.keys.sorted() where next[id] == nil {
            sequences.append(Array("\u{1B}]7501;state=clear:id=\(id)\u{1B}\\".utf8))
        }
        let all = Self.summary(next.values)
        if all != whole { sequences.append(Self.sequence(all, id: nil, title: nil)) }
        (shown, whole) = (next, all)
        return sequences
    }

    private static func record(of live: LiveState) -> Record? {
        let percent = live.progress.map { Int(min(max($0, 0), 1) * 100 + 1e-9) }
        let message = RunWording.saying(of: live)
        return switch live.state {
        case .starting, .running, .stalled, .paused:
            Record(
                state: "working", percent: percent,
                message: live.state == .running || live.state == .starting ? live.phase : live.state.words)
        case .blocked:
            Record(
                state: "blocked", kind: live.blockedKind?.rawValue ?? "question", percent: percent,
                message: message)
        case .completed: Record(state: "done", message: message)
        case .failed, .timedOut, .lost: Record(state: "error", message: RunWording.outcome(of: live))
        case .scheduled, .queued: Record(state: "idle", message: live.state.words)
        case .canceled, .skipped, .missed: nil
        }
    }

    /// The most urgent of all: who waits for a person, what failed, what is done, what works.
    private static func summary(_ records: some Collection<Record>) -> Record {
        let order = ["blocked", "error", "done", "working", "idle"]
        let state = order.first { state in records.contains { $0.state == state } } ?? "idle"
        let first = records.filter { $0.state == state }.min { ($0.kind ?? "") < ($1.kind ?? "") }
        let known = records.filter { $0.state == "working" }.compactMap(\.percent)
        let mean = known.isEmpty || state != "working" ? nil : known.reduce(0, +) / known.count
        return Record(state: state, kind: first?.kind, percent: mean)
    }

    /// The path of a run: its bot, then `JOB-N`, of what a path may hold.
    private static func id(of live: LiveState) -> String {
        [live.task.botID, live.task.run].map { name in
            let part = name.utf8.prefix(32).map { byte -> UInt8 in
                let isLetter = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                return isLetter || "_.+-".utf8.contains(byte) ? byte : UInt8(ascii: "-")
            }
            return part.isEmpty ? "-" : String(decoding: part, as: UTF8.self)
        }.joined(separator: "/")
    }

    private static func sequence(_ record: Record, id: String?, title: String?) -> [UInt8] {
        var pairs = ["state=\(record.state)"]
        if let id { pairs.append("id=\(id)") } else { pairs.append("app=belfry") }
        if let kind = record.kind { pairs.append("kind=\(kind)") }
        if let percent = record.percent { pairs.append("progress=\(percent)") }
        if let title { pairs += coded("title", CleanText.line(title, limit: 80), limit: 192) }
        if let message = record.message {
            pairs += coded("msg", CleanText.line(message, limit: 200), limit: messageBytes)
        }
        return Array("\u{1B}]7501;\(pairs.joined(separator: ":"))\u{1B}\\".utf8)
    }

    private static func coded(_ key: String, _ text: String, limit: Int) -> [String] {
        var text = text
        while text.utf8.count > limit { text.removeLast() }
        return text.isEmpty ? [] : ["\(key)=\(Base64.encode(Array(text.utf8)))"]
    }
}
