extension Moment: Codable {
    /// Reads whole microseconds since the epoch, as ``encode(to:)`` writes them.
    public init(from decoder: any Decoder) throws {
        self.init(microseconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    /// Writes one integer, the microseconds since the epoch: exact, and comparable in a query.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(microseconds)
    }
}
