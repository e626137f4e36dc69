import Crypto
package import Curl
package import Delivery
import FoundationEssentials
import Synchronization
package import Timeline

/// Sends what forms by HTTP render, whatever the service.
///
/// One attempt a call and no memory between calls: retries, circuits and order are the pump's. Redirects are not
/// followed, and the address is judged when the connection is made.
package struct HTTPSender: EdgeChannel {
    /// The name it has in the config file.
    package let name: String
    /// A code of the address, the secrets and the exceptions.
    package var identity: String { exchange.identity }
    package var lastProtocol: String? { exchange.lastProtocol }
    /// The thread that makes the requests.
    package var executor: (any TaskExecutor)? { exchange.executor }
    /// Wakes that thread.
    package func expectWork() { exchange.expectWork() }
    private let service: any HTTPForm
    private let exchange: HTTPExchange

    /// A channel of this form; without secrets to sign with, its webhooks are unsigned.
    ///
    /// `userAgent` is the header's value, as `Belfry/1.0`. Any number of channels share one `curl`.
    /// - Throws: ``HTTPSenderError`` when nothing could ever be sent there.
    package init(
        name: String, form: any HTTPForm, secrets: FormSecrets = FormSecrets(), userAgent: String,
        curl: CurlMulti
    ) throws(HTTPSenderError) {
        self.name = name
        service = form
        exchange = try HTTPExchange(with: form, secrets: secrets, userAgent: userAgent, curl: curl)
    }

    /// The form it sends for.
    package var form: any ChannelForm { service }

    /// The secrets that the form's requests are signed with.
    package static func signingSecrets(
        of form: any HTTPForm, in secrets: FormSecrets
    ) throws(WebhookSecretError) -> [WebhookSecret] {
        try HTTPExchange.signingSecrets(of: form, in: secrets)
    }

    /// Sends `parcel` once, signed for `now`.
    package func deliver(_ parcel: Parcel, at now: Moment) async throws(DeliveryError) -> Receipt {
        try await attempt(parcel, at: now).result.get()
    }

    /// The same, with the head of the answer.
    package func attempt(_ parcel: Parcel, at now: Moment) async -> DeliveryReport {
        let request = service.request(parcel, secrets: exchange.secrets)
        let answer: HTTPAnswer
        do throws(DeliveryError) {
            let signature = try signature(of: parcel, request.body, at: now)
            answer = try await exchange.perform(request, with: signature, at: now)
        } catch {
            return DeliveryReport(.failure(error))
        }
        let said = exchange.shown(answer)
        do throws(DeliveryError) {
            try exchange.check(answer)
            return DeliveryReport(
                .success(
                    Receipt(at: now, kind: .accepted, detail: "", status: answer.status, answer: said)))
        } catch {
            return DeliveryReport(.failure(error), answer: said)
        }
    }

    private func signature(
        of parcel: Parcel, _ body: [UInt8], at now: Moment
    ) throws(DeliveryError) -> [CurlHeader] {
        guard case .standardWebhooks = type(of: service).signature else { return [] }
        // A dot would let one id and timestamp be read as another.
        guard !parcel.id.isEmpty, !parcel.id.contains(".") else {
            throw .giveUp(.unsendable, detail: "an id must not be empty or contain a dot")
        }
        let prefix = service.signaturePrefix
        let headers = [
            CurlHeader(prefix + "-id", parcel.id),
            CurlHeader(prefix + "-timestamp", String(now.seconds)),
        ]
        guard !exchange.signing.isEmpty else { return headers }
        let signature = StandardWebhook.sign(id: parcel.id, at: now, body: body, secrets: exchange.signing)
        return headers + [CurlHeader(prefix + "-signature", signature)]
    }
}

/// Requests to one service and its answers, with its secrets: what all senders by HTTP share.
struct HTTPExchange: Sendable {
    /// A code of the address, the secrets and the exceptions: another one for another of them, and none of them can be read
    /// from it.
    let identity: String
    let secrets: FormSecrets
    /// What the requests are signed with.
    let signing: [WebhookSecret]
    private let service: any HTTPService
    private let target: HTTPTarget
    private let userAgent: String
    private let curl: CurlMulti
    private let last = LastVersion()
    var executor: any TaskExecutor { curl.executor }

    func expectWork() { curl.expectWork() }
    /// The version of HTTP in which the last answer came.
    var lastProtocol: String? { last.version.withLock { $0?.description } }

    /// - Throws: ``HTTPSenderError`` when nothing could ever be sent there.
    init(
        with service: any HTTPService, secrets: FormSecrets, userAgent: String, curl: CurlMulti
    ) throws(HTTPSenderError) {
        self.service = service
        target = try HTTPTarget(service.reach)
        self.secrets = secrets
        do throws(WebhookSecretError) {
            signing = try Self.signingSecrets(of: service, in: secrets)
        } catch {
            throw .badSecret(error)
        }
        if let fault = service.fault(in: secrets) { throw .unfitSecret(fault) }
        identity = Self.identity(of: service, signing, secrets)
        self.userAgent = userAgent
        self.curl = curl
    }

    /// The secrets that the form's requests are signed with.
    static func signingSecrets(
        of service: any HTTPService, in secrets: FormSecrets
    ) throws(WebhookSecretError) -> [WebhookSecret] {
        guard case .standardWebhooks(let key) = type(of: service).signature else { return [] }
        var signing: [WebhookSecret] = []
        for text in secrets[key] { signing += try WebhookSecret.list(text) }
        guard signing.allSatisfy(\.canSign) else { throw .publicKey }
        return signing
    }

    /// Sends `request` once, with `more` headers after its own.
    ///
    /// - Returns: what came back, which is not judged yet.
    /// - Throws: ``DeliveryError`` when nothing came back.
    func perform(
        _ request: HTTPRequest, with more: [CurlHeader] = [], at now: Moment
    ) async throws(DeliveryError) -> HTTPAnswer {
        // The guard was made for one host: a form never leads to another.
        guard request.url == service.reach.url.text || target.isSameHost(request.url) else {
            throw .giveUp(.unsendable, detail: "the request is for another host than \(target.shown)")
        }
        let headers = request.headers.map { CurlHeader($0.name, $0.value) }
        let response: CurlResponse
        do throws(CurlError) {
            var made = CurlRequest(
                method: request.method, url: request.url,
                headers: headers + [CurlHeader("User-Agent", userAgent)] + more, body: request.body,
                timeouts: target.timeouts, bodyLimit: Self.answerLimit,
                authorities: service.reach.trust.authorities, identity: target.identity,
                addressGuard: target.addressGuard)
            made.proxy = target.proxy
            response = try await curl.perform(made)
        } catch {
            throw DeliveryError(error, from: target.shown)
        }
        last.version.withLock { $0 = response.version ?? $0 }
        let wait = response.header("Retry-After").flatMap { RetryAfter.parse($0, now: now) }
        var answer = HTTPAnswer(
            status: response.status, body: response.body,
            retryAfter: wait.map { min(max($0, .zero), Self.longestRetryAfter) }, receiver: target.shown)
        answer.location = response.header("Location")
        return answer
    }

    /// Judges what came back.
    ///
    /// - Throws: ``DeliveryError``, without a secret that the answer repeats: it ends in logs and in the ledger.
    func check(_ answer: HTTPAnswer) throws(DeliveryError) {
        guard let failure = service.judge(answer) else { return }
        // Its words are those of an answer without them: of a secret that a line's limit cuts, the beginning would be left.
        var shown = answer
        shown.body = Array(secrets.hidden(in: String(decoding: answer.body, as: UTF8.self)).utf8)
        throw failure.saying(secrets.hidden(in: (service.judge(shown) ?? failure).detail))
    }

    /// The head of what came back as it may be shown, without secrets; nil: it says nothing.
    func shown(_ answer: HTTPAnswer) -> String? {
        if answer.body.isEmpty { return nil }
        return DeliveryReport.kept(secrets.hidden(in: String(decoding: answer.body, as: UTF8.self)))
    }

    private static func identity(
        of service: any HTTPService, _ signing: [WebhookSecret], _ secrets: FormSecrets
    ) -> String {
        let rules = service.reach.allow.map { "\($0)" }.sorted()
        let proxy = service.reach.proxy.map { ["proxy \($0.shown)"] } ?? []
        let text = ([service.destination] + rules + service.reach.trust.words + proxy).joined(separator: "\n")
        var keys = signing.map(\.key)
        var others = secrets.keys
        if case .standardWebhooks(let key) = type(of: service).signature { others.removeAll { $0 == key } }
        for key in others { keys += secrets[key].map { SymmetricKey(data: Data($0.utf8)) } }
        return identity(of: text, keys)
    }

    /// A code of a text and secrets, from which none of them can be read.
    static func identity(of text: String, _ keys: [SymmetricKey]) -> String {
        // Each secret is the key of one round: a list in another order is another identity.
        var code = Data(SHA256.hash(data: Data(text.utf8)))
        for key in keys { code = Data(HMAC<SHA256>.authenticationCode(for: code, using: key)) }
        return code.base64EncodedString()
    }

    /// How much of an answer is read.
    private static let answerLimit = 20_480
    /// The longest a receiver's `Retry-After` is believed.
    private static let longestRetryAfter = Duration.seconds(3600)
}

/// The version of HTTP in which the last answer came, shared by all copies of an exchange.
private final class LastVersion: Sendable {
    let version = Mutex<CurlResponse.Version?>(nil)
}

/// Why nothing could ever be sent for a form.
package enum HTTPSenderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no http or https address.
    case notAnAddress
    /// It is an address that is not public, and `allow` does not name it.
    case addressRefused(SocketAddress)
    /// A secret to sign with is none.
    case badSecret(WebhookSecretError)
    /// A secret is none that the form can work with, and why.
    case unfitSecret(String)

    /// A sentence for a person, with a hint.
    package var description: String {
        switch self {
        case .notAnAddress: "not an http or https address"
        case .addressRefused(let address):
            "\(address.ip) is not public or not encrypted: name it under allow, as \(address.ip)/\(address.ip.bitWidth)"
        case .badSecret(let error): "\(error)"
        case .unfitSecret(let reason): reason
        }
    }
}

extension DeliveryError {
    /// The same in other words.
    func saying(_ detail: String) -> DeliveryError {
        switch self {
        case .retry(let reason, let after, _, let status):
            return .retry(reason, after: after, detail: detail, status: status)
        case .giveUp(let reason, _, let status): return .giveUp(reason, detail: detail, status: status)
        case .unreachable(let reason, _): return .unreachable(reason, detail: detail)
        }
    }

    /// What it means that there is no answer.
    ///
    /// Where nothing can have been sent the way is unreachable; else the receiver may have had it, and will
    /// know the next attempt by its id.
    init(_ error: CurlError, from receiver: String) {
        switch error {
        case .malformed(let flaw):
            self = .giveUp(.unsendable, detail: "\(receiver): unsendable \(flaw.rawValue)")
        case .resolve(let fault): self = .unreachable(.dnsFailed, detail: "\(receiver): \(fault)")
        case .connect(let fault): self = .unreachable(.connectFailed, detail: "\(receiver): \(fault)")
        case .refused(let address):
            // A name may resolve to something else next time, as behind a hotel's portal: nothing is lost.
            self = .retry(
                .addressRefused, detail: "\(receiver): \(address.ip) is not public; allow can name it")
        case .tls(let fault): self = .retry(.tlsFailed, detail: "\(receiver): \(fault)")
        case .timedOut(.resolving, let fault):
            self = .unreachable(.dnsFailed, detail: "\(receiver): \(fault)")
        case .timedOut(.connecting, let fault):
            self = .unreachable(.connectFailed, detail: "\(receiver): \(fault)")
        case .timedOut(.answering, let fault), .timedOut(.silent, let fault):
            self = .retry(.timeout, detail: "\(receiver): \(fault)")
        case .cut(let fault): self = .retry(.disconnected, detail: "\(receiver): \(fault)")
        case .answer(let fault): self = .retry(.badAnswer, detail: "\(receiver): \(fault)")
        case .library(let fault): self = .unreachable(.connectFailed, detail: "\(receiver): \(fault)")
        case .canceled, .closed: self = .unreachable(.stopping, detail: "stopped before \(receiver) answered")
        }
    }
}

/// Where a channel's requests go, and where they must not: a form's reach, held against what libcurl makes of it.
package struct HTTPTarget: Sendable {
    private let reach: HTTPReach
    private let target: CurlTarget

    /// A target of the reach.
    ///
    /// - Throws: ``HTTPSenderError`` when nothing could ever be sent there.
    package init(_ reach: HTTPReach) throws(HTTPSenderError) {
        self.reach = reach
        do throws(CurlTarget.Refusal) {
            target = try CurlTarget(reach.url.text, host: reach.url.host, rule: reach.rule) {
                reach.mayConnect(to: $0)
            }
        } catch {
            switch error {
            case .notAnAddress: throw .notAnAddress
            case .addressRefused(let address): throw .addressRefused(address)
            }
        }
    }

    /// Scheme, host and port, which is all of the address that is ever shown.
    package var shown: String { reach.url.shown }

    /// Asked at connect, of the very address: that of the proxy where there is one, which whoever named it trusts.
    var addressGuard: AddressGuard {
        reach.proxy.map { AddressGuard(key: "proxy \($0.shown)") { _ in true } } ?? target.addressGuard
    }

    /// The proxy that requests are sent by; nil: none.
    var proxy: String? { reach.proxy?.shown }

    /// Whether `url` leads to the same host, in the same scheme and by the same port.
    func isSameHost(_ url: String) -> Bool { target.isSameHost(url) }

    /// What the client shows of itself.
    var identity: CurlIdentity? {
        reach.trust.certificate.map { CurlIdentity(certificate: $0, key: reach.trust.key) }
    }

    /// How long the parts of an attempt may take.
    var timeouts: CurlTimeouts { CurlTimeouts(connect: reach.connectTimeout, total: reach.timeout) }
}
