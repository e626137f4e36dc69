import Tracking

/// Turns wire values into JSON and back.
package enum WireCoding {
    /// The JSON of `value`: UTF-8, one line, keys in order of the alphabet, absent parts left out.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/internalFault`` for a value JSON can't say, such as a number
    ///   that is not one.
    package static func encode(_ value: some Encodable) throws(APIError) -> [UInt8] {
        do {
            return try JSON.encode(value, sorted: true)
        } catch {
            throw APIError(.internalFault, "a value could not be written as JSON")
        }
    }

    /// The JSON of `value` as text; see ``encode(_:)``.
    package static func text(_ value: some Encodable) throws(APIError) -> String {
        String(decoding: try encode(value), as: UTF8.self)
    }

    /// The value that `bytes` hold as JSON; unknown keys are ignored, for the contract may grow.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/badJSON`` that names the place at fault.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: some Sequence<UInt8>
    ) throws(APIError) -> Value {
        do {
            return try JSON.decode(type, from: bytes)
        } catch let error as DecodingError {
            throw APIError(.badJSON, "the JSON is refused: \(explain(error))")
        } catch {
            throw APIError(.badJSON)
        }
    }

    private static func explain(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context):
            "\"\(path(context.codingPath + [key]))\" is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            context.codingPath.isEmpty
                ? context.debugDescription : "\"\(path(context.codingPath))\" has the wrong type"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty
                ? context.debugDescription : "\"\(path(context.codingPath))\": \(context.debugDescription)"
        @unknown default:
            "it does not fit"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }
}
