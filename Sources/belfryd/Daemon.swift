import APIServer
import Engine
import Glibc
import Host
import Logging
import Settings

/// Wires everything together and runs it; decides nothing itself.
struct Daemon {
    let paths: Paths
    /// Whether it ends only when the runs that it started have.
    let drains: Bool
    let logger: Logger

    /// Runs until it is asked to stop.
    ///
    /// - Throws: `Failure` with one sentence when it can't start: nothing is damaged then.
    func run() async throws {
        umask(0o077)
        // Where it can't be raised, fewer clients are served.
        try? DescriptorLimit.raise(to: Self.descriptorsWanted)
        try checkLimits()
        let lock = try Self.takeLock(of: paths)
        defer { withExtendedLifetime(lock) {} }
        let claim = try claimSocket()
        defer { withExtendedLifetime(claim) {} }
        let files = ConfigurationFiles(path: paths.config)
        if paths.isConfigNamed { try files.requireFile() }
        let parts = try await assemble(files)
        do {
            do {
                try await parts.serve(paths: paths, drains: drains)
            } catch {
                // Closed in any case: a ledger whose disk failed to sync must not be synced on the way out.
                await parts.close()
                throw error
            }
        } catch let refusal as ReloadRefusal {
            throw Failure(refusal.description, code: 2)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure("belfryd: \(error)")
        }
        await parts.close()
        logger.notice("stopped")
    }

    /// Descriptors that the daemon needs for itself: the ledger, the bus, the warden, webhooks and the log.
    private static let descriptors = 96

    /// A daemon that runs out of descriptors later would fail at whatever comes next.
    private func checkLimits() throws(Failure) {
        guard let limit = try? DescriptorLimit.current(), limit < Self.descriptors + 32 else { return }
        throw Failure(
            "belfryd: this process may open only \(limit) files; it needs \(Self.descriptors + 32)",
            hint: "raise the limit: ulimit -n 1024, or LimitNOFILE=1024 in the unit")
    }

    /// Enough for all clients that the API serves at once, and for the rest.
    private static let descriptorsWanted = 4096

    /// How many clients may be connected at once, so that descriptors are left for the rest.
    static var connections: ConnectionLimits {
        guard let limit = try? DescriptorLimit.current() else { return ConnectionLimits() }
        return ConnectionLimits(within: limit - descriptors)
    }

    /// Makes sure that no other daemon has the state.
    static func takeLock(of paths: Paths) throws(Failure) -> StateLock {
        do throws(HostError) {
            try paths.makeFolders()
            // Where this daemon names the state folder by another path than its warden, that makes no folder in it.
            try PrivateFolder.make(paths.state + "/output")
            return try StateLock(folder: paths.state)
        } catch {
            switch error {
            case .remoteFolder:
                throw Failure(
                    "belfryd: \(error)", hint: "name a folder on a disk of this machine with --state")
            case .notOurs:
                throw Failure(
                    "belfryd: \(error)", hint: "give it to this user, mode 0700, or name another with --state"
                )
            case .system(_, EROFS, _), .system(_, EACCES, _), .system(_, EPERM, _):
                throw Failure(
                    "belfryd: the state folder \(paths.state) can't be written: \(error)",
                    hint:
                        "check its owner and that its file system is not read-only, or name another with --state"
                )
            case .system(_, ENOSPC, _), .system(_, EDQUOT, _):
                throw Failure(
                    "belfryd: the disk of \(paths.state) is full: \(error)",
                    hint: "free some space, then start again")
            default: throw refusal(error, hint: "stop it first, or name another folder with --state")
            }
        }
    }

    private func claimSocket() throws(Failure) -> SocketClaim {
        do throws(HostError) {
            return try SocketClaim(paths.socket)
        } catch {
            throw Self.refusal(error, hint: "stop it first, or name another socket with --socket")
        }
    }

    private static func refusal(_ error: HostError, hint: String) -> Failure {
        guard case .held(let path, let pid) = error else { return Failure("belfryd: \(error)") }
        let who = pid.map { "the daemon with process id \($0)" } ?? "another daemon"
        return Failure("belfryd: \(path) is in use by \(who)", hint: hint)
    }

    private func assemble(_ files: ConfigurationFiles) async throws -> DaemonParts {
        do {
            return try await DaemonParts(paths: paths, files: files, logger: logger)
        } catch let error as SettingsError {
            throw Failure(error.description, code: 2)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure("belfryd: \(error)")
        }
    }
}
