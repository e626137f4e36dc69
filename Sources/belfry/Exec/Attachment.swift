import API
import ArgumentParser
import Glibc
import Host
import Ledger
import TerminalView

/// A process that runs already, followed as a run by a command that waits for its end.
///
/// Only a parent is given the exit code of a process: the run completes when the process ends, however it ends. A run
/// that is canceled ends the waiting, not the process.
struct Attachment {
    private let process: ProcessEntry

    /// The process of this id.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/badValue`` when there is none, or it has ended already.
    init(pid: Int32) throws(APIError) {
        guard let entry = ProcessTable.entry(pid), !entry.isZombie else {
            throw APIError(.badValue, "no process \(pid)", hint: "List yours with: ps -u $USER")
        }
        process = entry
    }

    /// The program's name, as a run may be named; nil where no run may be.
    var name: String? {
        let name = process.name
        return JobName.fault(in: name) == nil ? name : JobName.near(name)
    }

    /// What is run.
    func words() throws(HostError) -> [String] {
        FollowedProcess(pid: process.pid, startTime: process.startTime)
            .command(of: try Machine.executablePath())
    }
}

/// See ``Attachment``, which starts it.
struct AttachWaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: FollowedProcess.command, abstract: "Waits for the end of a process that is not a child.",
        shouldDisplay: false)

    @Argument(help: "Its id.")
    var pid: Int32
    @Argument(help: "When it was started, in ticks since the boot, so that no other of that id is meant.")
    var startTime: UInt64

    func run() throws {
        let name = ProcessTable.entry(pid)?.name ?? "?"
        guard let handle = try? ProcessHandle(pid: pid, startTime: startTime) else {
            return StandardOutput.print("process \(pid) has ended")
        }
        StandardOutput.print("following process \(pid) (\(PlainText.oneLine(name)))")
        // Readable when it has ended.
        var ending = pollfd(fd: handle.raw, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&ending, 1, -1) < 0 {
            guard errno == EINTR else { throw HostError.last("poll") }
        }
        StandardOutput.print("process \(pid) has ended; only its parent knows its exit code")
    }
}
