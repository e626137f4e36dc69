import Curl
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `an announced request` {
    private let curl: CurlMulti

    init() throws { curl = try CurlMulti() }

    private func request(to server: HookServer) -> CurlRequest {
        CurlRequest(
            method: "POST", url: server.url(), headers: [CurlHeader("X-Kind", "announced")],
            body: Array("hello".utf8), addressGuard: .open)
    }

    @Test func `is made whether it comes while the thread waits awake for it, or once it gave that up`()
        async throws
    {
        let server = try await HookServer()
        let request = request(to: server)
        // Long enough apart for some to find the thread asleep again, and close enough for others not to.
        for pause in (0..<60).map({ Duration.microseconds($0 % 12 * 40) }) {
            curl.expectWork()
            curl.expectWork()
            if pause > .zero { try await Task.sleep(for: pause) }
            #expect(try await curl.perform(request).status == 204)
        }
        #expect(try await server.records(60).count == 60)
    }

    @Test func `keeps no other one waiting, and no end`() async throws {
        let server = try await HookServer()
        let request = request(to: server)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 {
                group.addTask { try await curl.perform(request).status }
                group.addTask {
                    curl.expectWork()
                    return 204
                }
            }
            for try await status in group { #expect(status == 204) }
        }
        curl.expectWork()
        curl.close()
        curl.expectWork()
        await #expect(throws: CurlError.closed) { try await curl.perform(request) }
    }
}
