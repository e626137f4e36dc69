package import Timeline

/// A form whose requests go out by HTTP, whether its things are sent once or edited in place.
package protocol HTTPService: ChannelForm {
    /// Whom its requests may reach, and how long they may take.
    var reach: HTTPReach { get }
    /// What its requests are for, by which its troubles are remembered: the address, and what else of the settings names
    /// the receiver.
    var destination: String { get }
    /// How its requests are signed.
    static var signature: HTTPSignature { get }
    /// What the headers of a signature begin with.
    var signaturePrefix: String { get }

    /// How many requests the service takes, by its own documentation; `nil`: it names no number, or another server is
    /// asked, which has its own.
    var ownRate: EndpointRate? { get }

    /// Why nothing could be sent with these secrets, as a sentence without a full stop that holds none of them; `nil`:
    /// they are good.
    func fault(in secrets: FormSecrets) -> String?

    /// What `answer` means; `nil`: it was taken.
    func judge(_ answer: HTTPAnswer) -> DeliveryError?
}

/// A form that is sent by HTTP: it says what to send and what the answer means, and the sender does the rest.
///
/// The rest is connections, TLS, the address guard, signatures, redirects (never followed), `Retry-After` and limits.
package protocol HTTPForm: HTTPService, EdgeForm {
    /// The request of one attempt; a secret that the service wants in a header or in the address is put in here.
    func request(_ parcel: Parcel, secrets: FormSecrets) -> HTTPRequest
}

extension HTTPForm {
    /// The HTTP sender.
    package var carrier: FormCarrier { .http(self) }
}

/// A form by HTTP whose service edits in place what it has shown, as a chat does with a message.
///
/// What rings is posted again, since no service rings for an edit; what does not changes the last message. What showed
/// work in progress is removed when something rings in its place, and everything else stays: a chat is its own history.
package protocol HTTPLevelForm: HTTPService {
    /// The request that takes the step.
    func request(_ step: LevelStep, secrets: FormSecrets) -> HTTPRequest

    /// What the service calls the message that it posted; `nil`: it does not say.
    func remote(in answer: HTTPAnswer) -> String?

    /// Whether the message that was to be edited or removed is not there any more, or can't be edited any more.
    func isLost(_ answer: HTTPAnswer) -> Bool

    /// The request that takes the step where the answer says the receiver is now, with what a person changes in the
    /// configuration; `nil`: it has not moved.
    func following(
        _ answer: HTTPAnswer, _ step: LevelStep, secrets: FormSecrets
    ) -> (request: HTTPRequest, hint: String)?
}

extension HTTPLevelForm {
    /// The HTTP sender that edits.
    package var carrier: FormCarrier { .httpLevel(self) }

    package func following(
        _ answer: HTTPAnswer, _ step: LevelStep, secrets: FormSecrets
    ) -> (request: HTTPRequest, hint: String)? { nil }
}

/// What is done to a message of a service that edits in place.
package enum LevelStep: Hashable, Sendable {
    /// A new message shows the notice.
    case post(Notice, at: Moment)
    /// The message of that id shows the notice from now on.
    case edit(Notice, at: Moment, of: String)
    /// The message of that id is removed.
    case remove(String)
}

extension HTTPService {
    package var destination: String { reach.url.text }

    package var ownRate: EndpointRate? { nil }

    /// How many requests are sent: as many as the file says, or the service takes; `nil`: as fast as it goes.
    package var rate: EndpointRate? { reach.rate ?? ownRate }

    package static var signature: HTTPSignature { .none }

    package var signaturePrefix: String { "webhook" }

    package func fault(in secrets: FormSecrets) -> String? { nil }

    package func judge(_ answer: HTTPAnswer) -> DeliveryError? { answer.failure(by: .http) }
}

/// How a form's requests are signed.
package enum HTTPSignature: Hashable, Sendable {
    /// Not at all.
    case none
    /// With an id, a time and, where there are any, the secrets of that key, as Standard Webhooks.
    case standardWebhooks(key: String)
}

/// One request, complete but for what the sender adds: its name, and the signature.
package struct HTTPRequest: Hashable, Sendable {
    /// A header line.
    package struct Header: Hashable, Sendable {
        /// Its name.
        package var name: String
        /// Its value.
        package var value: String

        /// A header line.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The method.
    package var method: String
    /// The whole address, on the host of the form's ``HTTPReach``; may hold a secret, so it is never shown.
    package var url: String
    /// The header lines, in order.
    package var headers: [Header]
    /// The bytes to send.
    package var body: [UInt8]

    /// A request; left out, a POST.
    package init(method: String = "POST", url: String, headers: [Header] = [], body: [UInt8]) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// What came back.
package struct HTTPAnswer: Hashable, Sendable {
    /// The status.
    package var status: Int
    /// The head of the body.
    package var body: [UInt8]
    /// How long to wait before the next attempt, as the answer's header asks and as far as it is believed.
    package var retryAfter: Duration?
    /// Who answered: scheme, host and port.
    package var receiver: String
    /// Where its header leads to; may hold a token, and is never followed.
    package var location: String?

    /// An answer.
    package init(status: Int, body: [UInt8] = [], retryAfter: Duration? = nil, receiver: String) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
        self.receiver = receiver
    }

    /// What it means by `table`; `nil` for 2xx, which is success.
    ///
    /// `detail` follows the sentence that names the status.
    package func failure(by table: FailureTable<Int>, detail: String? = nil) -> DeliveryError? {
        if (200...299).contains(status) { return nil }
        let said = (detail ?? redirection).map { ": \($0)" } ?? ""
        return table.judge(
            status, asked: retryAfter, detail: "\(receiver) answered \(status)\(said)", status: status)
    }

    /// What an answer of 3xx means for a notice, and what helps; nil for any other.
    private var redirection: String? {
        let unfollowed = "redirects are not followed"
        switch status {
        case 300: return "it offers several addresses; use one of them"
        case 301, 308: return "it has moved\(destination) for good; \(unfollowed), use the new address"
        case 302, 303:
            return
                "it redirects\(destination), perhaps to a login; \(unfollowed), use an address that needs none"
        case 304: return "it treats this as a request for a web page; use the address of a webhook"
        case 305...306: return "it asks for a proxy; set one with proxy:"
        case 307: return "it redirects\(destination) for now; \(unfollowed), use the address that it leads to"
        default: return nil
        }
    }

    /// Where it leads to, with a blank before it: the server, or another path of the same one.
    private var destination: String {
        guard let location else { return "" }
        if location.hasPrefix("/"), !location.hasPrefix("//") { return " to another path" }
        guard let address = try? HTTPAddress(location) else { return "" }
        return address.shown == receiver ? " to another path" : " to \(address.shown)"
    }
}

/// Whom the requests of a form may reach, and how long they may take; valid by construction.
package struct HTTPReach: Hashable, Sendable {
    /// Where to.
    package let url: HTTPAddress
    /// What may be reached although it is not public, or in plain http.
    package let allow: [AddressException]
    /// How long connecting may take.
    package let connectTimeout: Duration
    /// Whose certificates count, and what is shown to a server that asks.
    package let trust: HTTPTrust
    /// How long the whole exchange may take.
    package let timeout: Duration

    /// How many requests are sent there; `nil`: as many as the service takes by its own documentation.
    package private(set) var rate: EndpointRate?
    /// The proxy that they are sent by; `nil`: none.
    package private(set) var proxy: HTTPAddress?

    /// The longest timeout there may be.
    package static let longestTimeout = Duration.seconds(120)
    static let allowKey = "allow"
    static let timeoutKey = "timeout"
    static let rateKey = "rate"
    static let proxyKey = "proxy"

    /// The keys of it that every form by HTTP has, besides the address.
    package static let fields =
        [
            FormField(
                allowKey, .exceptions, "what may be reached although it is not public",
                example: "[10.0.0.0/8]"),
            FormField(timeoutKey, .duration, "how long an attempt may take", example: "30s"),
            FormField(rateKey, .word, "how many requests in which time", example: "20/m"),
            FormField(proxyKey, .address, "the proxy to send by", example: "http://proxy.example.org:3128"),
        ] + HTTPTrust.fields

    /// To `url`, with the exceptions and the timeout of a form's values.
    /// - Throws: as ``init(url:allow:connectTimeout:timeout:)``.
    package init(to url: HTTPAddress, _ values: FormValues) throws(FormError) {
        try self.init(
            url: url, allow: values.exceptions(Self.allowKey), trust: HTTPTrust(values, for: url),
            timeout: values.duration(Self.timeoutKey) ?? .seconds(30))
        if case .address(let proxy)? = values[Self.proxyKey] {
            guard proxy.target.isEmpty || proxy.target == "/" else {
                throw .unfit(
                    Self.proxyKey, "a proxy is a host with its port, as http://proxy.example.org:3128")
            }
            self.proxy = proxy
        }
        guard let text = values.text(Self.rateKey) else { return }
        guard let rate = EndpointRate(text: text) else {
            throw .unfit(Self.rateKey, "a rate is a number and a time, as 20/m, 1/s or 5/2s")
        }
        self.rate = rate
    }

    /// To `url`; left out, public addresses only, 10 s to connect and 30 s in all.
    /// - Throws: ``FormError`` for plain http or a private address without an exception, and for bad timeouts.
    package init(
        url: HTTPAddress, allow: [AddressException] = [], trust: HTTPTrust = HTTPTrust(),
        connectTimeout: Duration = .seconds(10), timeout: Duration = .seconds(30)
    ) throws(FormError) {
        for duration in [connectTimeout, timeout] where duration <= .zero || duration > Self.longestTimeout {
            throw .badTimeout(duration, longest: Self.longestTimeout)
        }
        self.url = url
        self.allow = allow
        self.trust = trust
        self.connectTimeout = min(connectTimeout, timeout)
        self.timeout = timeout
        if !url.isSecure, !addresses.mayBeException { throw .plainHTTP(host: url.host) }
        if let address = AddressRange.bytes(of: url.host), !mayConnect(to: address) {
            throw .notPublic(host: url.host)
        }
    }

    /// Whether to connect to `address` (four or sixteen bytes), which the host was resolved to.
    ///
    /// Asked at connect with the very address, on each attempt: a name may lead elsewhere tomorrow. Not asked where a proxy
    /// connects: that one resolves the name itself.
    package func mayConnect(to address: [UInt8]) -> Bool {
        addresses.mayConnect(to: address)
    }

    /// Whether the address is on that domain: the service itself, and no server of somebody else that speaks like it.
    func isHosted(by domain: String) -> Bool { url.host == domain || url.host.hasSuffix(".\(domain)") }

    /// Names the rule of ``mayConnect(to:)``: two reaches whose rules have one name decide the same.
    package var rule: String { addresses.name }

    private var addresses: AddressRule {
        AddressRule(host: url.host, isEncrypted: url.isSecure, allow: allow)
    }
}

/// Whose certificates count for a form by HTTP, and what proves who asks: files, by their absolute paths.
package struct HTTPTrust: Hashable, Sendable {
    /// The certificates to trust in place of the system's.
    package private(set) var authorities: String?
    /// The certificate that is shown to a server that asks for one.
    package private(set) var certificate: String?
    /// The private key of ``certificate``; `nil`: it is in the same file.
    package private(set) var key: String?

    private static let (authoritiesKey, certificateKey, privateKey) = ("ca", "clientCert", "clientKey")

    static let fields = [
        FormField(authoritiesKey, .word, "the certificates to trust", example: "/etc/ssl/my-ca.pem"),
        FormField(
            certificateKey, .word, "the certificate that the service wants to see",
            example: "/etc/belfry/client.pem"),
        FormField(
            privateKey, .word, "the private key of that certificate", example: "/etc/belfry/client.key"),
    ]

    /// The system's certificates, and nothing to show.
    package init() {}

    init(_ values: FormValues, for url: HTTPAddress) throws(FormError) {
        (authorities, certificate) = (values.text(Self.authoritiesKey), values.text(Self.certificateKey))
        key = values.text(Self.privateKey)
        let paths = [
            (Self.authoritiesKey, authorities), (Self.certificateKey, certificate), (Self.privateKey, key),
        ]
        for case (let name, let path?) in paths {
            guard path.hasPrefix("/") else { throw .unfit(name, "\(name) needs an absolute path") }
            guard url.isSecure else {
                throw .unfit(name, "\(name) is for https; \(url.shown) is not encrypted")
            }
        }
        if key != nil, certificate == nil {
            throw .unfit(Self.privateKey, "a private key needs its clientCert")
        }
    }

    /// Stands for it; empty where nothing was chosen.
    package var words: [String] {
        zip(["ca", "cert", "key"], [authorities, certificate, key]).compactMap { name, path in
            path.map { "\(name) \($0)" }
        }
    }
}

/// Which addresses a host may be reached at.
package struct AddressRule: Hashable, Sendable {
    /// The host, in lower case; of an address of version 6 without the brackets.
    package let host: String
    /// Whether the way there is encrypted.
    package let isEncrypted: Bool
    /// What may be reached although it is not public, or unencrypted.
    package let allow: [AddressException]

    /// Whether to connect to `address` (four or sixteen bytes), which the host was resolved to.
    package func mayConnect(to address: [UInt8]) -> Bool {
        isNamed || isException(address) || (isEncrypted && AddressRange.isPublic(address))
    }

    /// Two rules of one name decide the same.
    package var name: String {
        "\(isEncrypted) \(host) \(allow.map { "\($0)" }.sorted().joined(separator: " "))"
    }

    /// Whether an exception can apply at all, as far as is known before the name is resolved.
    var mayBeException: Bool {
        if isNamed { return true }
        if let address = AddressRange.bytes(of: host) { return isException(address) }
        return allow.contains { if case .network = $0 { true } else { false } }
    }

    private var isNamed: Bool { allow.contains(.host(host)) }

    private func isException(_ address: [UInt8]) -> Bool {
        allow.contains { exception in
            if case .network(let range) = exception { range.contains(address) } else { false }
        }
    }
}
