import Engine
import Glibc
import Host
import Logging
import Settings

/// Wires everything together and runs it; decides nothing itself.
struct Daemon {
    let paths: Paths
    let logger: Logger

    /// Runs until told to stop.
    ///
    /// - Throws: `Failure` with one sentence when it can't start: nothing is damaged then.
    func run() async throws {
        umask(0o077)
        let lock = try takeLock()
        defer { withExtendedLifetime(lock) {} }
        let claim = try claimSocket()
        defer { withExtendedLifetime(claim) {} }
        let files = ConfigurationFiles(path: paths.config)
        if paths.isConfigNamed { try files.requireFile() }
        let parts = try await assemble(files)
        do {
            try await parts.serve(paths: paths)
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

    private func takeLock() throws(Failure) -> StateLock {
        do throws(HostError) {
            try paths.makeFolders()
            return try StateLock(folder: paths.state)
        } catch {
            throw refusal(error, mend: "stop it first, or name another folder with --state")
        }
    }

    private func claimSocket() throws(Failure) -> SocketClaim {
        do throws(HostError) {
            return try SocketClaim(paths.socket)
        } catch {
            throw refusal(error, mend: "stop it first, or name another socket with --socket")
        }
    }

    private func refusal(_ error: HostError, mend: String) -> Failure {
        guard case .held(let path, let pid) = error else { return Failure("belfryd: \(error)") }
        let who = pid.map { "the daemon with process id \($0)" } ?? "another daemon"
        return Failure("belfryd: \(path) is in use by \(who)", mend: mend)
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
