import Curl
import Delivery
import Foundation
import TestSupport
import Testing
import Timeline
import WebhookChannel

@Suite(.timeLimit(.minutes(5))) struct `a delivery` {
    static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    let curl: CurlMulti
    let now = Moment(seconds: 1_800_000_000)

    init() throws {
        curl = try CurlMulti()
    }

    private func channel(
        _ url: String, secrets: [String] = [], allow: [String] = ["127.0.0.1/32"],
        timeout: Duration = .seconds(30)
    ) throws -> HTTPSender {
        let reach = try HTTPReach(
            url: try HTTPAddress(url), allow: try allow.map { try AddressException($0) }, timeout: timeout)
        return try HTTPSender(
            name: "hook", form: WebhookForm(reach), secrets: FormSecrets(["secret": secrets]),
            userAgent: "Belfry/1.0", curl: curl)
    }

    private func parcel(id: String = "evt_1", attempt: Int = 1) -> Parcel {
        Parcel(
            id: id, type: "run.failed", timestamp: now,
            body: Array(#"{"type":"run.failed","data":{"name":"Ünï"}}"#.utf8),
            attempt: attempt)
    }

    /// The result of one attempt that was not accepted.
    private func failure(
        _ channel: HTTPSender, _ parcel: Parcel? = nil
    ) async -> DeliveryError? {
        do throws(DeliveryError) {
            _ = try await channel.deliver(parcel ?? self.parcel(), at: now)
            return nil
        } catch {
            return error
        }
    }

    @Test func `posts the very bytes under the Standard Webhooks headers`() async throws {
        let server = try await HookServer()
        let receipt = try await channel(server.url("/in?a=b"), secrets: [Self.secret]).deliver(
            parcel(), at: now)
        #expect(receipt == Receipt(at: now, kind: .accepted, status: 204))
        let record = try await server.record()
        #expect(record.method == "POST")
        #expect(record.path == "/in?a=b")
        #expect(record.body.map { Array($0.utf8) } == parcel().body)
        #expect(record.headers["content-type"] == "application/json")
        #expect(record.headers["user-agent"] == "Belfry/1.0")
        #expect(record.headers["webhook-id"] == "evt_1")
        #expect(record.headers["webhook-timestamp"] == "1800000000")
        let verified = try StandardWebhook.verify(
            headers: record.headers, body: parcel().body, secrets: [WebhookSecret(Self.secret)], now: now)
        #expect(verified.id == "evt_1")
    }

    /// A webhook with these settings.
    private func channel(_ url: String, _ more: [String: String], secret: String) throws -> HTTPSender {
        var values = FormValues()
        values["url"] = .address(try HTTPAddress(url))
        values["allow"] = .exceptions([try AddressException("localhost"), try AddressException("127.0.0.1")])
        for (key, text) in more { values[key] = .word(text) }
        return try HTTPSender(
            name: "hook", form: try WebhookForm(values), secrets: FormSecrets(["secret": [secret]]),
            userAgent: "Belfry/1.0", curl: curl)
    }

    @Test func `names its headers and signs as the receiver wants`() async throws {
        let server = try await HookServer()
        let key = "whsk_nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A="
        _ = try await channel(server.url(), ["headers": "svix"], secret: key).deliver(parcel(), at: now)
        let headers = try await server.record().headers
        #expect(headers["svix-id"] == "evt_1" && headers["svix-timestamp"] == "1800000000")
        #expect(headers["svix-signature"]?.hasPrefix("v1a,") == true && headers["webhook-id"] == nil)
        #expect(throws: FormError.self) { try channel(server.url(), ["headers": "a b"], secret: key) }
        #expect(throws: HTTPSenderError.self) {
            try channel(
                server.url(), [:], secret: "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
        }
    }

    @Test func `trusts the certificates that it is given, and shows its own`() async throws {
        let own = try SelfSignedCertificate(for: "localhost")
        let client = try SelfSignedCertificate(for: "belfry")
        let server = try await HookServer([
            "--tls", own.certificate, own.key, "--client-ca", client.certificate,
        ])
        let url = server.url(scheme: "https", host: "localhost")
        let shown = ["ca": own.certificate, "clientCert": client.certificate, "clientKey": client.key]
        let receipt = try await channel(url, shown, secret: Self.secret).deliver(parcel(), at: now)
        #expect(receipt.status == 204)
        // Whoever shows nothing gets no answer, and nobody is trusted without the certificate.
        let hidden = try channel(url, ["ca": own.certificate], secret: Self.secret)
        #expect(await failure(hidden) != nil)
        let stranger = try channel(url, [:], secret: Self.secret)
        #expect(await failure(stranger)?.reason == .tlsFailed)
        for bad in [["ca": "ca.pem"], ["clientKey": "/k.pem"]] {
            #expect(throws: FormError.self) { try channel(url, bad, secret: Self.secret) }
        }
        #expect(throws: FormError.self) {
            try channel(server.url(), ["ca": own.certificate], secret: Self.secret)
        }
    }

    @Test func `reports which version of HTTP the receiver speaks`() async throws {
        let pair = try SelfSignedCertificate(for: "localhost")
        let server = try await HookServer(
            ["--tls", pair.certificate, pair.key], script: "http2-server.py")
        let secure = try channel(
            server.url(scheme: "https", host: "localhost"), ["ca": pair.certificate], secret: Self.secret)
        #expect(secure.lastProtocol == nil)
        #expect(try await secure.deliver(parcel(), at: now).status == 204)
        #expect(secure.lastProtocol == "HTTP/2")
        let verified = try StandardWebhook.verify(
            headers: try await server.record().headers, body: parcel().body,
            secrets: [WebhookSecret(Self.secret)], now: now)
        #expect(verified.id == "evt_1")
        let old = try await HookServer()
        let plain = try channel(old.url())
        _ = await failure(plain)
        #expect(plain.lastProtocol == "HTTP/1.1")
    }

    @Test(arguments: ["refuse-once", "away-once", "reset-once"])
    func `that the receiver's HTTP/2 breaks off is tried again under its id`(path: String) async throws {
        let pair = try SelfSignedCertificate(for: "localhost")
        let server = try await HookServer(
            ["--tls", pair.certificate, pair.key], script: "http2-server.py")
        let channel = try channel(
            server.url("/" + path, scheme: "https", host: "localhost"), ["ca": pair.certificate],
            secret: Self.secret)
        if let failure = await failure(channel) {
            guard case .retry(.disconnected, nil, _, nil) = failure else { throw failure }
            _ = try await channel.deliver(parcel(attempt: 2), at: now)
        }
        #expect(try await server.records(2).map(\.id) == ["evt_1", "evt_1"])
    }

    @Test func `without a secret is unsigned`() async throws {
        let server = try await HookServer()
        _ = try await channel(server.url()).deliver(parcel(), at: now)
        let record = try await server.record()
        #expect(record.headers["webhook-signature"] == nil)
        #expect(record.headers["webhook-id"] == "evt_1")
    }

    @Test
    func `verifies with an independent implementation`() async throws {
        let other = "whsec_" + String(repeating: "QUJD", count: 8)
        let server = try await HookServer(["--secret", Self.secret])
        let present = Moment(seconds: Int64(Date().timeIntervalSince1970))
        for secrets in [[Self.secret], [other, Self.secret], [other]] {
            _ = try await channel(server.url(), secrets: secrets).deliver(parcel(), at: present)
        }
        _ = try await channel(server.url(), secrets: [Self.secret]).deliver(
            parcel(), at: present - .seconds(400))
        #expect(try await server.records(4).map(\.verified) == [true, true, false, false])
    }

    @Test func `keeps its id and renews its time and signature on each attempt`() async throws {
        let server = try await HookServer(["--status-plan", "503,429,204", "--retry-after", "2"])
        let shown = server.url("/").dropLast()
        let channel = try channel(server.url(), secrets: [Self.secret])
        #expect(
            await failure(channel)
                == .retry(
                    .serverError, after: .seconds(2), detail: "\(shown) answered 503", status: 503))
        #expect(
            await failure(channel, parcel(attempt: 2))
                == .retry(
                    .throttled, after: .seconds(2), detail: "\(shown) answered 429", status: 429))
        _ = try await channel.deliver(parcel(attempt: 3), at: now + .seconds(7))
        let records = try await server.records(3)
        #expect(Set(records.map(\.id)) == ["evt_1"])
        #expect(
            records.map { $0.headers["webhook-timestamp"] } == ["1800000000", "1800000000", "1800000007"])
        #expect(records[0].headers["webhook-signature"] != records[2].headers["webhook-signature"])
        #expect(Set(records.map(\.client)).count == 1)
    }

    @Test(
        arguments: [
            (200, nil), (201, nil), (202, nil), (299, nil), (301, .redirected), (304, .redirected),
            (307, .redirected),
            (400, .rejected), (401, .rejected), (404, .rejected), (408, .askedAgain), (410, .gone),
            (413, .rejected),
            (425, .askedAgain), (429, .throttled), (500, .serverError), (502, .serverError),
            (504, .serverError),
            (599, .serverError), (666, .badAnswer),
        ] as [(Int, DeliveryReason?)])
    func `is judged by its status`(status: Int, reason: DeliveryReason?) async throws {
        let server = try await HookServer(["--status-plan", "\(status)", "--location", "/elsewhere"])
        let failure = await failure(try channel(server.url("/secret-token")))
        #expect(failure?.reason == reason)
        guard let failure else { return }
        #expect(failure.status == status)
        let shown = server.url("/").dropLast()
        #expect(failure.detail.hasPrefix("\(shown) answered \(status)") && !failure.detail.contains("secret"))
        let isRedirect = (301...308).contains(status) && status != 304
        #expect(failure.detail.contains("to another path") == isRedirect)
        let mayPass = status >= 500 || [408, 425, 429].contains(status)
        if case .retry = failure { #expect(mayPass) } else { #expect(!mayPass) }
    }

    @Test(arguments: [("7200", 3600), ("-5", nil), ("soon", nil), ("0", 0)] as [(String, Int?)])
    func `believes a wait of an hour at most`(header: String, seconds: Int?) async throws {
        let server = try await HookServer(["--status-plan", "503", "--retry-after=\(header)"])
        guard case .retry(_, let after, _, _) = await failure(try channel(server.url())) else {
            Issue.record("no retry")
            return
        }
        #expect(after == seconds.map { .seconds($0) })
    }

    @Test(
        arguments: [("drop", .disconnected), ("cut", .disconnected), ("garbage", .badAnswer)]
            as [(String, DeliveryReason)])
    func `whose answer breaks is tried again`(plan: String, reason: DeliveryReason) async throws {
        let server = try await HookServer(["--status-plan", plan])
        guard case .retry(let found, nil, _, nil) = await failure(try channel(server.url("/token"))) else {
            Issue.record("no retry")
            return
        }
        #expect(found == reason)
    }

    @Test func `to a silent receiver is tried again`() async throws {
        let server = try await HookServer(["--status-plan", "hang"])
        let short = Duration.milliseconds(200)
        let failure = await failure(try channel(server.url(), timeout: short))
        #expect(failure?.reason == .timeout)
    }

    @Test func `to nobody reports that the way is away, and names no path`() async throws {
        let nobody = try RefusingPort()
        for (url, reason) in [
            (nobody.url("/token?key=secret"), DeliveryReason.connectFailed),
            ("https://no-such-host.invalid/secret-token", .dnsFailed),
        ] {
            guard case .unreachable(let found, let detail) = await failure(try channel(url)) else {
                Issue.record("not unreachable: \(url)")
                continue
            }
            #expect(found == reason)
            #expect(detail.hasPrefix("http"))
            #expect(!detail.contains("token") && !detail.contains("secret"))
        }
    }

    @Test func `to a name that leads back inside is held back, and never connects`() async throws {
        let server = try await HookServer()
        let url = server.url(scheme: "https", host: "localhost")
        guard case .retry(.addressRefused, nil, let detail, nil) = await failure(try channel(url, allow: []))
        else {
            Issue.record("not refused")
            return
        }
        #expect(detail.contains("https://localhost"))
        #expect(detail.contains("allow"))
        // The same name in a range that is allowed, or allowed by name, is reached.
        for allow in [["127.0.0.0/8", "::1"], ["localhost"]] {
            _ = try await channel(server.url(host: "localhost"), allow: allow).deliver(parcel(), at: now)
        }
        #expect(try await server.records(2).count == 2)
    }

    @Test func `to an untrusted certificate is tried again`() async throws {
        let pair = try SelfSignedCertificate(for: "localhost")
        let server = try await HookServer(["--tls", pair.certificate, pair.key])
        let failure = await failure(try channel(server.url(scheme: "https")))
        #expect(failure?.reason == .tlsFailed)
    }

    @Test(arguments: ["", "a.b", "a\r\nX-Other: b"])
    func `of an id that can't be signed is given up`(id: String) async throws {
        let channel = try channel("http://127.0.0.1:1/")
        guard case .giveUp(.unsendable, _, nil) = await failure(channel, parcel(id: id)) else {
            Issue.record("not given up")
            return
        }
    }

    @Test func `that is cancelled or closed counts for nothing`() async throws {
        let server = try await HookServer(["--status-plan", "hang"])
        let channel = try channel(server.url())
        let canceled = Task { await failure(channel) }
        _ = try await server.record()
        canceled.cancel()
        #expect(await canceled.value?.reason == .stopping)
        curl.close()
        #expect(await failure(channel)?.reason == .stopping)
    }

    @Test func `a hundred times at once arrives a hundred times`() async throws {
        let server = try await HookServer()
        let channel = try channel(server.url(), secrets: [Self.secret])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...100 {
                group.addTask { [now] in
                    let parcel = Parcel(
                        id: "evt_\(number)", type: "test", timestamp: now, body: Array("\(number)".utf8),
                        attempt: 1)
                    _ = try await channel.deliver(parcel, at: now)
                }
            }
            try await group.waitForAll()
        }
        #expect(Set(try await server.records(100).compactMap(\.id)).count == 100)
    }
}
