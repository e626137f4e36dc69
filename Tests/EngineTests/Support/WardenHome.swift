import Glibc
import Host
import Synchronization
import TestSupport
import WardenProtocol

/// The folder of a ledger, a warden and its runs; whatever still runs is ended with it.
final class WardenHome: Sendable {
    let folder: TemporaryFolder
    private let wardens = Mutex<Set<Int32>>([])
    private let jobs = Mutex<Set<Int32>>([])

    init() throws {
        folder = try TemporaryFolder()
        for name in ["state", "work"] { try PrivateFolder.make(folder.file(name)) }
    }

    deinit {
        for pid in jobs.withLock({ $0 }) { kill(-pid, SIGKILL) }
        for pid in wardens.withLock({ $0 }) { kill(pid, SIGKILL) }
    }

    /// How a daemon of this home starts its warden.
    func launch() throws -> WardenLaunch {
        var launch = WardenLaunch(
            executable: try BuiltProgram.path("belfry-warden"), state: folder.file("state"),
            tiedTo: getpid())
        launch.startTimeout = .seconds(60)
        return launch
    }

    /// Ends this warden with the home.
    func mind(warden pid: Int32) { wardens.withLock { _ = $0.insert(pid) } }

    /// Ends this job's process group with the home.
    func mind(job pid: Int32) { jobs.withLock { _ = $0.insert(pid) } }
}
