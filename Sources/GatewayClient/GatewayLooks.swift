import Crypto
package import OpenClaw
import Timeline
import Tracking

extension GatewayLink {
    /// How many pages of jobs are read at most.
    private static let pages = 50

    /// What the gateway's scheduler shows now; `removed` are the jobs that it reported as removed.
    ///
    /// - Throws: ``CallFailure/timedOut`` also where the list changes under each attempt to read it whole.
    package func look(removed: Set<String> = []) async throws(CallFailure) -> GatewayLook {
        let began = clock.now
        for _ in 0..<3 {
            guard let jobs = try await allJobs() else { continue }
            let log = try await call(.cronRuns(limit: 200))
            let runs = (log["entries"]?.elements ?? []).compactMap { GatewayRun($0) }
            return GatewayLook(
                at: began, jobs: jobs, runs: runs, removed: removed, version: hello?.version ?? 4)
        }
        throw .timedOut
    }

    /// All jobs; nil: somebody added or removed some meanwhile.
    private func allJobs() async throws(CallFailure) -> [GatewayJob]? {
        var jobs: [GatewayJob] = []
        var offset = 0
        for _ in 0..<Self.pages {
            let page = try await call(.cronJobs(from: offset))
            let found = page["jobs"]?.elements ?? []
            jobs += found.compactMap { GatewayJob($0) }.map { job in
                var job = job
                job.offset = StaggerOffset.of(job.id, within: job.stagger)
                return job
            }
            offset += found.count
            let total = page["total"]?.int ?? offset
            guard page["hasMore"] == .bool(true), !found.isEmpty else {
                return offset == total && Set(jobs.map(\.id)).count == jobs.count ? jobs : nil
            }
        }
        return nil
    }

    /// Enables or disables a job; needs the scope of administrators.
    package func setEnabled(_ isEnabled: Bool, _ job: GatewayJob) async throws(CallFailure) {
        let revision = (hello?.version ?? 3) >= 4 ? job.revision : nil
        _ = try await call(.cronUpdate(job.id, ["enabled": .bool(isEnabled)], revision: revision))
    }
}

/// By how much a gateway moves the runs of one job, so that not all of them begin in one second.
///
/// - Source: openclaw.md 8.2; the vectors in the tests are the gateway's own.
package enum StaggerOffset {
    /// The first four bytes of the SHA-256 of the job's id, modulo the largest delay in milliseconds.
    package static func of(_ job: String, within stagger: Duration) -> Duration {
        let limit = stagger.milliseconds
        guard limit > 0 else { return .zero }
        let number = SHA256.hash(data: Array(job.utf8)).prefix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return .milliseconds(number % limit)
    }
}
