/// A process that was running already and that a run only waits for, as `belfry exec --attach` starts it.
package struct FollowedProcess: Hashable, Sendable {
    /// The hidden subcommand of `belfry` that waits.
    package static let command = "attach-wait"
    /// What the waiting program kills itself with when it could not learn how the process ended.
    package static let unknownEnd = 12  // SIGUSR2

    /// The process's id.
    package var pid: Int32
    /// When it started, in clock ticks since the machine did.
    package var startTime: UInt64

    /// A process by its id and its start.
    package init(pid: Int32, startTime: UInt64) {
        (self.pid, self.startTime) = (pid, startTime)
    }

    /// The process that this command waits for; nil: it is another command.
    package init?(command words: [String]) {
        guard words.count == 4, words[1] == Self.command, let pid = Int32(words[2]),
            let start = UInt64(words[3])
        else { return nil }
        self.init(pid: pid, startTime: start)
    }

    /// The command that waits, of the program `executable`.
    package func command(of executable: String) -> [String] {
        [executable, Self.command, String(pid), String(startTime)]
    }
}

extension JobSpec {
    /// The process that a run of this only waits for; nil: it starts its own.
    package var followedProcess: FollowedProcess? {
        guard case .command(let words) = action else { return nil }
        return FollowedProcess(command: words)
    }
}
