import Curl
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `an end` {
    @Test func `comes at once when the waiting task is cancelled`() async throws {
        let curl = try CurlMulti()
        let server = try await HookServer(["--status-plan", "hang,204"])
        let request = CurlRequest(url: server.url(), addressGuard: .open)
        let waiting = Task { try await curl.perform(request) }
        _ = try await server.record()
        waiting.cancel()
        await #expect(throws: CurlError.canceled) { try await waiting.value }
        #expect(try await curl.perform(request).status == 204)
    }

    @Test func `comes to a task that was cancelled before it asked`() async throws {
        let curl = try CurlMulti()
        let server = try await HookServer(["--status-plan", "hang"])
        let request = CurlRequest(url: server.url(), addressGuard: .open)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let late = Task {
            for await _ in gate {}
            return try await curl.perform(request)
        }
        late.cancel()
        opener.finish()
        await #expect(throws: CurlError.canceled) { try await late.value }
    }

    @Test func `comes to every request when the thread is closed`() async throws {
        let curl = try CurlMulti()
        let server = try await HookServer(["--status-plan", "hang"])
        let request = CurlRequest(url: server.url(), addressGuard: .open)
        let waiting = (1...10).map { _ in Task { try await curl.perform(request) } }
        _ = try await server.records(10)
        curl.close()
        for task in waiting {
            await #expect(throws: CurlError.closed) { try await task.value }
        }
        await #expect(throws: CurlError.closed) { try await curl.perform(request) }
        curl.close()
    }

    @Test func `of one thread leaves another at work`() async throws {
        let server = try await HookServer()
        let request = CurlRequest(url: server.url(), addressGuard: .open)
        let survivor = try CurlMulti()
        for _ in 1...20 {
            let curl = try CurlMulti()
            #expect(try await curl.perform(request).status == 204)
            curl.close()
        }
        #expect(try await survivor.perform(request).status == 204)
    }
}

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

@Suite struct `a process` {
    @Test func `whose environment names a proxy goes there directly all the same`() async {
        await #expect(processExitsWith: .success) {
            for name in ["http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"] {
                unsafe setenv(name, "http://127.0.0.1:1", 1)
            }
            let server = try await HookServer()
            let curl = try CurlMulti()
            let response = try await curl.perform(CurlRequest(url: server.url(), addressGuard: .open))
            exit(response.status == 204 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test func `may end while requests are under way`() async {
        await #expect(processExitsWith: .success) {
            let server = try await HookServer(["--deaf"])
            let curl = try CurlMulti()
            let opened = AsyncStream.makeStream(of: Void.self)
            for number in 1...20 {
                // Of another rule each, since those of one wait to share the first connection.
                let watch = AddressGuard(key: "watch \(number)") { _ in
                    opened.continuation.yield()
                    return true
                }
                Task {
                    try await curl.perform(
                        CurlRequest(url: server.url(scheme: "https"), addressGuard: watch))
                }
            }
            var seen = 0
            for await _ in opened.stream {
                seen += 1
                if seen == 20 { exit(EXIT_SUCCESS) }
            }
        }
    }
}
