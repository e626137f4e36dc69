import API

/// The names in a JSON object, whatever their values are.
struct JSONKeys: Decodable {
    var names: Set<String>

    /// The names in the JSON object that `value` is encoded as.
    static func of(_ value: some Encodable) throws -> Set<String> {
        try WireCoding.decode(JSONKeys.self, from: WireCoding.encode(value)).names
    }

    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        names = Set(try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue))
    }
}
