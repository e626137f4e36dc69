import Engine
import Host
import Logging

/// Follows the kernel's reports of addresses and routes.
///
/// Only a hint that comes early: where a sandbox or another system has no such reports, channels are tried at their times.
struct NetworkWatch {
    let keeper: NetworkKeeper
    let logger: Logger

    /// Watches until cancelled.
    func run() async throws {
        let notices = watch()
        defer { withExtendedLifetime(notices) {} }
        try await keeper.run()
    }

    private func watch() -> NetworkNotices? {
        do throws(HostError) {
            return try NetworkNotices { [keeper] changes in
                for change in changes { keeper.noticed(change.way, isThere: change.isThere) }
            }
        } catch {
            logger.debug("changes of the network are not reported", metadata: ["reason": "\(error)"])
            return nil
        }
    }
}
