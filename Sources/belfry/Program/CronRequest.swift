import Tracking

/// A line of `cron next|prev|check --stdin`.
struct CronRequest {
    static let null = Array("null".utf8)

    /// The id as it was written, `null` when there is none.
    private(set) var id = Self.null
    private(set) var expression: String?
    private(set) var zone: String?
    private(set) var from: String?
    private(set) var count: Int?
    private(set) var direction: String?
    private(set) var isLenient = false

    /// Reads one JSON object; `nil` when `line` is anything else, or a member is of another type.
    init?(_ line: ArraySlice<UInt8>) {
        var reader = JSONReader(line, depth: 0)
        let isWhole = reader.object { name, reader in
            reader.skipSpace()
            let start = reader.place
            guard let value = reader.value() else { return false }
            return read(name, value, line[start..<reader.place])
        }
        guard isWhole, reader.isAtEnd else { return nil }
    }

    private mutating func read(_ name: String, _ value: JSON, _ written: ArraySlice<UInt8>) -> Bool {
        switch (name, value) {
        case ("id", _): id = Array(written)
        case (_, .null): break
        case ("expr", .string(let text)): expression = text
        case ("zone", .string(let text)): zone = text
        case ("from", .string(let text)): from = text
        case ("direction", .string(let text)): direction = text
        case ("n", .number(let digits)):
            count = Int(digits)
            return count != nil
        case ("lenient", .bool(let flag)): isLenient = flag
        case ("expr", _), ("zone", _), ("from", _), ("direction", _), ("n", _), ("lenient", _): return false
        default: break
        }
        return true
    }
}
