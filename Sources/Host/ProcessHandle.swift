import CLinux
import Glibc

/// One process, held so that its id cannot be taken for another's.
package final class ProcessHandle: Sendable {
    private let descriptor: Descriptor

    /// Holds the process with this id and start time.
    ///
    /// - Throws: when it is gone, also when its id belongs to another one by now.
    /// The corresponding C function is `pidfd_open`.
    package init(pid: Int32, startTime: UInt64) throws(HostError) {
        descriptor = try Descriptor(clinux_pidfd_open(pid, 0), call: "pidfd_open")
        // Looked at after the process is held: from here on the id can mean no other.
        guard ProcessTable.entry(pid)?.startTime == startTime else {
            throw .system(call: "pidfd_open", code: ESRCH, path: nil)
        }
    }

    /// Readable once the process has ended.
    package var raw: Int32 { descriptor.raw }

    /// Sends `signal`; nothing happens when the process is gone or not ours to signal.
    ///
    /// The corresponding C function is `pidfd_send_signal`.
    package func send(_ signal: Int32) {
        _ = clinux_pidfd_send_signal(descriptor.raw, signal)
    }
}
