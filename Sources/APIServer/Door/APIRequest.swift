package import API

/// What was asked.
package struct APIRequest: Hashable, Sendable {
    /// What it is about.
    package var route: Route
    /// The part of the target after `?`.
    package var query: Query
    /// The body, whole.
    package var body: [UInt8]
    /// Where a reader of an event stream wants to go on.
    package var lastEventID: String?

    /// A request without a body unless one is given.
    package init(route: Route, query: Query = Query(), body: [UInt8] = [], lastEventID: String? = nil) {
        self.route = route
        self.query = query
        self.body = body
        self.lastEventID = lastEventID
    }

    /// The value in the body.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/badJSON``.
    package func value<Value: Decodable>(_ type: Value.Type = Value.self) throws(APIError) -> Value {
        try WireCoding.decode(type, from: body)
    }

    /// The value in the body, or nil when there is no body.
    package func valueIfPresent<Value: Decodable>(
        _ type: Value.Type = Value.self
    ) throws(APIError) -> Value? {
        body.isEmpty ? nil : try WireCoding.decode(type, from: body)
    }
}
