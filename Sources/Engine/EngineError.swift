package import Ledger

/// Why the engine refused a request.
package enum EngineError: Error, Hashable, Sendable {
    case noSuchJob(String)
    case noSuchZone(String)
    /// No run of that name; the text is as it was asked for.
    case noSuchRun(String)
    case noSuchMessage(String)
    case noSuchEntry(String)
    case noSuchChannel(String)
    case noSuchBot(String)
    /// Nothing that could ring has this name.
    case nothingToExplain(String)
    /// The job belongs to a file, named with its line: only an edit of the file changes it.
    case ownedByFile(job: String, place: String)
    /// Runs of the job have not ended, and its overlap policy is to skip.
    case busy(job: String, runs: [String])
    /// The run has ended already, in this state.
    case ended(run: String, state: String)
    /// The run has not ended, so it can't be repeated.
    case notEnded(run: String)
    /// The run was a wrapped command, whose environment and terminal are not kept.
    case notRepeatable(run: String)
    /// The entry is in a state that does not allow it; the channel is named when trying that one helps.
    case notAllowed(entry: String, state: String, channel: String? = nil)
    /// The entry waits for a channel that is not in the configuration.
    case channelMissing(entry: String, channel: String)
    /// Entries of several missing channels could be meant; one of them must be named.
    case severalMissing(channels: [String], newChannel: String)
    /// What was asked for is malformed; the text says where and how.
    case invalid(String)
    /// A job of that name is there already; the place is that of a job of a file.
    case nameTaken(String, place: String? = nil)
    /// A command that belongs to no job can't be filed under the name of one.
    case jobsName(String)
    /// Somebody else changed the job at the same time.
    case changedMeanwhile(String)
    case ledger(LedgerError)
    /// The jobs of the files are not in force yet.
    case starting
    /// The daemon is ending.
    case stopping
}
