import Performing
import Tracking
import WardenProtocol

/// Who has a command started and keeps the record of it: the daemon, or this process.
protocol ExecOffice: AnyObject {
    /// The run's name for people.
    var name: String { get }
    /// Where the warden is that will start it.
    var wardenDirectory: String { get }
    /// Has the command started on the streams that were offered under `token`.
    ///
    /// Returns when that is on its way, not when it has started.
    func place(token: String, terminal: Performing.TerminalSize?) throws
    /// What to wait for besides the command's own streams, with what to do when there is something to read.
    var sources: [(descriptor: Int32, read: () throws -> Void)] { get }
    /// Looks around; called whenever ``nextLook`` is over. Returns the end of a run that was never started.
    func look(hasStarted: Bool) throws -> ExecEnd?
    /// How long to wait for the next look; nil: until something happens.
    func nextLook(hasStarted: Bool, isShown: Bool) -> Duration?
    /// Where the run is, as far as is known.
    var live: LiveState? { get }
    /// A signal came before the news of its start: it is not wanted any more.
    ///
    /// Returns whether it will never be started; false: its start is on the way, and the signal is for the command.
    func withdraw() -> Bool
}
