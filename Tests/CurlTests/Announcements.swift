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
        let other = try CurlMulti()
        // At once, while the thread is awake, and after requests of another one, long enough for it to fall asleep again.
        let delays = (0..<60).map { $0 % 4 }
        for delay in delays {
            curl.expectWork()
            curl.expectWork()
            for _ in 0..<delay { #expect(try await other.perform(request).status == 204) }
            #expect(try await curl.perform(request).status == 204)
        }
        let expected = delays.count + delays.reduce(0, +)
        #expect(try await server.records(expected).count == expected)
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
