import Curl
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `a task on the thread of the transfers` {
    @Test func `stays there from request to request, beside others`() async throws {
        let curl = try CurlMulti()
        let server = try await HookServer()
        let request = CurlRequest(url: server.url(), addressGuard: .open)
        let other = Task { try await curl.perform(request) }
        let threads = try await withTaskExecutorPreference(curl.executor) { () async throws -> [pthread_t] in
            var threads = [Self.thread]
            for _ in 1...5 {
                let status = try await curl.perform(request).status
                #expect(status == 204)
                threads.append(Self.thread)
            }
            return threads
        }
        #expect(Set(threads).count == 1)
        #expect(try await other.value.status == 204)
    }

    @Test func `continues elsewhere when the thread is closed`() async throws {
        let curl = try CurlMulti()
        let server = try await HookServer(["--status-plan", "hang"])
        let request = CurlRequest(url: server.url(), addressGuard: .open)
        let task = Task {
            await withTaskExecutorPreference(curl.executor) {
                await #expect(throws: CurlError.closed) { try await curl.perform(request) }
                await Task.yield()
                return "done"
            }
        }
        _ = try await server.record()
        curl.close()
        #expect(await task.value == "done")
    }

    @Test func `may be the last to hold it`() async throws {
        let server = try await HookServer()
        let request = CurlRequest(url: server.url(), addressGuard: .open)
        for _ in 1...20 {
            let executor = try await Self.perform(request)
            let (done, doing) = AsyncStream.makeStream(of: Never.self)
            Task(executorPreference: executor) { doing.finish() }
            for await _ in done {}
        }
    }

    /// The executor of transfers whose last holder is a task on it.
    private static func perform(_ request: CurlRequest) async throws -> any TaskExecutor {
        let curl = try CurlMulti()
        let executor = curl.executor
        let task = Task(executorPreference: executor) { [curl] in try await curl.perform(request).status }
        #expect(try await task.value == 204)
        return executor
    }

    private static var thread: pthread_t { pthread_self() }
}
