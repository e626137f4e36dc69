import TestSupport

/// A webhook as a receiver sees it.
struct Webhook {
    /// The request.
    let record: HookServer.Record
    /// Its body.
    let body: JSON

    /// The event's type.
    var type: String { body["type"].text ?? "" }
    /// The objects in it, by name.
    var data: JSON? { body["data"] }
    /// The id of the delivery.
    var id: String { record.id ?? "" }
    /// Whether `standardwebhooks` takes its signature for good.
    var isVerified: Bool { record.verified == true }
}

extension HookServer {
    /// The next webhook, once it has come.
    func webhook() async throws -> Webhook {
        let record = try await record()
        return Webhook(record: record, body: try JSON(record.body ?? ""))
    }

    /// All webhooks up to and with the first that fits.
    func webhooks(until fits: (Webhook) -> Bool) async throws -> [Webhook] {
        var found: [Webhook] = []
        while true {
            let webhook = try await webhook()
            found.append(webhook)
            if fits(webhook) { return found }
        }
    }

    /// The next webhook that fits; those before it are passed over.
    func webhook(where fits: (Webhook) -> Bool) async throws -> Webhook {
        while true {
            let webhook = try await webhook()
            if fits(webhook) { return webhook }
        }
    }
}
