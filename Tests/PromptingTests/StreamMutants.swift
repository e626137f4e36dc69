import TestSupport

/// Streams that are nearly right: real ones with bytes changed, parts cut out, repeated and exchanged.
struct StreamMutants {
    private var generator: SeededGenerator
    private let originals: [[UInt8]]

    private static let tokens = [
        "data: ", "event: ", "\n\n", "\r", "{", "}", "[", "]", "null", "\"", "\\u", "\\ud83d", ":", ",",
        "1e999",
        "-1", "[DONE]", "\"index\":0", "\"type\":", "\"text\":7", "\"delta\":{", "\u{FEFF}", "é",
    ].map { Array($0.utf8) }

    init(seed: UInt64, of originals: [[UInt8]]) {
        generator = SeededGenerator(seed: seed)
        self.originals = originals
    }

    mutating func below(_ limit: Int) -> Int { generator.below(limit) }

    mutating func next() -> [UInt8] {
        var bytes = originals[below(originals.count)]
        for _ in 0...below(6) where !bytes.isEmpty {
            let place = below(bytes.count)
            let end = min(place + below(60), bytes.count)
            switch below(6) {
            case 0: bytes[place] = UInt8(below(256))
            case 1: bytes.removeSubrange(place..<end)
            case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 3: bytes.insert(contentsOf: Self.tokens[below(Self.tokens.count)], at: place)
            case 4: bytes.replaceSubrange(place..<end, with: Self.tokens[below(Self.tokens.count)])
            default: bytes.removeSubrange(place...)
            }
        }
        return bytes
    }
}
