import Curl
import Glibc
import TestSupport
import Testing

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
            let watch = AddressGuard(key: "watch") { _ in
                opened.continuation.yield()
                return true
            }
            for _ in 1...20 {
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
