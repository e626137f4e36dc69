import API
import Ledger
import Tracking

// Publishing as to ntfy: existing scripts need another address and token, and nothing else.
extension Door {
    /// A request that publishes: `POST /` with JSON, `POST` or `PUT /TOPIC`, `GET /TOPIC/publish`; nil: it is another one.
    func publication(_ head: RequestHead, by token: TokenRecord) throws(APIError) -> Admission? {
        let parts = head.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            .map { PercentCoding.decode($0) ?? "" }
        let isPost = head.method == "POST" || head.method == "PUT"
        let isWord = ["publish", "send", "trigger"].contains(parts.last)
        guard let topic = parts.first, parts.count == (isWord && !isPost ? 2 : 1),
            isPost || (head.method == "GET" && isWord)
        else { return nil }
        try allow(token, .publish)
        return Admission(bodyLimit: Self.bodyLimit) { [handler] body in
            do throws(APIError) {
                let publication =
                    topic.isEmpty
                    ? try Publication(json: body) : try Publication(topic: topic, head, body: body)
                let message = try await handler.notify(publication.request())
                return .whole(
                    status: 200, contentType: "application/json", bytes: publication.answer(message).bytes)
            } catch {
                return .failure(error)
            }
        }
    }
}
