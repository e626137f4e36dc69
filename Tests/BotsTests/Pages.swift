import Bots
import Curl
import Delivery
import Prompting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `a page that a bot reads` {
    private func reader() throws -> WebReader { WebReader(curl: try CurlMulti(), userAgent: "Belfry/test") }

    private let allow = [try? AddressException("127.0.0.1/32")].compactMap(\.self)

    @Test func `is read up to 2 MiB, and says so there`() async throws {
        let server = try await ProviderServer(
            .init(String(repeating: "x", count: 1 << 16), type: "text/plain", repeating: 100))
        let limit = WebReader.pageLimit
        let end = try await reader().page(server.url("/a"), from: limit - 3, allow: allow)
        #expect(end.text == "xxx\n… the page is longer than 2 MiB: the rest was not read" && !end.isError)
        let beyond = try await reader().page(server.url("/a"), from: limit + 1000, allow: allow)
        #expect(beyond.isError && beyond.text.hasPrefix("from: the text has only "))
    }

    @Test func `that leads on for ever is given up`() async throws {
        let server = try await ProviderServer(.init("", status: 302, headers: ["Location": "/again"]))
        let answer = try await reader().page(server.url("/a"), from: 0, allow: allow)
        #expect(answer.isError && answer.text == "the address redirects more than 5 times")
    }

    @Test func `that is no text is named with its size`() async throws {
        let server = try await ProviderServer(.init("PNG", type: "image/png"))
        let answer = try await reader().page(server.url("/a"), from: 0, allow: allow)
        #expect(answer.isError && answer.text.hasSuffix("is no text: image/png, 3 bytes"))
    }

    @Test func `at an address that nobody allowed is not asked for`() async throws {
        let server = try await ProviderServer(.init("secret", type: "text/plain"))
        let answer = try await reader().page(server.url("/a"), from: 0, allow: [])
        #expect(answer.isError && !answer.text.contains("secret"), "\(answer.text)")
        // Nor is one that a public page leads to.
        let leading = try await ProviderServer(
            .init("", status: 302, headers: ["Location": "http://169.254.169.254/latest/meta-data"]))
        let led = try await reader().page(leading.url("/a"), from: 0, allow: allow)
        #expect(led.isError && !led.text.contains("redirects"), "\(led.text)")
    }
}
