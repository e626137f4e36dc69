package import Timeline
package import Tracking

/// Turns frames into the bytes that make a terminal show them, and no more bytes than that takes.
///
/// Below the last row the cursor waits on an empty line, so that whatever else is printed, and the shell's
/// prompt after a kill, comes after the frame. The cursor is hidden and shown within each buffer: no kill
/// can leave it hidden. Each buffer is meant for one write.
///
/// - Source: xterm's control sequences; `?2026` is the synchronized output that many terminals know and
///   the others ignore.
package struct TerminalPainter: Sendable {
    static let begin = Array("\u{1B}[?25l\u{1B}[?2026h".utf8)
    static let end = Array("\u{1B}[?2026l\u{1B}[?25h".utf8)
    static let clearBelow = Array("\u{1B}[J".utf8)
    static let clearRest = Array("\u{1B}[K".utf8)

    private let reflows: Bool
    private var shown: [FrameLine] = []
    private var size: TerminalSize?

    /// A painter of a terminal on which nothing is shown yet.
    package init(_ traits: TerminalTraits) {
        reflows = traits.reflows
    }

    /// Makes the terminal show `frame`.
    ///
    /// - Parameters:
    ///   - frame: what to show, made for `size`.
    ///   - permanent: lines that scroll out above the frame and stay there.
    ///   - size: the terminal as it is now. When it changed, the old rows may have been rewrapped, and
    ///     everything is drawn again.
    /// - Returns: the bytes to write; none when the frame is shown already.
    package mutating func paint(
        _ frame: Frame, after permanent: [FrameLine] = [], size: TerminalSize
    ) -> [UInt8] {
        defer {
            shown = frame.lines
            self.size = size
        }
        if permanent.isEmpty, size == self.size ?? size { return changes(to: frame.lines) }
        var bytes = Self.begin
        up(height(at: size), &bytes)
        bytes += Self.clearBelow
        for line in permanent + frame.lines { Self.put(line, &bytes) }
        return bytes + Self.end
    }

    /// The bytes that take the frame away, with `permanent` lines in its place.
    package mutating func erase(leaving permanent: [FrameLine] = [], size: TerminalSize) -> [UInt8] {
        guard !shown.isEmpty || !permanent.isEmpty else { return [] }
        var bytes = Self.begin
        up(height(at: size), &bytes)
        bytes += Self.clearBelow
        for line in permanent { Self.put(line, &bytes) }
        shown = []
        return bytes + Self.end
    }

    /// Only the rows that differ, each reached from the one before.
    private func changes(to lines: [FrameLine]) -> [UInt8] {
        var same = 0
        while same < min(lines.count, shown.count), lines[same] == shown[same] { same += 1 }
        guard same < max(lines.count, shown.count) else { return [] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lines[same...].reduce(64) { $0 + $1.bytes.count + 16 })
        bytes += Self.begin
        var row = shown.count
        for index in same..<max(same, lines.count)
        where index == same || index >= shown.count || lines[index] != shown[index] {
            let line = lines[index]
            if index < shown.count {
                move(from: row, to: index, &bytes)
                bytes += line.bytes
                bytes += Self.clearRest
                bytes += [0x0D, 0x0A]
            } else {
                move(from: row, to: index, &bytes)
                Self.put(line, &bytes)
            }
            row = index + 1
        }
        move(from: row, to: lines.count, &bytes)
        if lines.count < shown.count { bytes += Self.clearBelow }
        return bytes + Self.end
    }

    /// The rows the old frame takes at the width the terminal has now.
    func height(at size: TerminalSize) -> Int {
        guard reflows else { return shown.count }
        return shown.reduce(0) { $0 + max(1, ($1.cells + size.columns - 1) / size.columns) }
    }

    private func move(from row: Int, to target: Int, _ bytes: inout [UInt8]) {
        if target < row {
            up(row - target, &bytes)
        } else if target > row {
            bytes += Array("\u{1B}[\(target - row)B".utf8)
        }
    }

    private func up(_ count: Int, _ bytes: inout [UInt8]) {
        bytes.append(0x0D)
        if count > 0 { bytes += Array("\u{1B}[\(count)A".utf8) }
    }

    private static func put(_ line: FrameLine, _ bytes: inout [UInt8]) {
        bytes += line.bytes
        bytes += [0x0D, 0x0A]
    }
}

/// Shows all runs together in the terminal's tab or task bar.
///
/// Some terminals remove a bar that is not refreshed for 15 s, so it is repeated every 10 s. A program that ends
/// the program, also by a signal, writes ``clear``.
///
/// - Source: ConEmu, OSC 9;4. Ends in ST and never in BEL: VTE ignores the latter form.
package struct TaskbarProgress: Sendable {
    /// The bytes that take the bar away.
    package static let clear = bytes(0, nil)
    /// How often the bar is repeated.
    package static let heartbeat = Duration.seconds(10)

    private struct Shown: Hashable {
        var state: Int
        var percent: Int?
    }

    private var shown: Shown?
    private var saidAt = Moment.distantPast

    /// Nothing is shown yet.
    package init() {}

    /// The bytes to write for the runs as they are; none when nothing changed and no heartbeat is due.
    package mutating func update(_ runs: [LiveState], at now: Moment) -> [UInt8] {
        let next = Self.summary(runs)
        guard next != shown || (next != nil && now - saidAt >= Self.heartbeat) else { return [] }
        let wasShown = shown != nil
        shown = next
        saidAt = now
        guard let next else { return wasShown ? Self.clear : [] }
        return Self.bytes(next.state, next.percent)
    }

    /// Yellow while a run waits for a person or is stuck, else normal with the mean of what is known, else
    /// busy.
    private static func summary(_ runs: [LiveState]) -> Shown? {
        let alive = runs.filter { $0.state.isUnderWay }
        guard !alive.isEmpty else { return nil }
        let known = alive.compactMap(\.progress)
        let mean = known.isEmpty ? nil : Int(known.reduce(0, +) / Double(known.count) * 100 + 1e-9)
        if alive.contains(where: { $0.state != .running && $0.state != .starting }) {
            return Shown(state: 4, percent: mean ?? 0)
        }
        return mean.map { Shown(state: 1, percent: $0) } ?? Shown(state: 3, percent: nil)
    }

    private static func bytes(_ state: Int, _ percent: Int?) -> [UInt8] {
        Array("\u{1B}]9;4;\(state)\(percent.map { ";\($0)" } ?? "")\u{1B}\\".utf8)
    }
}

/// Decides which changes of which runs deserve a line, where nothing can be redrawn.
///
/// A run is printed when it starts, when its state or phase changes, when it is first known how long it still needs,
/// and in between when it got on by 10 % or a minute passed. A log of a thousand percents helps nobody. For a screen reader each run that is at work
/// is printed again every 30 s.
package struct PlainPrinter: Sendable {
    private struct Printed {
        var live: LiveState
        var at: Moment
        /// Whether any line said how long it still needs.
        var hasFinish: Bool
    }

    private static let leastStep = 0.1
    private static let leastWait = Duration.seconds(60)
    private static let endedKept = 256
    private static let spokenWait = Duration.seconds(30)

    private let isAccessible: Bool
    private let zone: ZoneRules
    private var printed: [String: Printed] = [:]
    private var latest: [String: LiveState] = [:]
    /// Runs that ended, so that an end that arrives twice is printed once; the oldest are forgotten.
    private var ended: [String] = []

    /// A printer that has printed nothing yet.
    ///
    /// - Parameters:
    ///   - traits: the output it is for.
    ///   - zone: where the reader is; times are printed in that zone.
    package init(_ traits: TerminalTraits, zone: ZoneRules) {
        isAccessible = traits.isAccessible
        self.zone = zone
    }

    /// The line for a new state of a run, without a line end, or `nil` when it is not worth one.
    ///
    /// States that are older than one seen before are dropped. `detail` explains an end, or what it waits for, better
    /// than its reason does, such as `exit code 3`.
    package mutating func line(for live: LiveState, at now: Moment, detail: String? = nil) -> String? {
        let id = live.task.id
        if let seen = latest[id], live.order <= seen.order { return nil }
        guard !ended.contains(id) else { return nil }
        latest[id] = live
        guard deserves(live, after: printed[id], at: now) else { return nil }
        let hasFinish = printed[id]?.hasFinish ?? false || knowsFinish(live, at: now)
        printed[id] = Printed(live: live, at: now, hasFinish: hasFinish)
        if live.state.isEnded { forget(id) }
        return text(live, at: now, detail)
    }

    /// The lines due because time passed; only for a screen reader, and only of runs at work.
    package mutating func linesDue(at now: Moment) -> [String] {
        guard isAccessible else { return [] }
        var lines: [String] = []
        for (id, last) in printed.sorted(by: { $0.key < $1.key }) {
            guard let live = latest[id], live.state.isUnderWay, now - last.at >= Self.spokenWait else {
                continue
            }
            printed[id]?.at = now
            lines.append(spoken(live, at: now))
        }
        return lines
    }

    private mutating func forget(_ id: String) {
        printed[id] = nil
        latest[id] = nil
        ended.append(id)
        if ended.count > Self.endedKept { ended.removeFirst() }
    }

    private func deserves(_ live: LiveState, after last: Printed?, at now: Moment) -> Bool {
        guard let last else { return true }
        if live.state != last.live.state || live.attempt != last.live.attempt { return true }
        if live.blockedKind != last.live.blockedKind || live.phase != last.live.phase { return true }
        if now - last.at >= Self.leastWait { return true }
        if !last.hasFinish, knowsFinish(live, at: now) { return true }
        // Printed with nothing known counts as 0.
        return (live.progress ?? 0) - (last.live.progress ?? 0) >= Self.leastStep - 1e-9
    }

    private func knowsFinish(_ live: LiveState, at now: Moment) -> Bool {
        live.state == .running && live.finish?.claim(at: now) != nil
    }

    private func text(_ live: LiveState, at now: Moment, _ more: String?) -> String {
        var words = live.state.isEnded ? [] : [live.state.words]
        if live.state == .running, let progress = live.progress { words = [RunWording.percent(progress)] }
        let detail =
            live.state.isEnded
            ? RunWording.outcome(of: live, detail: more) : more ?? RunWording.detail(of: live, at: now)
        if !detail.isEmpty, detail != live.state.words { words.append(detail) }
        if let finish = FinishWording.text(for: live, at: now, zone: zone) { words.append(finish) }
        return "\(now.wholeSecond.iso8601(in: zone)) \(name(live)) \(words.joined(separator: ", "))"
    }

    private func spoken(_ live: LiveState, at now: Moment) -> String {
        var words = ["\(name(live))"]
        if let progress = live.progress { words.append(RunWording.percent(progress)) }
        if let seconds = live.secondsRemaining(at: now) {
            let minutes = (seconds + 59) / 60
            words.append("about \(minutes) \(minutes == 1 ? "minute" : "minutes") left")
        }
        let lead = live.state == .running ? "still working" : "still \(live.state.words)"
        return "\(lead): \(words.joined(separator: ", "))"
    }

    private func name(_ live: LiveState) -> String { CleanText.line(live.task.run, limit: 80) }
}

extension Moment {
    fileprivate var wholeSecond: Moment { Moment(seconds: seconds) }
}
