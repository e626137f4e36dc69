/// A server's answer.
package struct CurlResponse: Hashable, Sendable {
    /// The status, 100...999.
    package let status: Int
    /// The header lines of the final answer, in the order they came.
    package let headers: [CurlHeader]
    /// The body, up to the request's limit.
    package let body: [UInt8]
    /// Whether the body was longer than the limit and the rest was left unread.
    package let bodyWasCut: Bool
    /// Whether it came over a connection that an earlier request had opened.
    package let connectionWasReused: Bool

    /// The value of the first header of this name, whatever its case.
    package func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }
}
