import Glibc
package import Host

/// The shell, to set scenes and to wait for what another process does.
package enum Shell {
    /// Runs `text` with `/bin/sh -c` in `folder`, waits for its end and returns its exit code, -1 for a signal.
    ///
    /// Ends the shell when the test is cancelled, by its time limit for example.
    @discardableResult
    package static func run(_ text: String, in folder: String = "/") async throws(HostError) -> Int32 {
        let pid = try start(text, in: folder)
        return await withTaskCancellationHandler {
            await elsewhere { exitCode(of: pid) }
        } onCancel: {
            kill(-pid, SIGKILL)
        }
    }

    /// As the other one, for tests that are not asynchronous: blocks the calling thread, so `text` must not wait for
    /// anything that the test itself keeps running.
    @discardableResult
    package static func run(_ text: String, in folder: String = "/") throws(HostError) -> Int32 {
        exitCode(of: try start(text, in: folder))
    }

    /// Waits until the process has ended, two minutes at most; whether it did.
    package static func waitForEnd(of process: ProcessHandle) async -> Bool {
        await elsewhere {
            var waiting = pollfd(fd: process.raw, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&waiting, 1, 120_000) == 1
        }
    }

    private static func start(_ text: String, in folder: String) throws(HostError) -> Int32 {
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        return try ChildProgram(
            path: "/bin/sh", arguments: ["sh", "-c", text], environment: Machine.environment, folder: folder,
            descriptors: [nothing, nothing, nothing]
        ).start()
    }

    private static func exitCode(of pid: Int32) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -1
    }

    /// Blocks a thread of its own: on a machine of two cores two blocked tests would stop all others.
    private static func elsewhere<Value: Sendable>(_ wait: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { done in
            do throws(HostError) {
                try BackgroundThread.start(named: "shell") { done.resume(returning: wait()) }
            } catch {
                done.resume(returning: wait())
            }
        }
    }
}

/// Runs what blocks on a thread of its own: the pool's threads must stay free for others.
package func blocking<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        do {
            try BackgroundThread.start(named: "client") {
                continuation.resume(with: Swift.Result { try body() })
            }
        } catch {
            continuation.resume(throwing: error)
        }
    }
}
