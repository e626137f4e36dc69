package import Curl
package import Delivery
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
        let request = service.request(parcel, secrets: exchange.secrets)
        let signature = try signature(of: parcel, request.body, at: now)
        let answer = try await exchange.perform(request, with: signature, at: now)
        try exchange.check(answer)
        return Receipt(at: now, kind: .accepted, detail: "", status: answer.status)
    }

    private func signature(
        of parcel: Parcel, _ body: [UInt8], at now: Moment
    ) throws(DeliveryError) -> [CurlHeader] {
        guard case .standardWebhooks = type(of: service).signature else { return [] }
        // A dot would let one id and timestamp be read as another.
        guard !parcel.id.isEmpty, !parcel.id.contains(".") else {
            throw .giveUp(.unsendable, detail: "an id must not be empty or contain a dot")
        }
        let headers = [
            CurlHeader(StandardWebhook.idHeader, parcel.id),
            CurlHeader(StandardWebhook.timestampHeader, String(now.seconds)),
        ]
        guard !exchange.signing.isEmpty else { return headers }
        let signature = StandardWebhook.sign(id: parcel.id, at: now, body: body, secrets: exchange.signing)
        return headers + [CurlHeader(StandardWebhook.signatureHeader, signature)]
    }
}
