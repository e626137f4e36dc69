import Curl
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
