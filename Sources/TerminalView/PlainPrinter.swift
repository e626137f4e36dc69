package import Timeline
package import Tracking

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
