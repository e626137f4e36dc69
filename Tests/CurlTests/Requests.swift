import Curl
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `a request` {
    let curl: CurlMulti

    init() throws {
        curl = try CurlMulti()
    }

    @Test func `brings its method, path, headers and body to the server`() async throws {
        let server = try await HookServer(["--status-plan", "201", "--header", "X-Answer:  yes "])
        let response = try await curl.perform(
            CurlRequest(
                method: "PUT", url: server.url("/a/b?c=d"),
                headers: [CurlHeader("Content-Type", "text/plain"), CurlHeader("X-Empty", "")],
                body: Array("hello".utf8), addressGuard: .open))
        #expect(response.status == 201)
        #expect(response.header("x-answer") == "yes")
        let record = try await server.record()
        #expect(record.method == "PUT")
        #expect(record.path == "/a/b?c=d")
        #expect(record.body == "hello")
        #expect(record.headers["content-type"] == "text/plain")
        #expect(record.headers["x-empty"] == "")
    }

    @Test func `without a body sends none, and invents no content type for one`() async throws {
        let server = try await HookServer()
        _ = try await curl.perform(CurlRequest(url: server.url(), addressGuard: .open))
        _ = try await curl.perform(
            CurlRequest(method: "POST", url: server.url(), body: [], addressGuard: .open))
        let records = try await server.records(2)
        #expect(records.map(\.method) == ["GET", "POST"])
        #expect(records.map(\.bodyBytes) == [0, 0])
        #expect(records[0].headers["content-length"] == nil)
        #expect(records[1].headers["content-type"] == nil)
    }

    @Test func `carries zero bytes and megabytes whole`() async throws {
        let server = try await HookServer()
        let body = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let response = try await curl.perform(
            CurlRequest(method: "POST", url: server.url(), body: body, addressGuard: .open))
        #expect(response.status == 204)
        let record = try await server.record()
        #expect(record.bodyBytes == 5_000_000)
        // libcurl would ask first and wait a second for a body this long.
        #expect(record.headers["expect"] == nil)
        #expect(record.bodySha256 == "72568575be172c8c4134899e94d07916277e6487b619bfb8aa8f756fa3494dfb")
    }

    @Test func `keeps no more of an answer than its limit`() async throws {
        let server = try await HookServer(["--status-plan", "200", "--body-size", "3000000"])
        var request = CurlRequest(url: server.url(), bodyLimit: 1000, addressGuard: .open)
        let cut = try await curl.perform(request)
        #expect(cut.status == 200)
        #expect(cut.body == [UInt8](repeating: UInt8(ascii: "x"), count: 1000))
        #expect(cut.bodyWasCut)
        request.bodyLimit = 3_000_000
        let whole = try await curl.perform(request)
        #expect(whole.body.count == 3_000_000)
        #expect(!whole.bodyWasCut)
    }

    @Test func `does not follow a redirect`() async throws {
        let server = try await HookServer(["--status-plan", "302,204", "--location", "/elsewhere"])
        let response = try await curl.perform(CurlRequest(url: server.url(), addressGuard: .open))
        #expect(response.status == 302)
        #expect(response.header("Location") == "/elsewhere")
    }

    @Test(arguments: [
        "ftp://example.org/", "file:///etc/passwd", "example.org", "http:/example.org", "",
        "http://example.org/a b", "http://example.org/\r\nX: y", "https://example.org/\0",
    ])
    func `goes only to a sound HTTP address`(url: String) async throws {
        await #expect(throws: CurlError.malformed(.url)) {
            try await curl.perform(CurlRequest(url: url, addressGuard: .open))
        }
    }

    @Test func `lets no header or method write lines of its own`() async throws {
        let url = "http://127.0.0.1:1/"
        await #expect(throws: CurlError.malformed(.header)) {
            try await curl.perform(
                CurlRequest(url: url, headers: [CurlHeader("X-A", "b\r\nX-C: d")], addressGuard: .open))
        }
        await #expect(throws: CurlError.malformed(.header)) {
            try await curl.perform(
                CurlRequest(url: url, headers: [CurlHeader("X A", "b")], addressGuard: .open))
        }
        await #expect(throws: CurlError.malformed(.method)) {
            try await curl.perform(CurlRequest(method: "GET /\r\n", url: url, addressGuard: .open))
        }
    }
}

@Suite struct `an address` {
    @Test(arguments: [
        "0.0.0.0", "127.0.0.1", "255.255.255.255", "::", "::1", "2001:db8::ff00:42:8329", "fe80::1",
    ])
    func `is written as it was read`(text: String) throws {
        #expect(try #require(IPAddress(text)).description == text)
    }

    @Test(arguments: [
        "", "127.1", "1.2.3.4.5", "256.0.0.1", "01.2.3.4", "localhost", "::1%lo", "[::1]", " ::1",
    ])
    func `is not read from other text`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func `is sent with its highest byte first`() {
        #expect(IPAddress("10.1.2.3")?.bytes == [10, 1, 2, 3])
        #expect(IPAddress("102:304::f")?.bytes == [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15])
    }
}

/// The addresses a guard was asked about, in order.
final class Seen: Sendable {
    private let addresses = Mutex<[SocketAddress]>([])

    func note(_ address: SocketAddress) {
        addresses.withLock { $0.append(address) }
    }

    var all: [SocketAddress] { addresses.withLock { $0 } }
}
