import API
import Engine
import Ledger
import OpenClaw
import Timeline

extension DaemonHandler {
    func gateway(of bot: String) async throws(APIError) -> WireGateway {
        WireGateway(bot, try await asking(await control.gatewayOverview(of: bot)))
    }

    func watchGateway(of bot: String, _ isOn: Bool) async throws(APIError) -> WireGateway {
        try await asking(await control.setGatewayWatch(isOn, of: bot))
        return try await gateway(of: bot)
    }

    func takeOver(_ bot: String, _ request: TakeOverRequest) async throws(APIError) -> WireJob {
        let spec = try JobSpec(request.draft, reading)
        try checkBot(of: request.draft)
        let record = try await asking(await control.takeOver(request.id, of: bot, as: spec))
        return try await saved(record.name)
    }

    func giveBack(_ bot: String, _ request: GiveBackRequest) async throws(APIError) {
        try await asking(await control.giveBack(request.id, of: bot))
    }
}

extension WireGateway {
    fileprivate init(_ bot: String, _ overview: GatewayOverview) {
        let taken = Dictionary(overview.taken.map { ($0.id, $0) }) { first, _ in first }
        let jobs = overview.look.jobs.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
        self.init(
            bot: bot, gateway: overview.place, version: overview.look.version,
            jobs: jobs.map { job in
                let alarms = overview.watch?.alarms(of: job.id) ?? []
                return WireGatewayJob(
                    job, alarms: alarms.map(\.rawValue).sorted(), taken[job.id]?.spec.name)
            })
        watchedSince = overview.watch.map { Timestamp($0.since ?? overview.look.at) }
    }
}

extension WireGatewayJob {
    fileprivate init(_ job: GatewayJob, alarms: [String], _ takenAs: String?) {
        self.init(
            id: job.id, name: job.name, enabled: job.isEnabled, known: job.isKnown,
            offsetMs: job.offset.milliseconds, alarms: alarms, whole: job.whole)
        nextAt = Timestamp(job.state.next)
        lastAt = Timestamp(job.state.lastRun)
        (lastStatus, lastError) = (job.state.lastStatus, job.state.lastError)
        self.takenAs = takenAs
    }
}
