package import Timeline
package import Tracking

/// The words for a run, the same in rows and in plain lines.
package enum RunWording {
    /// What the run does or waits for; empty when there is nothing to show.
    package static func detail(of live: LiveState, at now: Moment) -> String {
        let said = saying(of: live)
        switch live.state {
        case .running:
            guard live.isStale(at: now) else { return said }
            return joined("no report for \(DisplayDuration.text(now - live.updatedAt))", said)
        case .blocked:
            return joined(
                "waits for \(waitingFor(live.blockedKind))", CleanText.line(live.message ?? "", limit: 300))
        case .stalled:
            let reached = live.progress.map { " at \(percent($0))" } ?? ""
            return joined("stalled \(DisplayDuration.text(now - live.updatedAt))\(reached)", said)
        case .scheduled, .queued, .starting, .paused: return live.reason?.words ?? live.state.words
        case .completed, .failed, .canceled, .timedOut, .lost, .skipped, .missed: return outcome(of: live)
        }
    }

    /// How a run ended: `completed in 4m12s`, `failed after 12s: command not found`.
    ///
    /// - Parameters:
    ///   - live: its last state.
    ///   - detail: more detail than the reason's words, such as `exit code 3`; replaces them.
    /// - Returns: one line.
    package static func outcome(of live: LiveState, detail: String? = nil) -> String {
        var words = live.state.words
        if let startedAt = live.startedAt {
            let took = DisplayDuration.text(live.updatedAt - startedAt)
            words += live.state == .completed ? " in \(took)" : " after \(took)"
        }
        // A success by the exit code needs no words.
        let isSaid = live.state == .completed || live.reason?.rawValue == live.state.rawValue
        guard let why = detail ?? (isSaid ? nil : live.reason?.words) else { return words }
        return "\(words): \(CleanText.line(why, limit: 300))"
    }

    /// Phase and message as one text.
    package static func saying(of live: LiveState) -> String {
        joined(
            CleanText.line(live.phase ?? "", limit: 80), CleanText.line(live.message ?? "", limit: 300))
    }

    /// How long the attempt has been at it; `nil` when it did not start.
    package static func elapsed(of live: LiveState, at now: Moment) -> String? {
        guard live.state.isUnderWay, let startedAt = live.startedAt else { return nil }
        return DisplayDuration.text(now - startedAt)
    }

    /// Cut, not rounded: 100 % is shown when all is done and not before.
    package static func percent(_ progress: Double) -> String {
        "\(Int((min(max(progress, 0), 1) * 100 + 1e-9).rounded(.down)))%"
    }

    private static func waitingFor(_ kind: BlockedKind?) -> String {
        switch kind {
        case .permission: "permission"
        case .question, nil: "an answer"
        case .auth: "a login"
        }
    }

    private static func joined(_ first: String, _ second: String) -> String {
        if first.isEmpty { return second }
        return second.isEmpty || second == first ? first : "\(first): \(second)"
    }
}

/// Words for when a run will be done, no more certain than is known.
package enum FinishWording {
    /// The words for the time column.
    ///
    /// A narrow band is shown as a time (`3m left`, from 10 minutes on `done 14:35`), a wider one as a range
    /// (`2-5m left`), one wider than four times not at all. Without past runs there is no band, and the
    /// words begin with `~`. A run that takes longer than usual is shown as such.
    /// - Parameters:
    ///   - live: the run.
    ///   - now: the moment.
    ///   - zone: where the reader is.
    ///   - usual: how long the job usually takes at most, if that is known.
    /// - Returns: `nil` when nothing should be shown.
    package static func text(
        for live: LiveState, at now: Moment, zone: ZoneRules, usual: Duration? = nil
    ) -> String? {
        guard live.state == .running else { return nil }
        if let finish = live.finish, finish.at > now { return text(finish, at: now, zone: zone) }
        guard let usual, let startedAt = live.startedAt, now - startedAt > usual else { return nil }
        let elapsed = now - startedAt
        let parts = [usual, elapsed, elapsed - usual].map(DisplayDuration.text)
        return "usually \(parts[0]), now \(parts[1]) (+\(parts[2]))"
    }

    private static func text(_ finish: FinishTime, at now: Moment, zone: ZoneRules) -> String? {
        guard let low = finish.low, let high = finish.high else {
            return "~" + single(finish.at, at: now, zone: zone)
        }
        let least = max(low - now, .seconds(1))
        let most = max(high - now, least)
        let ratio = most / least
        if ratio <= 1.5 { return single(finish.at, at: now, zone: zone) }
        return ratio <= 4 ? range(least, most) : nil
    }

    private static func single(_ moment: Moment, at now: Moment, zone: ZoneRules) -> String {
        let left = moment - now
        // A time of day can't be distinguished from tomorrow's.
        guard (.seconds(600)..<Duration.seconds(43200)).contains(left) else {
            return DisplayDuration.text(DisplayDuration.rounded(left)) + " left"
        }
        let time = CivilTime(moment, in: zone)
        return "done \(time.hour < 10 ? "0" : "")\(time.hour):\(time.minute < 10 ? "0" : "")\(time.minute)"
    }

    /// Both ends in the unit of the later one.
    private static func range(_ least: Duration, _ most: Duration) -> String {
        let (low, high) = (least.components.seconds, most.components.seconds)
        let (unit, mark): (Int64, String) =
            switch high {
            case ..<120: (1, "s")
            case ..<7200: (60, "m")
            case ..<172_800: (3600, "h")
            default: (86400, "d")
            }
        return "\(max(1, low / unit))-\((high + unit - 1) / unit)\(mark) left"
    }
}

/// Durations as people read them beside a bar.
package enum DisplayDuration {
    /// At most two units, cut and not rounded: `42 s`, `3 min 12 s`, `1 h 5 min`, `2 d 3 h`.
    ///
    /// Less than a second and negative ones are `0 s`.
    package static func text(_ duration: Duration) -> String {
        duration < .seconds(1) ? "0 s" : duration.words
    }

    /// Rounded to what an estimate is worth: 5 s below a minute, 15 s below 5, a minute below an hour, then
    /// 5 minutes; never below 5 s.
    package static func rounded(_ duration: Duration) -> Duration {
        let seconds = max(0, duration.components.seconds)
        let step: Int64 =
            switch seconds {
            case ..<60: 5
            case ..<300: 15
            case ..<3600: 60
            default: 300
            }
        return .seconds(max(5, (seconds + step / 2) / step * step))
    }
}

/// The sign and colour in front of a row.
package struct StateMark: Hashable, Sendable {
    /// One cell; a symbol that no terminal draws as an emoji.
    package let glyph: String
    /// One ASCII character.
    package let ascii: String
    /// The colour of the sign.
    package let color: TerminalColor

    /// The mark of a state.
    package init(_ state: RunState) {
        (glyph, ascii, color) =
            switch state {
            case .scheduled, .queued, .starting: ("○", ".", .dim)
            case .running: ("●", ">", .cyan)
            case .blocked: ("◆", "?", .yellow)
            case .paused: ("‖", "=", .yellow)
            case .stalled: ("◌", "!", .yellow)
            case .completed: ("✓", "+", .green)
            case .failed, .timedOut, .lost: ("✗", "x", .red)
            case .canceled, .skipped, .missed: ("–", "-", .dim)
            }
    }
}
