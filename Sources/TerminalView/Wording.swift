package import Timeline
package import Tracking

/// The words for a run, the same in rows and in plain lines.
package enum RunWording {
    /// What the run does or waits for; empty when there is nothing to show.
    package static func detail(of live: LiveState, at now: Moment) -> String {
        let said = saying(of: live)
        switch live.state {
        case .running:
            guard live.isStale(at: now) else { return amounts(live.amount, said) }
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
        // What never began said nothing itself: the message is Belfry's explanation.
        let isExplained = live.startedAt == nil && [.failed, .lost].contains(live.state)
        let more = isExplained ? live.message.map(MissingProgram.headline) : nil
        let reason = detail ?? (isSaid ? nil : live.reason?.words)
        // A message that names the missing program says it all.
        let why = more != nil && (live.reason == .notFound || more == reason) ? nil : reason
        return ([words] + [why, more].compactMap { $0.map { CleanText.line($0, limit: 300) } })
            .joined(separator: ": ")
    }

    /// Phase and message as one text.
    package static func saying(of live: LiveState) -> String {
        LiveState.saying(
            phase: CleanText.line(live.phase ?? "", limit: 80),
            message: CleanText.line(live.message ?? "", limit: 300))
    }

    /// Cut, not rounded: 100 % is shown when all is done and not before.
    package static func percent(_ progress: Double) -> String {
        String(Int((min(max(progress, 0), 1) * 100 + 1e-9).rounded(.down))) + "%"
    }

    /// `6/12 files, copying`, `34 MB/s, a.txt`: amounts whose unit is known, before the message.
    private static func amounts(_ amount: WorkAmount?, _ said: String) -> String {
        guard let amount, let unit = amount.unit else { return said }
        var words: String
        if unit == WorkAmount.bytes {
            guard let rate = amount.rate, rate >= 1 else { return said }
            words = "\(DisplayBytes.text(rate))/s"
        } else {
            // A job may count in halves.
            words =
                "\(whole(amount.done))/\(whole(amount.total)) \(CleanText.line(unit, limit: WorkAmount.unitLimit))"
        }
        return said.isEmpty ? words : "\(words), \(said)"
    }

    private static func whole(_ number: Double) -> String {
        Int64(exactly: number.rounded(.down)).map { "\($0)" } ?? "\(number)"
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

/// Words for how long a run still needs, no more certain than is known.
package enum FinishWording {
    /// The words for the time column: how long the run has been at it, and how long it still needs.
    ///
    /// `6 s, about 6 s left`, from 10 minutes on `12 min, done about 14:35`; `5 min, 9 to 14 min left` where past runs
    /// differ; `6 s so far` where nothing is known; `usually 4 min, now 6 min (+2 min)` once it takes longer than usual.
    /// - Returns: `nil` before it has started and after it has ended.
    package static func time(of live: LiveState, at now: Moment, zone: ZoneRules) -> String? {
        guard live.state.isUnderWay, let startedAt = live.startedAt else { return nil }
        let text = text(for: live, at: now, zone: zone)
        if let text, live.finish?.claim(at: now) == nil { return text }
        // The first second is no news.
        let elapsed = max(now - startedAt, .seconds(1)).words
        guard let text else { return elapsed + " so far" }
        var words = ""
        words.reserveCapacity(elapsed.utf8.count + 2 + text.utf8.count)
        words += elapsed
        words += ", "
        words += text
        return words
    }

    /// How long it still needs; by how much it is late once it has passed what is usual.
    ///
    /// - Parameters:
    ///   - live: the run.
    ///   - now: the moment.
    ///   - zone: where the reader is.
    /// - Returns: `nil` when nothing should be shown.
    package static func text(for live: LiveState, at now: Moment, zone: ZoneRules) -> String? {
        guard live.state == .running else { return nil }
        if let finish = live.finish, let claim = finish.claim(at: now) {
            return text(claim, finish, at: now, zone: zone)
        }
        guard let usual = live.usual, let startedAt = live.startedAt else { return nil }
        let elapsed = now - startedAt
        guard elapsed > usual else { return nil }
        let parts = [usual, elapsed, elapsed - usual].map(\.words)
        return "usually \(parts[0]), now \(parts[1]) (+\(parts[2]))"
    }

    private static func text(
        _ claim: FinishClaim, _ finish: FinishTime, at now: Moment, zone: ZoneRules
    ) -> String {
        let mark: String
        switch claim {
        case .about: mark = "about "
        case .roughly: mark = "~"
        case .between: return claim.words
        }
        // A time of day can't be distinguished from tomorrow's.
        guard (.seconds(600)..<Duration.seconds(43200)).contains(finish.at - now) else { return claim.words }
        let time = CivilTime(finish.at, in: zone)
        return "done " + mark + two(time.hour) + ":" + two(time.minute)
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0" + String(number) : String(number) }
}

/// Durations as people read them beside a bar.
package enum DisplayDuration {
    /// At most two units, cut and not rounded: `42 s`, `3 min 12 s`, `1 h 5 min`, `2 d 3 h`.
    ///
    /// Less than a second and negative ones are `<1 s`.
    package static func text(_ duration: Duration) -> String {
        duration < .seconds(1) ? "<1 s" : duration.words
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

/// Moments as people read them on a terminal; programs get ISO 8601.
package enum DisplayTime {
    /// `Mon 23 Nov 03:00 (+01:00)`: with seconds where there are any, with the year where it is not that of `now`.
    package static func full(_ moment: Moment, in zone: ZoneRules, at now: Moment) -> String {
        let local = CivilTime(moment, in: zone)
        return "\(day(local, at: now, in: zone)) \(clock(local)) (\(offset(moment, in: zone)))"
    }

    /// For a column: `03:00:05` on the day of `now`, `Mon 23 Nov 03:00` on another one.
    package static func short(_ moment: Moment, in zone: ZoneRules, at now: Moment) -> String {
        let local = CivilTime(moment, in: zone)
        guard local.date == CivilTime(now, in: zone).date else {
            return "\(day(local, at: now, in: zone)) \(two(local.hour)):\(two(local.minute))"
        }
        return "\(two(local.hour)):\(two(local.minute)):\(two(local.second))"
    }

    /// The time of day alone: `03:00`.
    package static func clock(_ moment: Moment, in zone: ZoneRules) -> String {
        let local = CivilTime(moment, in: zone)
        return "\(two(local.hour)):\(two(local.minute))"
    }

    /// `Mon 23`.
    static func day(_ date: CivilDate) -> String { "\(weekdays[date.weekday]) \(date.day)" }

    /// `+01:00`.
    package static func offset(_ moment: Moment, in zone: ZoneRules) -> String {
        let seconds = zone.offsetSeconds(at: moment)
        let size = abs(seconds)
        let rest = size % 60 == 0 ? "" : ":\(two(size % 60))"
        return "\(seconds < 0 ? "-" : "+")\(two(size / 3600)):\(two(size / 60 % 60))\(rest)"
    }

    private static func day(_ local: CivilTime, at now: Moment, in zone: ZoneRules) -> String {
        let date = local.date
        let year = date.year == CivilTime(now, in: zone).date.year ? "" : " \(date.year)"
        return "\(weekdays[date.weekday]) \(date.day) \(months[date.month - 1])\(year)"
    }

    private static func clock(_ local: CivilTime) -> String {
        "\(two(local.hour)):\(two(local.minute))" + (local.second == 0 ? "" : ":\(two(local.second))")
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

/// Amounts of bytes for people, in powers of a thousand: `34 MB`, `1.2 GB`, `640 kB`.
package enum DisplayBytes {
    /// Rounded; a value below ten has one decimal, except for single bytes.
    package static func text(_ bytes: Double) -> String {
        var (value, index) = (max(0, bytes.isFinite ? bytes : 0), 0)
        while value >= 999.5, index < units.count - 1 {
            value /= 1000
            index += 1
        }
        if index > 0, value < 9.95 {
            let tenths = Int64((value * 10).rounded())
            return "\(tenths / 10).\(tenths % 10) \(units[index])"
        }
        return "\(Int64(min(value.rounded(), 1e15))) \(units[index])"
    }

    private static let units = ["B", "kB", "MB", "GB", "TB", "PB"]
}
