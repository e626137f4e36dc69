import Testing
import Timeline
import WebhookChannel

/// The vector every implementation of Standard Webhooks is tested with.
private enum Vector {
    static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    static let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
    static let sentAt = Moment(seconds: 1_614_265_330)
    static let body = Array(#"{"test": 2432232314}"#.utf8)
    static let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

    static func headers(signature: String = signature) -> [String: String] {
        ["webhook-id": id, "webhook-timestamp": "1614265330", "webhook-signature": signature]
    }
}

@Suite struct `a signature` {
    let secret: WebhookSecret

    init() throws {
        secret = try WebhookSecret(Vector.secret)
    }

    /// Why these headers do not verify, or `nil` when they do.
    private func refusal(
        _ headers: [String: String], body: [UInt8] = Vector.body, secrets: [WebhookSecret]? = nil,
        now: Moment = Vector.sentAt
    ) -> WebhookVerificationError? {
        do throws(WebhookVerificationError) {
            let found = try StandardWebhook.verify(
                headers: headers, body: body, secrets: secrets ?? [secret], now: now)
            #expect(found.id == Vector.id)
            #expect(found.sentAt == Vector.sentAt)
            return nil
        } catch {
            return error
        }
    }

    @Test func `is that of the specification's vector`() {
        let signature = StandardWebhook.sign(
            id: Vector.id, at: Vector.sentAt, body: Vector.body, secrets: [secret])
        #expect(signature == Vector.signature)
        #expect(refusal(Vector.headers()) == nil)
    }

    /// The first key of RFC 8032, 7.1, and what `openssl pkeyutl -sign -rawin` makes of the vector with it.
    private enum Ed25519 {
        static let seed = "whsk_nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A="
        static let both =
            "whsk_nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2DXWpgBgrEKt9VL/tPJZAc6DuFy89qmIyWvAhpo9wdRGg=="
        static let publicKey = "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
        static let signature =
            "v1a,fldxM4gAKugP6nnt1hdz3sgGfZ6d99nzrMFnZOELIxbzEHoVmAb2ADpkJK7zgPePmPsle0zV9jSeGlHFG2NVAw=="
    }

    @Test(arguments: [Ed25519.seed, Ed25519.both])
    func `of a private key is verified by its public key`(text: String) throws {
        let (secret, publicKey) = (try WebhookSecret(text), try WebhookSecret(Ed25519.publicKey))
        let made = StandardWebhook.sign(
            id: Vector.id, at: Vector.sentAt, body: Vector.body, secrets: [secret, publicKey, self.secret])
        let parts = made.split(separator: " ").map(String.init)
        #expect(parts.count == 2 && parts[1] == Vector.signature, "a public key signs nothing: \(made)")
        for signature in [parts[0], Ed25519.signature] {
            #expect(refusal(Vector.headers(signature: signature), secrets: [publicKey]) == nil)
            #expect(refusal(Vector.headers(signature: signature), secrets: [secret]) == nil)
            #expect(
                refusal(Vector.headers(signature: signature), body: [0x20], secrets: [publicKey]) == .noMatch)
        }
        #expect(refusal(Vector.headers(), secrets: [publicKey]) == .noMatch)
        #expect(!"\(secret)".contains("nWGx") && secret.canSign && !publicKey.canSign)
    }

    @Test func `of other bytes, another id or another time does not fit`() {
        #expect(
            refusal(Vector.headers(signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OA=")) == .noMatch)
        #expect(refusal(Vector.headers(), body: Vector.body + [0x20]) == .noMatch)
        var headers = Vector.headers()
        headers["webhook-id"] = "msg_other"
        #expect(refusal(headers) == .noMatch)
        headers = Vector.headers()
        headers["webhook-timestamp"] = "1614265331"
        #expect(refusal(headers) == .noMatch)
    }

    @Test(arguments: ["v1", "v1,", "v1,not base64", "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", ",,,"])
    func `that is none does not fit`(signature: String) {
        #expect(refusal(Vector.headers(signature: signature)) == .noMatch)
    }

    @Test func `is found third in a list of four, of which one is of another version`() {
        let list = "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc= v2,AAAA \(Vector.signature) v1a,AAAA"
        #expect(refusal(Vector.headers(signature: list)) == nil)
    }

    @Test func `holds five minutes, forwards and backwards`() {
        #expect(refusal(Vector.headers(), now: Vector.sentAt + .seconds(300)) == nil)
        #expect(refusal(Vector.headers(), now: Vector.sentAt + .seconds(301)) == .tooOld)
        #expect(refusal(Vector.headers(), now: Vector.sentAt - .seconds(300)) == nil)
        #expect(refusal(Vector.headers(), now: Vector.sentAt - .seconds(301)) == .tooNew)
    }

    @Test(arguments: ["webhook-id", "webhook-timestamp", "webhook-signature"])
    func `needs its three headers`(name: String) {
        var headers = Vector.headers()
        headers[name] = nil
        #expect(refusal(headers) == .headerMissing(name))
        headers[name] = ""
        #expect(refusal(headers) == .headerMissing(name))
    }

    @Test func `is found under headers of any case`() {
        let headers = Dictionary(
            uniqueKeysWithValues: Vector.headers().map { ($0.key.uppercased(), $0.value) })
        #expect(refusal(headers) == nil)
    }

    @Test(arguments: [
        "", "now", "1614265330.5", "99999999999999999999", "9223372036854775807", "-9223372036854775808",
    ])
    func `needs a time in whole seconds`(timestamp: String) {
        var headers = Vector.headers()
        headers["webhook-timestamp"] = timestamp
        #expect(
            refusal(headers) == (timestamp.isEmpty ? .headerMissing("webhook-timestamp") : .badTimestamp))
    }

    @Test func `is made by each secret while they are exchanged, and either fits`() throws {
        let other = try WebhookSecret("whsec_" + String(repeating: "QUJD", count: 8))
        let both = StandardWebhook.sign(
            id: Vector.id, at: Vector.sentAt, body: Vector.body, secrets: [other, secret])
        #expect(both.split(separator: " ").count == 2)
        #expect(both.hasSuffix(" " + Vector.signature))
        for secrets in [[other], [secret], [other, secret]] {
            #expect(refusal(Vector.headers(signature: both), secrets: secrets) == nil)
        }
        #expect(refusal(Vector.headers(), secrets: [other]) == .noMatch)
        #expect(refusal(Vector.headers(), secrets: []) == .noMatch)
    }
}

@Suite struct `a secret` {
    @Test func `is read with and without padding`() throws {
        let padded = try WebhookSecret("whsec_c2VjcmV0IG9mIHR3ZW50eS1maXZlIGI=")
        let unpadded = try WebhookSecret("whsec_c2VjcmV0IG9mIHR3ZW50eS1maXZlIGI")
        func sign(_ secret: WebhookSecret) -> String {
            StandardWebhook.sign(id: "a", at: Moment(seconds: 1), body: [], secrets: [secret])
        }
        #expect(sign(padded) == sign(unpadded))
    }

    @Test(arguments: [
        ("", WebhookSecretError.prefixMissing), ("c2VjcmV0", .prefixMissing),
        ("whsk_c2VjcmV0", .badLength), ("whpk_c2VjcmV0", .badLength), ("whxx_c2VjcmV0", .prefixMissing),
        ("whsec_", .empty), ("whsec_====", .notBase64), ("whsec_c2Vj*", .notBase64), ("whsec_c", .notBase64),
        ("whsec_c2==cmV0", .notBase64),
    ])
    func `that is none is refused without being shown`(text: String, reason: WebhookSecretError) {
        #expect(throws: reason) { try WebhookSecret(text) }
    }

    @Test func `may be one of several, separated by white space`() throws {
        #expect(try WebhookSecret.list("whsec_YWFh whsec_YmJi\n").count == 2)
        #expect(throws: WebhookSecretError.empty) { try WebhookSecret.list(" \n") }
        #expect(throws: WebhookSecretError.prefixMissing) { try WebhookSecret.list("whsec_YWFh b") }
    }

    @Test func `shows its last four characters at most, however it is printed`() throws {
        let secret = try WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), String(describing: [secret]), dumped] {
            #expect(text.contains("LaSw"))
            #expect(!text.contains("MfKQ"))
            #expect(!text.contains("49"))
        }
    }
}
