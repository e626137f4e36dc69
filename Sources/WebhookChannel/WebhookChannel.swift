package import Curl
package import Delivery
package import Timeline

/// Sends parcels as Standard Webhooks.
///
/// One attempt a call and no memory between calls: retries, circuits and order are the pump's. Only 2xx is
/// success, redirects are failures, and the address is judged when the connection is made.
package struct WebhookChannel: EdgeChannel {
    /// The name it has in the config file.
    package let name: String
    /// Where it sends to.
    package let target: WebhookTarget
    /// A code of the address, the secrets and the exceptions.
    package let identity: String
    private let secrets: [WebhookSecret]
    private let userAgent: String
    private let curl: CurlMulti

    /// A channel; without `secrets` its webhooks are unsigned.
    ///
    /// `userAgent` is the header's value, as `Belfry/1.0`. Any number of channels share one `curl`.
    package init(
        name: String, target: WebhookTarget, secrets: [WebhookSecret], userAgent: String, curl: CurlMulti
    ) {
        self.name = name
        self.target = target
        self.identity = target.identity(signedBy: secrets)
        self.secrets = secrets
        self.userAgent = userAgent
        self.curl = curl
    }

    /// Always `webhook`.
    package var kind: ChannelKind { .webhook }

    /// Posts `parcel` once, signed for `now`.
    package func deliver(_ parcel: Parcel, at now: Moment) async throws(DeliveryError) -> Receipt {
        // A dot would let one id and timestamp be read as another.
        guard !parcel.id.isEmpty, !parcel.id.contains(".") else {
            throw .giveUp(.unsendable, detail: "an id must not be empty or contain a dot")
        }
        let response: CurlResponse
        do throws(CurlError) {
            response = try await curl.perform(request(parcel, at: now))
        } catch {
            throw FailureTable.judge(error, shown: target.shown)
        }
        guard (200...299).contains(response.status) else {
            let retryAfter = response.header("Retry-After").flatMap { RetryAfter.parse($0, now: now) }
            throw FailureTable.judge(status: response.status, retryAfter: retryAfter, shown: target.shown)
        }
        return Receipt(at: now, kind: .accepted, detail: "", status: response.status)
    }

    private func request(_ parcel: Parcel, at now: Moment) -> CurlRequest {
        var headers = [
            CurlHeader("Content-Type", "application/json"),
            CurlHeader("User-Agent", userAgent),
            CurlHeader(StandardWebhook.idHeader, parcel.id),
            CurlHeader(StandardWebhook.timestampHeader, String(now.seconds)),
        ]
        if !secrets.isEmpty {
            let signature = StandardWebhook.sign(
                id: parcel.id, at: now, body: parcel.body, secrets: secrets)
            headers.append(CurlHeader(StandardWebhook.signatureHeader, signature))
        }
        return CurlRequest(
            method: "POST", url: target.url, headers: headers, body: parcel.body, timeouts: target.timeouts,
            bodyLimit: Self.answerLimit, addressGuard: target.addressGuard)
    }

    /// How much of an answer is read: its status counts, its body does not.
    private static let answerLimit = 20_480
}
