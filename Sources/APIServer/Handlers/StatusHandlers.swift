import API
import Delivery
import Engine
import Ledger
import Timeline

extension DaemonHandler {
    func status() async throws(APIError) -> WireStatus {
        let engine = try await asking(await control.status())
        var status = WireStatus(
            version: identity.version, pid: identity.pid, since: Timestamp(engine.since),
            config: engine.configuration ?? control.files.path, state: identity.state)
        status.uptimeMs = engine.uptime.milliseconds
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
            pending: [.pending, .waiting, .held].reduce(0) { $0 + (engine.outbox[$1] ?? 0) },
            dead: engine.outbox[.dead] ?? 0)
        status.channels = engine.channels.map { WireChannel($0.channel, $0.health) } + leftOutChannels
        let speakers = control.activeConfiguration.configuration.speakers
        status.bots = try await bots(as: engine.bots).filter { speakers.contains($0.name) }.map {
            WireBotState(name: $0.name, status: $0.status ?? "", since: $0.since, reason: $0.reason)
        }
        status.problems = engine.problems.map {
            WireProblem(
                kind: $0.kind, message: $0.message, hint: $0.hint,
                severity: $0.isWarning ? .warning : .problem)
        }
        return status
    }

    /// The daemon is ready when its jobs are loaded, and the ledger and the warden respond.
    func readiness() async throws(APIError) -> String {
        guard control.loading.isDone else { throw APIError(.starting) }
        _ = try await reading(await control.ledger.lastEvent())
        guard await control.runs.wardenProcess != nil, await !control.runs.isWardenSilent else {
            throw APIError(.wardenAway)
        }
        return "ready\n"
    }

    func configuration() async throws(APIError) -> WireConfig {
        let configuration = control.activeConfiguration.configuration
        var wire = WireConfig(file: configuration.path, zone: configuration.zone)
        wire.bots = try await bots()
        wire.jobs = try await jobsOfFiles()
        wire.channels = configuration.channels.map { WireChannel($0, control.channels[$0.name]) }
        wire.routes = configuration.routing.routes.map {
            var route = WireRoute(when: $0.when.map(\.rawValue).sorted(), to: $0.to)
            route.match = $0.about.isEmpty ? nil : $0.about.map(\.text)
            route.during = $0.during?.texts
            return route
        }
        if configuration.routing.isDefault { wire.routes[0].isDefault = true }
        return wire
    }

    func reload() async throws(APIError) -> WireReloadDifference {
        let jobs: JobDifference
        do {
            jobs = try await control.reload()
        } catch let error as EngineError {
            throw APIError(error)
        } catch let refusal as ReloadRefusal {
            throw APIError(refusal)
        } catch {
            throw APIError(.badConfig, "\(error)")
        }
        var difference = WireReloadDifference()
        difference.jobs = WireChanges(
            added: jobs.added.sorted(), changed: jobs.changed.sorted(), removed: jobs.removed.sorted())
        difference.bots = WireChanges(jobs.others.bots)
        difference.channels = WireChanges(jobs.others.channels)
        difference.routes = jobs.others.parts.contains("routes")
        let parts = jobs.others.parts.filter { $0 != "routes" }
        if !parts.isEmpty { difference.parts = parts }
        if !jobs.warnings.isEmpty { difference.warnings = jobs.warnings }
        return difference
    }

    /// Channels of the files that could not be used at the start.
    var leftOutChannels: [WireChannel] {
        control.activeConfiguration.configuration.leftOut.compactMap { part in
            guard let (name, kind) = part.channel else { return nil }
            var channel = WireChannel(name: name, kind: kind.rawValue, state: "leftOut")
            channel.lastError = part.reason
            return channel
        }
    }

}

extension WireChanges {
    fileprivate init(_ names: ConfigurationDifference.Names) {
        self.init(added: names.added, changed: names.changed, removed: names.removed)
    }
}

extension WireChannel {
    /// The channel with what is known of its health.
    init(_ channel: any Channel, _ health: ChannelBoard.Health?) {
        self.init(name: channel.name, kind: channel.kind.rawValue, state: health?.state.rawValue ?? "untried")
        since = Timestamp(health?.since)
        lastError = health?.lastError
        hasOutbox = !channel.kind.isLevel
    }
}
