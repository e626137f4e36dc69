import Engine
import Host
import Logging
import Synchronization

/// Whether the ledger that this daemon has open is still the one at its path.
///
/// Whoever moves, replaces or removes the state folder under a running daemon notices nothing otherwise: the
/// open file goes on, and the next start finds another one or none.
final class StatePlace: Sendable {
    private let path: String
    private let opened: FileIdentity?
    private let logger: Logger
    private let isReported = Mutex(false)

    /// Notes which file is at `path` now, after the ledger was opened there.
    init(ledger path: String, logger: Logger) {
        self.path = path
        self.logger = logger
        opened = try? FileIdentity(at: path)
    }

    /// Looks at the path; logs it, once, when another file or none is there.
    @discardableResult
    func look() -> Bool {
        let isInPlace = (try? FileIdentity(at: path)) == opened
        let isNews = isReported.withLock { isReported in
            defer { isReported = !isInPlace }
            return !isInPlace && !isReported
        }
        if isNews {
            logger.error(
                "the ledger is no longer at its path: the state folder was moved, replaced or removed",
                metadata: ["ledger": "\(path)"])
        }
        return isInPlace
    }

    /// The problem that status shows for it.
    var problems: [EngineProblem] {
        guard !look() else { return [] }
        return [
            EngineProblem(
                kind: "stateMoved",
                message: "the ledger that this daemon writes is no longer at \(path): the state folder was "
                    + "moved, replaced or removed, and the next start will not find what is recorded now",
                hint: "move it back before belfryd is stopped; if it was deleted, stop belfryd and use a "
                    + "backup: belfryd restore FILE")
        ]
    }
}
