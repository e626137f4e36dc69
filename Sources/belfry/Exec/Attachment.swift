import API
import ArgumentParser
import Glibc
import Host
import Ledger
import Tracking

/// A process that runs already, followed as a run by a command that waits for its end.
///
/// The run ends as the process does where the kernel shows how, and else completes with the reason `exitUnknown`. A run
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
            StandardOutput.print("process \(pid) has ended")
            throw endLike(nil)
        }
        StandardOutput.print("following process \(pid) (\(PlainText.oneLine(name)))")
        let end = try handle.waitForEnd()
        let how =
            switch end {
            case .code(let code): "exit code \(code)"
            case .signal(let number): SignalName.text(Int(number))
            case nil: "only its parent knows its exit code"
            }
        StandardOutput.print("process \(pid) has ended: \(how)")
        throw endLike(end)
    }

    /// Ends this process as that one ended; where nobody knows how, by the signal that means so.
    private func endLike(_ end: ProcessEnd?) -> ExitCode {
        var number = Int32(FollowedProcess.unknownEnd)
        switch end {
        case .code(let code): return ExitCode(code)
        case .signal(let signal):
            guard signal != number else { return ExitCode(128 + signal) }
            number = signal
        case nil: break
        }
        // No second core of the same crash.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        Glibc.signal(number, SIG_DFL)
        kill(getpid(), number)
        return ExitCode(128 + number)
    }
}
