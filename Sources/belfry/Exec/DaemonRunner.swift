import API
import APIClient
import Glibc
import Host
import Ledger
import Performing
import Tracking

/// Who has a command started and keeps the record of it: the daemon, or this process.
protocol ExecRunner: AnyObject {
    /// The run's name for people.
    var name: String { get }
    /// Where the warden is that will start it.
    var wardenDirectory: String { get }
    /// Has the command started on the streams that were offered under `token`.
    ///
    /// Returns when that is on its way, not when it has started.
    func place(token: String, terminal: PtySize?) throws
    /// What to wait for besides the command's own streams, with what to do when there is something to read.
    var sources: [(descriptor: Int32, read: () throws -> Void)] { get }
    /// Refreshes what is known of the run; called whenever ``nextRefresh(hasStarted:isShown:)`` has passed. Returns the end
    /// of a run that was never started.
    func endBeforeStart(hasStarted: Bool) throws -> ExecEnd?
    /// How long to wait for the next refresh; nil: until something happens.
    func nextRefresh(hasStarted: Bool, isShown: Bool) -> Duration?
    /// Where the run is, as far as is known.
    var live: LiveState? { get }
    /// A signal came before the news of its start: it is not wanted any more.
    ///
    /// Returns whether it will never be started; false: its start is on the way, and the signal is for the command.
    func withdraw() -> Bool
}

/// A command that the daemon records and has started; it may end and come back meanwhile.
final class DaemonRunner: ExecRunner {
    let wardenDirectory: String
    private let client: DaemonClient
    private var request: ExecRequest
    private(set) var run: WireRun?
    private(set) var live: LiveState?

    /// Asks the daemon where its warden is.
    init(_ client: DaemonClient, _ request: ExecRequest) throws(APIError) {
        self.client = client
        self.request = request
        self.request.id = UniqueID.v7(at: .now)
        let status = try Self.status(client)
        guard let warden = status.warden else {
            let problem = status.problems.first { $0.kind == "noWarden" }
            throw APIError(.wardenAway, problem?.message, hint: problem?.hint.map { "Fix: \($0)" })
        }
        guard let directory = warden.directory else {
            throw APIError(
                .wardenAway, "the daemon is older than this belfry (\(status.version))",
                hint: "Restart it; its runs continue.")
        }
        wardenDirectory = directory
    }

    /// The daemon's status, once it has a warden.
    ///
    /// One that was just started, or whose warden was just lost, has one in a moment; after 3 s it is as it is.
    private static func status(_ client: DaemonClient) throws(APIError) -> WireStatus {
        for _ in 0..<30 {
            let status: WireStatus = try client.ask(Endpoints.status())
            if status.warden != nil { return status }
            usleep(100_000)
        }
        return try client.ask(Endpoints.status())
    }

    var name: String { run?.name ?? request.name ?? JobName.of(program: request.command.first ?? "") }

    func place(token: String, terminal: PtySize?) throws {
        request.attachment = token
        request.terminal = terminal.map { WireTerminal(rows: $0.rows, columns: $0.columns) }
        var reconnection = Reconnection()
        while run == nil {
            do throws(APIError) {
                // With one id asking twice makes one run.
                run = try client.ask(Endpoints.exec(body: request))
            } catch {
                switch error.code {
                case .connectionLost, .stopping, .starting, .tooBusy: try reconnection.wait()
                case .noAnswer, .timedOut:
                    // It may still read the request: then the warden refuses the start, since the streams that
                    // it names end with this process. Running the command here as well could run it twice.
                    throw APIError(
                        error.code, error.message + "; the command was not started", hint: error.hint)
                default: throw error
                }
            }
        }
    }

    var sources: [(descriptor: Int32, read: () throws -> Void)] { [] }

    func nextRefresh(hasStarted: Bool, isShown: Bool) -> Duration? {
        if !hasStarted { return .seconds(1) }
        return isShown ? .milliseconds(500) : nil
    }

    /// Asks quickly or not at all: the command's output must not wait for a daemon.
    func endBeforeStart(hasStarted: Bool) throws -> ExecEnd? {
        guard let known = refreshed(timeout: .milliseconds(300)) else { return nil }
        run = known
        live = known.live.map { LiveState($0) } ?? live
        guard !hasStarted, wasNeverStarted(known) else { return nil }
        return .withdrawn(known)
    }

    /// The run as it ended: the daemon may learn of it a moment later than we.
    func finish() -> WireRun? {
        var ended: WireRun?
        let start = Duration.sinceBoot
        repeat {
            if let known = refreshed(timeout: patience) {
                run = known
                live = known.live.map { LiveState($0) } ?? live
                if known.state.isEnded { ended = known }
                // Its live state ends a moment after the run does.
                if known.state.isEnded, known.live?.state.isEnded ?? true { break }
            }
            usleep(50_000)
        } while Duration.sinceBoot - start < max(.seconds(5), patience)
        return ended
    }

    func withdraw() -> Bool {
        guard let name = run?.name.flatMap({ RunName($0) }), let known = refreshed(timeout: patience)
        else {
            return true
        }
        if wasNeverStarted(known) { return true }
        guard known.state == .queued || known.state == .scheduled else { return false }
        _ = try? client.ask(Endpoints.cancelRun(name))
        // It may have been started between the two.
        return refreshed(timeout: patience).map(wasNeverStarted) ?? true
    }

    private var patience: Duration { (try? Patience.wished()) ?? Patience.standard }

    private func wasNeverStarted(_ run: WireRun) -> Bool { run.state.isEnded && run.startedAt == nil }

    private func refreshed(timeout: Duration) -> WireRun? {
        guard let name = run?.name.flatMap({ RunName($0) }) else { return nil }
        let client = DaemonClient(socket: client.socket, timeout: timeout, longest: timeout)
        return try? client.ask(Endpoints.run(name))
    }
}
