import Foundation
import Synchronization
package import Tracking

// The scheduler of the emulated gateway: its jobs are what tests put there, and what clients change.
extension GatewayEmulator {
    /// Puts a job there, as its list shows it; one of the same id takes its place.
    package func put(job text: String) {
        guard let job = JSON(parsing: Array(text.utf8)[...]), let id = job["id"]?.text else { return }
        state.withLock { state in
            state.jobs.removeAll { $0["id"]?.text == id }
            state.jobs.append(job)
        }
    }

    /// Puts a finished run into its log, as that shows it.
    package func log(run text: String) {
        guard let run = JSON(parsing: Array(text.utf8)[...]) else { return }
        state.withLock { $0.log.append(run) }
    }

    /// Loses a job without a word, as an upgrade that fails.
    package func lose(job id: String) {
        state.withLock { state in state.jobs.removeAll { $0["id"]?.text == id } }
    }

    /// The job of that id.
    package func job(_ id: String) -> JSON? {
        state.withLock { state in state.jobs.first { $0["id"]?.text == id } }
    }

    /// Reports an action of a job to all clients.
    package func report(_ action: String, of job: String) {
        broadcast("cron", .object(["jobId": .string(job), "action": .string(action)]))
    }

    /// What a method of the scheduler answers; nil: it refuses, for there is no such job.
    func schedule(_ method: String, _ params: JSON) -> JSON? {
        let id = params["id"]?.text ?? params["jobId"]?.text ?? ""
        switch method {
        case "cron.status":
            return .object([
                "enabled": .bool(true), "storePath": .string("/x"),
                "jobs": .int(state.withLock { $0.jobs.count }), "nextWakeAtMs": .null,
            ])
        case "cron.list":
            let showsAll = params["includeDisabled"] == .bool(true)
            let jobs = state.withLock(\.jobs).filter { showsAll || $0["enabled"] != .bool(false) }
            return page(jobs, "jobs", params)
        case "cron.runs":
            let runs = state.withLock(\.log).filter { id.isEmpty || $0["jobId"]?.text == id }
            return page(runs.reversed(), "entries", params)
        case "cron.get": return job(id)
        case "cron.add": return add(params)
        case "cron.update": return update(id, params)
        case "cron.remove":
            let isThere = job(id) != nil
            lose(job: id)
            if isThere { report("removed", of: id) }
            return .object(["ok": .bool(true), "removed": .bool(isThere)])
        case "cron.run":
            guard job(id) != nil else { return nil }
            return .object(["ok": .bool(true), "enqueued": .bool(true), "runId": .string("manual:\(id):1:1")])
        default: return nil
        }
    }

    private func page(_ all: [JSON], _ name: String, _ params: JSON) -> JSON {
        let (offset, limit) = (params["offset"]?.int ?? 0, params["limit"]?.int ?? 50)
        let isEndless = state.withLock(\.manner.repeatsPages)
        let shown = Array(all.dropFirst(isEndless ? 0 : offset).prefix(limit))
        let end = isEndless ? 0 : offset + shown.count
        return .members([
            .init(name, .array(shown)), .init("total", .int(all.count)), .init("offset", .int(offset)),
            .init("limit", .int(limit)), .init("hasMore", .bool(end < all.count)),
            .init("nextOffset", end < all.count ? .int(end) : .null),
        ])
    }

    private func add(_ params: JSON) -> JSON {
        var job = params
        let id = UUID().uuidString.lowercased()
        job["id"] = .string(id)
        job["enabled"] = params["enabled"] ?? .bool(true)
        job["createdAtMs"] = .int(state.withLock(\.clock))
        job["updatedAtMs"] = .int(state.withLock(\.clock))
        job["state"] = .members([])
        state.withLock { $0.jobs.append(job) }
        report("added", of: id)
        return job
    }

    private func update(_ id: String, _ params: JSON) -> JSON? {
        guard var job = job(id), case .members(let patch)? = params["patch"] else { return nil }
        if let expected = params["expectedConfigRevision"], expected != job["configRevision"] { return nil }
        for member in patch { job[member.name] = member.value }
        if case .string(let revision)? = job["configRevision"] {
            job["configRevision"] = .string(revision + "+")
        }
        state.withLock { state in
            if let place = state.jobs.firstIndex(where: { $0["id"]?.text == id }) { state.jobs[place] = job }
        }
        report("updated", of: id)
        return job
    }
}
