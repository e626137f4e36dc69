import Testing
import Timeline
import WebhookChannel

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
