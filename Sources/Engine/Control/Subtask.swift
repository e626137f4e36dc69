import Delivery
package import Ledger

/// Work that a bot hands to another one.
package struct Subtask: Hashable, Sendable {
    /// The id of the run that hands it out.
    let parent: String
    /// Names the call and the place in it: made again after a crash, it is handed out once.
    let call: String
    /// The bot that hands it out.
    let asker: String
    let prompt: String

    package init(parent: String, call: String, by asker: String, _ prompt: String) {
        (self.parent, self.call, self.asker, self.prompt) = (parent, call, asker, prompt)
    }

    /// A run of it is tried so often: one that ended with the daemon is asked again.
    private static let attempts = 4

    /// The name that the runs of a bot have which others ask for.
    package static func job(of bot: String) -> String { bot.prefix(53) + ".delegated" }

    /// The beginning of the causes of what a call hands out.
    package static func cause(_ call: String) -> String { RunRecord.delegated + call }

    fileprivate func spec(for bot: String) -> JobSpec {
        var spec = JobSpec(
            name: Self.job(of: bot), bot: bot, action: .prompt(prompt),
            schedule: ScheduleSpec(kind: .manual, text: "", zone: "UTC"))
        (spec.overlap, spec.notify) = (.queueAll, .never)
        (spec.attempts, spec.retriesLost, spec.backoff) = (Self.attempts, true, .seconds(1))
        return spec
    }
}

extension Control {
    /// Has a bot do a part of another one's work; asked for again, the run is the same.
    package func delegate(_ subtask: Subtask, to bot: String) async throws(EngineError) -> RunRecord {
        guard let profile = activeConfiguration.configuration.bots[bot] else { throw .noSuchBot(bot) }
        guard profile.contact != nil else { throw .silentBot(bot) }
        let request = RequestedRun(
            job: Subtask.job(of: bot), kind: .delegated, cause: Subtask.cause(subtask.call), force: true,
            spec: subtask.spec(for: bot))
        return try await run(request)
    }
}
