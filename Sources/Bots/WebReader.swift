package import Curl
package import Delivery
package import Prompting
import Timeline
import Tracking

/// Reads the web for bots: pages as text, and the results of searches.
///
/// Whatever a bot names, only what the guard of addresses admits is connected to, and a redirect is looked at as the
/// address itself.
package struct WebReader: Sendable {
    /// The most bytes of a page.
    package static let pageLimit = 2 << 20
    /// The most redirects that are followed.
    private static let mostRedirects = 5
    private static let patience = CurlTimeouts(connect: .seconds(10), total: .seconds(30))

    private let curl: CurlMulti
    private let userAgent: String

    /// A reader whose requests name `userAgent`.
    package init(curl: CurlMulti, userAgent: String) {
        self.curl = curl
        self.userAgent = userAgent
    }

    /// What could not be read, in a sentence for the bot.
    private struct Trouble: Error { let text: String }

    // MARK: Pages

    /// The text of the page at an address, from the byte `offset` of the text on; `allow` may be reached although it is
    /// not public.
    package func page(_ address: String, from offset: Int, allow: [AddressException]) async -> ToolAnswer {
        do throws(Trouble) {
            let (response, place) = try await follow(address, allow)
            return try Self.answer(response, place, from: offset)
        } catch {
            return ToolAnswer(error.text, isError: true)
        }
    }

    private func follow(
        _ address: String, _ allow: [AddressException]
    ) async throws(Trouble) -> (CurlResponse, String) {
        var address = address
        for _ in 0...Self.mostRedirects {
            let reach = try Self.reach(address, allow)
            let response = try await get(address, reach, ["Accept": "text/html, text/*;q=0.9, */*;q=0.5"])
            guard [301, 302, 303, 307, 308].contains(response.status), let next = response.header("Location")
            else { return (response, reach.url.shown) }
            address = Self.joined(next, to: reach.url)
        }
        throw Trouble(text: "the address redirects more than \(Self.mostRedirects) times")
    }

    /// The address that a redirect names.
    private static func joined(_ target: String, to url: HTTPAddress) -> String {
        let target = String(target.prefix { $0 != "#" })
        if target.hasPrefix("//") { return (url.isSecure ? "https:" : "http:") + target }
        if target.hasPrefix("/") { return url.shown + target }
        if target.contains("://") { return target }
        let folder = url.target.prefix { $0 != "?" }
        let end = folder.lastIndex(of: "/").map { folder[...$0] } ?? "/"
        return url.shown + end + target
    }

    private static func answer(
        _ response: CurlResponse, _ place: String, from offset: Int
    ) throws(Trouble) -> ToolAnswer {
        guard (200...299).contains(response.status) else {
            throw Trouble(text: "\(place) answered \(response.status)")
        }
        let type = (response.header("Content-Type") ?? "text/plain").lowercased()
        let isPage = type.contains("html")
        guard isPage || type.hasPrefix("text/") || type.contains("json") || type.contains("xml"),
            !response.body.contains(0)
        else {
            let kind = CleanText.line(String(type.prefix { $0 != ";" }), limit: 60)
            throw Trouble(text: "what is at \(place) is no text: \(kind), \(response.body.count) bytes")
        }
        var text =
            isPage ? PageText.text(of: response.body) : String(decoding: response.body, as: UTF8.self)
        if response.bodyWasCut { text += "\n… the page is longer than 2 MiB: the rest was not read" }
        guard offset < text.utf8.count || offset == 0 else {
            throw Trouble(text: "from: the text has only \(text.utf8.count) bytes")
        }
        let rest = String(decoding: text.utf8.dropFirst(offset), as: UTF8.self)
        return ToolAnswer(rest.isEmpty ? "the page has no text" : rest)
    }

    // MARK: Searches

    /// The first `count` results of a search.
    package func search(
        _ words: String, count: Int, by service: WebSearch, key: String?
    ) async -> ToolAnswer {
        do throws(Trouble) {
            var headers = ["Accept": "application/json"]
            if service.kind == .brave { headers["X-Subscription-Token"] = key }
            let address = service.address(of: words, count: count)
            let response = try await get(address, service.reach, headers)
            return try Self.results(response, count: count, of: service)
        } catch {
            return ToolAnswer(error.text, isError: true)
        }
    }

    private static func results(
        _ response: CurlResponse, count: Int, of service: WebSearch
    ) throws(Trouble) -> ToolAnswer {
        let place = service.reach.url.shown
        switch response.status {
        case 200: break
        case 401, 403, 422:
            throw Trouble(text: "the search at \(place) refuses its key or its caller: \(response.status)")
        case 429: throw Trouble(text: "the search at \(place) takes no more requests now; try again later")
        default: throw Trouble(text: "the search at \(place) answered \(response.status)")
        }
        guard let json = JSON(parsing: response.body[...], repairing: true) else {
            throw Trouble(text: "the search at \(place) returned something that is not JSON")
        }
        let found = (service.kind == .brave ? json["web"]?["results"] : json["results"])?.elements ?? []
        let summary = service.kind == .brave ? "description" : "content"
        let lines = found.prefix(count).enumerated().map { number, result in
            let parts = [("title", 200), ("url", 500), (summary, 500)].compactMap { key, limit in
                result[key]?.text.map {
                    CleanText.line(PageText.text(of: $0.utf8), limit: limit)
                }
            }
            return "\(number + 1). " + parts.joined(separator: "\n   ")
        }
        return ToolAnswer(lines.isEmpty ? "nothing was found" : lines.joined(separator: "\n"))
    }

    // MARK: Requests

    private static func reach(_ address: String, _ allow: [AddressException]) throws(Trouble) -> HTTPReach {
        do throws(FormError) {
            return try HTTPReach(url: HTTPAddress(address), allow: allow)
        } catch {
            throw Trouble(text: "the address is refused: \(error)")
        }
    }

    private func get(
        _ address: String, _ reach: HTTPReach, _ headers: [String: String]
    ) async throws(Trouble) -> CurlResponse {
        let place = reach.url.shown
        let target: CurlTarget
        do throws(CurlTarget.Refusal) {
            target = try CurlTarget(address, host: reach.url.host, rule: reach.rule) {
                reach.mayConnect(to: $0)
            }
        } catch {
            switch error {
            case .notAnAddress: throw Trouble(text: "the address is refused: it is no http or https address")
            case .addressRefused(let address): throw Self.refused(address, place)
            }
        }
        let all = headers.sorted { $0.key < $1.key }.map { CurlHeader($0, $1) }
        let request = CurlRequest(
            url: address, headers: all + [CurlHeader("User-Agent", userAgent)], timeouts: Self.patience,
            bodyLimit: Self.pageLimit, addressGuard: target.addressGuard)
        do throws(CurlError) {
            return try await curl.perform(request)
        } catch {
            throw Self.trouble(error, place)
        }
    }

    private static func refused(_ address: SocketAddress, _ place: String) -> Trouble {
        Trouble(text: "\(place): \(address.ip) is not public, and is not reached")
    }

    private static func trouble(_ error: CurlError, _ place: String) -> Trouble {
        switch error {
        case .refused(let address): refused(address, place)
        case .malformed: Trouble(text: "the address is refused: it has characters that no address has")
        case .timedOut: Trouble(text: "\(place) did not answer within \(patience.total.text)")
        case .canceled, .closed: Trouble(text: "the daemon stops")
        case .resolve(let fault), .connect(let fault), .tls(let fault), .cut(let fault), .answer(let fault),
            .library(let fault):
            Trouble(text: "\(place): \(fault.text)")
        }
    }
}
