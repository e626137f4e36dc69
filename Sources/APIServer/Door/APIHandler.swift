/// Answers requests.
package protocol APIHandler: Sendable {
    /// The answer to `request`. Called for many requests at once.
    func respond(to request: APIRequest) async -> APIResponse
}
