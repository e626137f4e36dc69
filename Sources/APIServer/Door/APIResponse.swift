package import API

/// What is answered.
package enum APIResponse: Sendable {
    /// A whole answer.
    case whole(status: Int, contentType: String, bytes: [UInt8])
    /// An answer that is written as it comes to be. `write` returns at its end; what it throws cuts the
    /// connection, so that the reader knows the answer is not complete.
    case stream(
        contentType: String, fields: [String: String] = [:],
        write: @concurrent @Sendable (inout any BodyWriter) async throws -> Void)
    /// An error of the table.
    case failure(APIError)

    /// A value as JSON.
    package static func value(_ value: some Encodable, status: Int = 200) -> APIResponse {
        do throws(APIError) {
            return .whole(
                status: status, contentType: "application/json", bytes: try WireCoding.encode(value))
        } catch {
            return .failure(error)
        }
    }

    /// Nothing but that it was done.
    package static let done = APIResponse.whole(status: 204, contentType: "", bytes: [])
}

/// Takes the parts of an answer.
package protocol BodyWriter {
    /// Writes `bytes` and returns once the connection takes more; a slow reader makes this wait.
    @concurrent
    mutating func write(_ bytes: [UInt8]) async throws
}
