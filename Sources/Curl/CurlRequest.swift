import CCurl

/// One HTTP request: what to send, where to, and the bounds it is kept in.
///
/// Redirects are never followed, proxies named in the environment never used, and no other protocol than
/// HTTP and HTTPS are supported.
package struct CurlRequest: Sendable {
    /// The method, a token such as `POST`.
    package var method: String
    /// The whole address, beginning with `http://` or `https://`.
    package var url: String
    /// The header lines, sent as they are and in this order.
    ///
    /// A body without a `Content-Type` gets none.
    package var headers: [CurlHeader]
    /// The bytes to send, or `nil` for a request without a body.
    package var body: [UInt8]?
    /// How long it may take.
    package var timeouts: CurlTimeouts
    /// How many bytes of the answer's body are kept.
    ///
    /// A longer one ends the transfer there, not in error.
    package var bodyLimit: Int
    /// A file of certificates to trust in place of the system's.
    package var authorities: String?
    /// What is shown to a server that asks who is there.
    package var identity: CurlIdentity?
    /// Which addresses it may be sent to; of a proxy, where there is one.
    package var addressGuard: AddressGuard
    /// The proxy that it is sent by, as `http://proxy.example:3128`; `nil`: none, whatever the environment names.
    package var proxy: String?

    /// A request to `url`.
    ///
    /// The limit of the answer's body is 64 KiB.
    package init(
        method: String = "GET", url: String, headers: [CurlHeader] = [], body: [UInt8]? = nil,
        timeouts: CurlTimeouts = CurlTimeouts(), bodyLimit: Int = 65_536, authorities: String? = nil,
        identity: CurlIdentity? = nil, addressGuard: AddressGuard
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeouts = timeouts
        self.bodyLimit = bodyLimit
        self.authorities = authorities
        self.identity = identity
        self.addressGuard = addressGuard
    }

    /// What about it can't be sent, or `nil` when it can.
    var flaw: CurlError.Flaw? {
        // A byte below the space would end the C string, or the line it is written on.
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else { return .url }
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https", url.dropFirst(scheme.count).hasPrefix("://") else {
            return .url
        }
        guard !method.isEmpty, method.utf8.allSatisfy(CurlHeader.isTokenByte) else { return .method }
        guard headers.allSatisfy(\.isSound) else { return .header }
        guard authorities?.utf8.contains(0) != true else { return .authorities }
        return nil
    }
}

/// One header line of a request or a response.
package struct CurlHeader: Hashable, Sendable {
    /// The field's name; compared without regard to case.
    package let name: String
    /// The field's value, without the spaces around it.
    package let value: String

    /// The line `name: value`.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the line can be sent as it is: a token, and a value without control characters.
    ///
    /// A line break in a value would let its author write headers of his own.
    var isSound: Bool {
        !name.isEmpty && name.utf8.allSatisfy(Self.isTokenByte)
            && value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7f) }
    }

    /// Whether `byte` may stand in a field name or a method.
    ///
    /// Source: RFC 9110, section 5.6.2.
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// How long a request may take.
///
/// Each is counted from the request's start, unless it says otherwise.
package struct CurlTimeouts: Hashable, Sendable {
    /// For finding the host's addresses.
    package var resolve: Duration
    /// For having a connection: lookup, TCP and TLS together.
    package var connect: Duration
    /// For everything, to the answer's last byte.
    package var total: Duration
    /// For the head of a streamed answer, counted from the sent request; nil: as long as ``total``.
    package var head: Duration?
    /// For the next byte of a streamed answer after its head; nil: as long as ``total``.
    ///
    /// The time in which the reader keeps the transfer waiting does not count.
    package var silence: Duration?

    /// 5, 10 and 30 seconds unless set otherwise.
    ///
    /// Below a millisecond counts as a millisecond.
    package init(
        resolve: Duration = .seconds(5), connect: Duration = .seconds(10), total: Duration = .seconds(30),
        head: Duration? = nil, silence: Duration? = nil
    ) {
        self.resolve = resolve
        self.connect = connect
        self.total = total
        self.head = head
        self.silence = silence
    }
}

/// A server's answer.
package struct CurlResponse: Hashable, Sendable {
    /// The status, 100...999.
    package let status: Int
    /// The header lines of the final answer, in the order they came.
    package let headers: [CurlHeader]
    /// The body, up to the request's limit.
    package let body: [UInt8]
    /// Whether the body was longer than the limit and the rest was left unread.
    package let bodyWasCut: Bool
    /// Whether it came over a connection that an earlier request had opened.
    package let connectionWasReused: Bool
    /// The version of HTTP that was spoken; nil: none that is known.
    package let version: Version?

    /// A version of HTTP.
    package enum Version: String, Hashable, Sendable, CustomStringConvertible {
        case http1_0 = "HTTP/1.0"
        case http1_1 = "HTTP/1.1"
        case http2 = "HTTP/2"

        /// As libcurl numbers them.
        init?(_ number: Int) {
            switch number {
            case CURL_HTTP_VERSION_1_0: self = .http1_0
            case CURL_HTTP_VERSION_1_1: self = .http1_1
            case CURL_HTTP_VERSION_2_0: self = .http2
            default: return nil
            }
        }

        /// As it is written in a request line: `HTTP/1.1`.
        package var description: String { rawValue }
    }

    /// The value of the first header of this name, whatever its case.
    package func header(_ name: String) -> String? {
        headers.first(of: name)
    }
}

/// A web address parsed by the very parser that will connect to it.
///
/// A second parser could read another host out of the same text, and a rule would be asked about the
/// wrong one.
///
/// The corresponding C functions are `curl_url_set` and `curl_url_get`.
package struct CurlURL: Hashable, Sendable {
    /// `http` or `https`.
    package let scheme: String
    /// The host in lower case; an address of version 6 without its brackets.
    package let host: String
    /// The port, also when the text leaves it to the scheme.
    package let port: UInt16

    /// Takes `text` apart; `nil` unless it is an HTTP address that can be sent to.
    package init?(_ text: String) {
        guard CurlRequest(url: text, addressGuard: .open).flaw == nil, let parts = unsafe curl_url() else {
            return nil
        }
        defer { unsafe curl_url_cleanup(parts) }
        guard unsafe curl_url_set(parts, CURLUPART_URL, text, 0) == CURLUE_OK,
            let scheme = unsafe Self.part(CURLUPART_SCHEME, of: parts),
            let host = unsafe Self.part(CURLUPART_HOST, of: parts),
            let port = unsafe Self.part(CURLUPART_PORT, of: parts).flatMap({ UInt16($0) })
        else { return nil }
        self.scheme = scheme.lowercased()
        self.host = host.lowercased().filter { $0 != "[" && $0 != "]" }
        self.port = port
    }

    /// The host as an address, when it is written as one.
    package var address: IPAddress? { IPAddress(host) }

    private static func part(_ part: CURLUPart, of parts: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        let code = unsafe curl_url_get(parts, part, &text, UInt32(CURLU_DEFAULT_PORT))
        guard code == CURLUE_OK, let text = unsafe text else { return nil }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }
}

/// One host that requests may be sent to, and the rule that each connection is held against.
///
/// The address is read by the caller, whose rule is about the host it found, and by libcurl, which connects: where the
/// two see different hosts, nothing is sent.
package struct CurlTarget: Sendable {
    /// The address as libcurl reads it.
    package let parts: CurlURL
    /// Asked at connect, of the very address.
    ///
    /// Connections are shared only between targets of one rule.
    package let addressGuard: AddressGuard

    /// Why nothing could ever be sent there.
    package enum Refusal: Error, Hashable, Sendable {
        /// It is no http or https address, or libcurl reads another host in it.
        case notAnAddress
        /// It is an address that the rule does not allow.
        case addressRefused(SocketAddress)
    }

    /// The target `url`, in which the caller found `host`.
    ///
    /// `rule` names the rule `allows`, which is asked with the four or sixteen bytes of an address.
    /// - Throws: ``Refusal`` when nothing could ever be sent there.
    package init(
        _ url: String, host: String, rule: String, allows: @escaping @Sendable ([UInt8]) -> Bool
    ) throws(Refusal) {
        guard let parts = CurlURL(url), parts.host == host || parts.address != nil else {
            throw .notAnAddress
        }
        self.parts = parts
        addressGuard = AddressGuard(key: rule) { allows($0.ip.bytes) }
        if let address = parts.address, !allows(address.bytes) {
            throw .addressRefused(SocketAddress(ip: address, port: parts.port))
        }
    }

    /// Whether `url` leads to the same host, in the same scheme and by the same port.
    package func isSameHost(_ url: String) -> Bool {
        CurlURL(url).map { ($0.scheme, $0.host, $0.port) == (parts.scheme, parts.host, parts.port) } ?? false
    }
}

/// The files by which a client proves who it is, in PEM.
package struct CurlIdentity: Hashable, Sendable {
    /// The certificate, with those that lead to its authority.
    package var certificate: String
    /// The private key, without a passphrase; `nil`: it is in the file of the certificate.
    package var key: String?

    /// An identity of these files.
    package init(certificate: String, key: String? = nil) {
        self.certificate = certificate
        self.key = key
    }
}
