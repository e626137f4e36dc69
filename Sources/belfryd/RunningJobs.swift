import API
import APIClient
import Glibc

/// The names that the files may not use: those of jobs that a running daemon has from elsewhere.
struct RunningJobs {
    /// Jobs made by `belfry job add` or an import.
    private(set) var names: Set<String> = []
    /// The configuration file of the daemon that answered.
    private(set) var config: String?
    /// What could not be checked, as a sentence; nil: all of it was.
    private(set) var note: String?

    /// Asks the daemon on `socket`; blocks for a few seconds at most.
    init(socket: String) {
        let client = DaemonClient(socket: socket, patience: .seconds(5))
        let what = "conflicts with jobs made by `belfry job add` were not checked"
        do throws(APIError) {
            let status = try client.ask(Endpoints.status())
            let jobs = try client.ask(Endpoints.jobs())
            config = status.config
            names = Set(jobs.filter { $0.origin != "file" }.map(\.name))
        } catch {
            note =
                error.code == .noDaemon
                ? "no daemon answers on \(socket): \(what)"
                : "the daemon refused to answer (\(error.message)): \(what)"
        }
    }

    /// Whether the daemon that answered reads the file at `path`.
    func reads(_ path: String) -> Bool {
        guard let config else { return false }
        var (own, other) = (stat(), stat())
        guard unsafe stat(path, &own) == 0, unsafe stat(config, &other) == 0 else { return config == path }
        return own.st_dev == other.st_dev && own.st_ino == other.st_ino
    }
}
