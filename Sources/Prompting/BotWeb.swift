package import Delivery

/// What of the web a bot's tools reach.
package struct BotWeb: Hashable, Sendable {
    /// What `fetch_url` may reach although it is not public, or in plain http.
    package var allow: [AddressException] = []
    /// Who searches the web for it; nil: nobody does.
    package var search: WebSearch?

    /// Public pages alone, and nobody who searches, unless they are set.
    package init() {}
}

/// A service that searches the web.
package struct WebSearch: Hashable, Sendable {
    /// What the service understands.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Brave's Search API.
        case brave
        /// The JSON of a SearXNG instance.
        case searxng

        /// Where the service is unless it is said; nil: it must be said.
        package var standardURL: String? { self == .brave ? "https://api.search.brave.com" : nil }
    }

    /// What the service understands.
    package var kind: Kind
    /// Its address, and whom a connection may reach.
    package var reach: HTTPReach

    /// A service at an address.
    package init(_ kind: Kind, reach: HTTPReach) { (self.kind, self.reach) = (kind, reach) }

    /// The address of a search for `words`; at most `count` results are wanted.
    package func address(of words: String, count: Int) -> String {
        let query = "q=" + Self.escaped(words)
        switch kind {
        case .brave: return reach.url.appending("/res/v1/web/search") + "?\(query)&count=\(count)"
        case .searxng: return reach.url.appending("/search") + "?\(query)&format=json"
        }
    }

    /// The text with all but letters, digits and a few marks written as `%XX`.
    ///
    /// - Source: RFC 3986, section 2.3.
    private static func escaped(_ text: String) -> String {
        text.utf8.reduce(into: "") { text, byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += byte < 16 ? "%0" + digits : "%" + digits
            }
        }
    }
}
