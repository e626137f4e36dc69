/// One word, number or comma of a phrase, in lower case, with its place.
struct PhraseToken {
    var text: String
    var range: Range<Int>

    /// The words of `phrase`; commas stand alone.
    static func split(_ phrase: String) -> [PhraseToken] {
        var tokens: [PhraseToken] = []
        var current: [UInt8] = []
        var start = 0
        func flush(_ end: Int) {
            guard !current.isEmpty else { return }
            tokens.append(PhraseToken(text: String(decoding: current, as: UTF8.self), range: start..<end))
            current = []
        }
        var position = 0
        for byte in phrase.utf8 {
            switch byte {
            case 0x20, 0x09:
                flush(position)
            case UInt8(ascii: ","):
                flush(position)
                tokens.append(PhraseToken(text: ",", range: position..<position + 1))
            default:
                if current.isEmpty { start = position }
                current.append(byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte)
            }
            position += 1
        }
        flush(position)
        return tokens
    }
}
