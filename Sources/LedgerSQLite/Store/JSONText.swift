import FoundationEssentials

/// Values that are kept as JSON because nothing asks for their parts.
enum JSONText {
    static func encode(_ value: some Encodable) throws(StoreFailure) -> String {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            throw .unreadable("a \(type(of: value)) can't be written: \(error)")
        }
    }

    static func decode<Value: Decodable>(_ text: String, as _: Value.Type = Value.self) throws(StoreFailure)
        -> Value
    {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
        } catch {
            throw .unreadable("a stored \(Value.self) can't be read: \(error)")
        }
    }
}
