import API
import Delivery
import Engine
import Ledger
import Timeline

extension DaemonHandler {
    func status() async throws(APIError) -> APIResponse {
        let engine = try await asking { () async throws(EngineError) in try await control.status() }
        var status = WireStatus(
            version: identity.version, pid: identity.pid, since: Timestamp(engine.since),
            config: engine.configuration ?? control.configurationPath, state: identity.state)
        if let pid = engine.warden {
            status.warden = WireWarden(pid: pid, runs: await control.runs.count)
            status.warden?.directory = identity.wardenDirectory
        }
        status.jobs = engine.jobs
        status.running = engine.running
        status.queued = engine.queued
        status.nextAt = Timestamp(engine.next?.slot)
        status.nextJob = engine.next?.job
        status.tzdata = engine.tzdata
        status.outbox = WireOutboxCounts(
            pending: engine.outbox[.pending] ?? 0, dead: engine.outbox[.dead] ?? 0)
        status.channels = engine.channels.map { WireChannel($0.channel, $0.health) } + leftOutChannels
        status.problems = engine.problems.map {
            WireProblem(
                kind: $0.kind, message: $0.message, hint: $0.hint,
                severity: $0.isWarning ? .warning : .problem)
        }
        return .value(status)
    }

    /// Ready is who has its jobs in force, can read the ledger and reach the warden.
    func readiness() async throws(APIError) -> APIResponse {
        guard control.loading.isDone else { throw APIError(.starting) }
        _ = try await reading { () async throws(LedgerError) in try await control.ledger.lastEvent() }
        guard await control.runs.wardenProcess != nil, await !control.runs.isWardenSilent else {
            throw APIError(.wardenAway)
        }
        return .whole(status: 200, contentType: "text/plain", bytes: Array("ready\n".utf8))
    }

    func configuration() async throws(APIError) -> APIResponse {
        let configuration = control.switchboard.configuration
        var wire = WireConfig(file: configuration.path, zone: configuration.zone)
        wire.bots = try await allBots()
        wire.jobs = try await jobsOfFiles()
        wire.channels = configuration.channels.map { WireChannel($0, control.channels[$0.name]) }
        wire.routes = configuration.routing.routes.map {
            WireRoute(when: $0.when.map(\.rawValue).sorted(), to: $0.to)
        }
        return .value(wire)
    }

    func reload() async throws(APIError) -> APIResponse {
        let before = control.switchboard.configuration
        let jobs: Engine.ReloadDifference
        do {
            jobs = try await control.reload()
        } catch let error as EngineError {
            throw APIError(error)
        } catch let refusal as ReloadRefusal {
            throw APIError(refusal)
        } catch {
            throw APIError(.badConfig, "\(error)")
        }
        let after = control.switchboard.configuration
        var difference = API.ReloadDifference()
        difference.jobs = WireChanges(
            added: jobs.added.sorted(), changed: jobs.changed.sorted(), removed: jobs.removed.sorted())
        difference.bots = Self.changes(
            from: Set(before.bots.keys), to: Set(after.bots.keys),
            changed: before.bots.filter { after.bots[$0.key].map { $0 != before.bots[$0.name] } ?? false }
                .map(\.key))
        difference.channels = Self.changes(
            from: Set(before.channels.map(\.name)), to: Set(after.channels.map(\.name)), changed: [])
        difference.routes = before.routing != after.routing
        if !jobs.warnings.isEmpty { difference.warnings = jobs.warnings }
        return .value(difference)
    }

    /// Channels of the files that could not be used at the start.
    var leftOutChannels: [WireChannel] {
        control.switchboard.configuration.leftOut.compactMap { part in
            guard let (name, kind) = part.channel else { return nil }
            var channel = WireChannel(name: name, kind: kind.rawValue, state: "leftOut")
            channel.lastError = part.reason
            return channel
        }
    }

    private static func changes(from: Set<String>, to: Set<String>, changed: [String]) -> WireChanges {
        WireChanges(
            added: to.subtracting(from).sorted(), changed: changed.sorted(),
            removed: from.subtracting(to).sorted())
    }
}

extension WireChannel {
    /// The channel with what is known of its health.
    init(_ channel: any Channel, _ health: ChannelBoard.Health?) {
        self.init(name: channel.name, kind: channel.kind.rawValue, state: health?.state.rawValue ?? "untried")
        since = Timestamp(health?.since)
        lastError = health?.lastError
    }
}
