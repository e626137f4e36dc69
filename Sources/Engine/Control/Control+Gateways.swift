import Delivery
package import Ledger
import Logging
package import OpenClaw
import Prompting
package import Timeline
import Tracking

/// A job of a gateway that Belfry runs in the gateway's place, or is about to.
///
/// Kept in the ledger from before the gateway is asked to disable it, so that a crash in between leaves it neither
/// running twice nor nowhere.
package struct TakenJob: Hashable, Sendable, Codable {
    /// How far that is.
    package enum State: String, Hashable, Sendable, Codable {
        /// The gateway is asked to disable it. Becomes `.taken`, or the row is removed.
        case begun
        /// Belfry runs it. Becomes `.returning`.
        case taken
        /// Belfry runs it no longer, and the gateway is asked to enable it. The row is removed then.
        case returning
    }

    /// What identifies it in the gateway.
    package var id: String
    /// What people call it there.
    package var name: String
    /// The bot that is asked in its place.
    package var bot: String
    package var state: State
    /// Since when.
    package var since: Moment
    /// The job that Belfry runs.
    package var spec: JobSpec
}

extension Ledger {
    /// The jobs of the gateway there that Belfry has taken over.
    package func takenJobs(of place: String) async throws(LedgerError) -> [TakenJob] {
        guard let text = try await fact(named: TakenJob.fact(of: place)) else { return [] }
        return (try? JSON.decode([TakenJob].self, from: text.utf8)) ?? []
    }
}

extension TakenJob {
    /// The change that keeps these as all that were taken over of the gateway there.
    static func change(_ jobs: [TakenJob], of place: String) -> Change {
        let bytes = (try? JSON.encode(jobs)) ?? []
        return .setFact(
            name: fact(of: place), value: jobs.isEmpty ? nil : String(decoding: bytes, as: UTF8.self))
    }

    static func fact(of place: String) -> String { "gateway.taken \(place)" }
}

/// What the daemon can have a gateway do; by itself there is none.
package struct GatewayAccess: Sendable {
    /// What is known of gateways.
    package let board: GatewayBoard
    /// Judges their jobs; nil: nobody does.
    package let keeper: GatewayKeeper?
    /// Looks at the jobs of the bot's gateway now.
    let look: @Sendable (_ bot: String) async throws(GatewayRefusal) -> GatewayLook
    /// Enables or disables a job there, which only its administrators may.
    let setEnabled: @Sendable (_ bot: String, GatewayJob, Bool) async throws(GatewayRefusal) -> Void
    /// One take-over at a time.
    let turnstile = Turnstile()

    package init(
        board: GatewayBoard, keeper: GatewayKeeper?,
        look: @escaping @Sendable (_ bot: String) async throws(GatewayRefusal) -> GatewayLook,
        setEnabled: @escaping @Sendable (_ bot: String, GatewayJob, Bool) async throws(GatewayRefusal) -> Void
    ) {
        (self.board, self.keeper, self.look, self.setEnabled) = (board, keeper, look, setEnabled)
    }

    /// No gateway can be asked.
    package static var none: GatewayAccess {
        GatewayAccess(
            board: GatewayBoard(), keeper: nil,
            look: { _ throws(GatewayRefusal) in throw GatewayRefusal("there is no gateway") },
            setEnabled: { _, _, _ throws(GatewayRefusal) in throw GatewayRefusal("there is no gateway") })
    }
}

/// Why a gateway did not do what it was asked.
package struct GatewayRefusal: Error, Hashable, Sendable {
    /// One sentence without a full stop.
    package var text: String
    /// What to do about it.
    package var hint: String?
    /// Whether it may have been done all the same: no answer came.
    package var isUnknown: Bool

    package init(_ text: String, hint: String? = nil, isUnknown: Bool = false) {
        (self.text, self.hint, self.isUnknown) = (text, hint, isUnknown)
    }
}

/// The jobs of a gateway, and what Belfry does about them.
package struct GatewayOverview: Sendable {
    /// The gateway's host and port.
    package var place: String
    package var look: GatewayLook
    /// How its jobs are judged; nil: it is not watched.
    package var watch: GatewayWatch?
    package var taken: [TakenJob]
}

extension Control {
    /// The jobs of the bot's gateway, as it shows them now.
    package func gatewayOverview(of bot: String) async throws(EngineError) -> GatewayOverview {
        let place = try gatewayPlace(of: bot)
        let look = try await asking { () async throws(GatewayRefusal) in try await gateways.look(bot) }
        gateways.board.note(look, of: place)
        return try await read { () async throws(LedgerError) in
            GatewayOverview(
                place: place, look: look, watch: try await gateways.keeper?.watch(at: place),
                taken: try await ledger.takenJobs(of: place))
        }
    }

    /// Watches the jobs of the bot's gateway from now on, or no longer.
    package func setGatewayWatch(_ isOn: Bool, of bot: String) async throws(EngineError) {
        let place = try gatewayPlace(of: bot)
        // Who wants to know of its jobs must be able to see them.
        if isOn { _ = try await gatewayOverview(of: bot) }
        try await read { () async throws(LedgerError) in
            try await gateways.keeper?.setWatch(isOn, at: place)
        }
    }

    /// Runs a job of the bot's gateway here from now on, and no longer there: it is disabled there first.
    ///
    /// `spec` is the job as Belfry runs it.
    package func takeOver(
        _ id: String, of bot: String, as spec: JobSpec
    ) async throws(EngineError) -> JobRecord {
        let place = try gatewayPlace(of: bot)
        return try await gateways.turnstile.pass { () async throws(EngineError) in
            let look = try await asking { () async throws(GatewayRefusal) in try await gateways.look(bot) }
            guard let job = look.jobs.first(where: { $0.id == id }) else { throw .noSuchGatewayJob(id) }
            guard job.isKnown else {
                throw .invalid(
                    "the gateway's job \"\(job.name)\" is of a kind that this version does not know")
            }
            let taken = try await takenJobs(of: place)
            if let other = taken.first(where: { $0.id == id }) {
                throw .gatewayJobTaken(job.name, as: other.spec.name)
            }
            guard job.isEnabled else {
                throw .invalid(
                    "the gateway's job \"\(job.name)\" is disabled, so there is nothing to take over")
            }
            try await checkAddition(of: spec)
            let begun = TakenJob(
                id: id, name: job.name, bot: bot, state: .begun, since: clock.now, spec: spec)
            try await commit([TakenJob.change(taken + [begun], of: place)])
            do throws(GatewayRefusal) {
                try await gateways.setEnabled(bot, job, false)
            } catch {
                // Where no answer came, the next look at the gateway decides.
                if !error.isUnknown { try await commit([TakenJob.change(taken, of: place)]) }
                throw .gateway(error.text, hint: error.hint)
            }
            return try await finishTaking(begun, job, at: place)
        }
    }

    /// Has the gateway run its job again, which is no longer run here.
    package func giveBack(_ id: String, of bot: String) async throws(EngineError) {
        let place = try gatewayPlace(of: bot)
        try await gateways.turnstile.pass { () async throws(EngineError) in
            let taken = try await takenJobs(of: place)
            guard let job = taken.first(where: { $0.id == id || $0.spec.name == id }) else {
                throw .noSuchGatewayJob(id)
            }
            try await returnJob(job, at: place)
        }
    }

    /// Finishes what was begun before a crash or a lost connection, as the gateway's jobs show what happened to it.
    package func settleTakenJobs() async throws(EngineError) {
        for entry in gateways.board.entries {
            guard entry.isOnline, let look = entry.look else { continue }
            try await gateways.turnstile.pass { () async throws(EngineError) in
                for job in try await takenJobs(of: entry.place) where job.state != .taken {
                    try await settle(job, look, at: entry.place)
                }
            }
        }
    }

    // MARK: Steps

    private func settle(_ job: TakenJob, _ look: GatewayLook, at place: String) async throws(EngineError) {
        // What was begun after the look is not shown by it.
        guard look.at > job.since else { return }
        let listed = look.jobs.first { $0.id == job.id }
        switch (job.state, listed) {
        case (.taken, _): return
        case (_, nil): try await forget(job, at: place)
        case (.begun, let listed?) where listed.isEnabled: try await forget(job, at: place)
        case (.begun, let listed?): _ = try await finishTaking(job, listed, at: place)
        case (.returning, let listed?) where listed.isEnabled: try await forget(job, at: place)
        case (.returning, _?): try await returnJob(job, at: place)
        }
    }

    /// Adds the job here in one transaction with the note that it is taken; where that fails the gateway runs it again.
    private func finishTaking(
        _ begun: TakenJob, _ job: GatewayJob, at place: String
    ) async throws(EngineError) -> JobRecord {
        var done = begun
        (done.state, done.since) = (.taken, clock.now)
        let others = try await takenJobs(of: place).filter { $0.id != begun.id }
        do throws(EngineError) {
            let records = try await slots.change(
                [.add(begun.spec, origin: .imported)],
                events: [
                    news("takenOver", "is run by Belfry now, as \(begun.spec.name)", of: done, at: place)
                ],
                with: [TakenJob.change(others + [done], of: place)])
            guard let record = records.first else { throw .stopping }
            return record
        } catch {
            let refusal = error
            do throws(GatewayRefusal) {
                try await gateways.setEnabled(begun.bot, job, true)
            } catch {
                logger.error(
                    "a job of a gateway is disabled there, and could not be added here",
                    metadata: ["gateway": "\(place)", "job": "\(begun.name)", "reason": "\(error.text)"])
                throw refusal
            }
            try await commit([TakenJob.change(others, of: place)])
            throw refusal
        }
    }

    /// Removes the job here first, so that it never runs in both places.
    private func returnJob(_ job: TakenJob, at place: String) async throws(EngineError) {
        var leaving = job
        (leaving.state, leaving.since) = (.returning, clock.now)
        let others = try await takenJobs(of: place).filter { $0.id != job.id }
        let kept = TakenJob.change(others + [leaving], of: place)
        if job.state == .taken, await slots.isJob(job.spec.name) {
            _ = try await slots.change([.remove(job.spec.name)], events: [], with: [kept])
        } else {
            try await commit([kept])
        }
        let look = try await asking { () async throws(GatewayRefusal) in try await gateways.look(job.bot) }
        if let listed = look.jobs.first(where: { $0.id == job.id }), !listed.isEnabled {
            try await asking { () async throws(GatewayRefusal) in
                try await gateways.setEnabled(job.bot, listed, true)
            }
        }
        try await commit([
            TakenJob.change(others, of: place),
            .append(news("givenBack", "is run by the gateway again", of: job, at: place)),
        ])
    }

    private func forget(_ job: TakenJob, at place: String) async throws(EngineError) {
        let others = try await takenJobs(of: place).filter { $0.id != job.id }
        try await commit([TakenJob.change(others, of: place)])
    }

    private func news(_ reason: String, _ words: String, of job: TakenJob, at place: String) -> NewEvent {
        NewEvent(
            .gatewayJob(
                Fact.GatewayJob(
                    bot: job.bot, job: job.id, reason: reason,
                    Fact.GatewayJob.Payload(gateway: place, name: job.name, message: words))),
            at: clock.now)
    }

    private func takenJobs(of place: String) async throws(EngineError) -> [TakenJob] {
        try await read { () async throws(LedgerError) in try await ledger.takenJobs(of: place) }
    }

    private func gatewayPlace(of bot: String) throws(EngineError) -> String {
        guard let profile = activeConfiguration.configuration.bots[bot] else { throw .noSuchBot(bot) }
        guard let gateway = profile.contact?.gateway else {
            throw .invalid("bot \"\(bot)\" is not behind an OpenClaw gateway")
        }
        return gateway.place
    }

    private func asking<Value: Sendable>(
        _ body: () async throws(GatewayRefusal) -> Value
    ) async throws(EngineError) -> Value {
        do throws(GatewayRefusal) { return try await body() } catch {
            throw .gateway(error.text, hint: error.hint)
        }
    }
}
