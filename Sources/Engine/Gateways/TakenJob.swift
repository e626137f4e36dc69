package import Ledger
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
