import CLinux
import Glibc

/// A thread of the package's own, outside Swift's pool, for work that blocks in the kernel.
package enum BackgroundThread {
    /// Starts a detached thread that runs `body` once, with every signal blocked.
    ///
    /// `name` is what `top -H` shows, at most 15 bytes. Of the stack only what is used is ever in memory.
    package static func start(
        named name: String, stackBytes: Int = 512 << 10, _ body: @escaping @Sendable () -> Void
    ) throws(HostError) {
        let box = unsafe Unmanaged.passRetained(ThreadBody(name: name, run: body))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        unsafe pthread_attr_setstacksize(&attributes, stackBytes)
        var thread = pthread_t()
        let code = unsafe pthread_create(&thread, &attributes, threadMain, box.toOpaque())
        guard code == 0 else {
            unsafe box.release()
            throw .system(call: "pthread_create", code: code, path: nil)
        }
    }
}

private final class ThreadBody: Sendable {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}

private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let body = unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
    // A signal must find the thread that expects it, never one that holds a lock here.
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
    unsafe clinux_set_thread_name(body.name)
    body.run()
    return nil
}
