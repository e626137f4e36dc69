package import Timeline
package import Tracking

/// What is said of a run in words, the same in rows and in plain lines.
package enum RunWording {
    /// What the run does or waits for; empty when there is nothing to say.
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
    ///   - detail: says more than the reason's words would, such as `exit code 3`, and stands for them.
    /// - Returns: one line.
    package static func outcome(of live: LiveState, detail: String? = nil) -> String {
        var words = live.state.words
        if let startedAt = live.startedAt {
            let took = DisplayDuration.text(live.updatedAt - startedAt)
            words += live.state == .completed ? " in \(took)" : " after \(took)"
        }
        // That it ended well by its exit code is nothing to say.
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

    /// Cut, not rounded: 100 % is said when all is done and not before.
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
