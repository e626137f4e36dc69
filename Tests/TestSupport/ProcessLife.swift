import Glibc
import Host
import Synchronization

/// A process from its start to its end, which a thread of its own waits for.
///
/// Not Foundation's `Process`: that learns of an end by a socket whose other end any process started at the same
/// moment may have inherited, and then the test waits for that one, too.
final class ProcessLife: Sendable {
    private struct State {
        var status: Int32?
        var waiting: [UInt64: CheckedContinuation<Int32?, Never>] = [:]
        var lastID: UInt64 = 0
    }

    let pid: Int32
    private let state = Mutex(State())

    /// Starts `program`.
    init(of program: ChildProgram) throws(HostError) {
        pid = try program.start()
        try BackgroundThread.start(named: "child") { [self] in waitForEnd() }
    }

    /// Sends a signal while its id is its own.
    func signal(_ number: Int32) {
        state.withLock { if $0.status == nil { kill(pid, number) } }
    }

    /// Waits until it has ended; its exit status, or the signal's number, and nil when cancelled.
    func status() async -> Int32? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isOver, status) = state.withLock { state -> (Bool, Int32?) in
                    if state.status != nil || Task.isCancelled { return (true, state.status) }
                    state.waiting[id] = continuation
                    return (false, nil)
                }
                if isOver { continuation.resume(returning: status) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: nil)
        }
    }

    private func waitForEnd() {
        // Waited for first and collected later, under the lock: a signal must not find another process.
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let (status, waiting) = state.withLock { state in
            var word: Int32 = 0
            while unsafe waitpid(pid, &word, 0) < 0, errno == EINTR {}
            let status = word & 0x7F == 0 ? word >> 8 & 0xFF : word & 0x7F
            state.status = status
            defer { state.waiting = [:] }
            return (status, state.waiting.values.map(\.self))
        }
        for waiter in waiting { waiter.resume(returning: status) }
    }
}
