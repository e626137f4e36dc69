import API
import Crypto
import Host
import Tracking

/// A token that a program connects over TCP with.
enum DoorToken {
    /// What every token begins with, so that people and scanners know one when they see it.
    static let lead = "bft_"

    /// A new one: 32 bytes that nobody can guess.
    static func make() -> String {
        lead + plain(Base64.encode(bytes()))
    }

    /// 32 bytes that nobody can guess.
    static func bytes() -> [UInt8] {
        (0..<4).flatMap { _ in
            let word = RandomBytes.word()
            return (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
    }

    /// What is kept of it.
    ///
    /// The token is random and long: a slow hash would add nothing.
    static func digest(of token: String) -> String {
        SHA256.hash(data: Array(token.utf8)).map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined()
    }

    /// The token that a request carries: as `Bearer`, as the password of `Basic`, or either of these in `?auth=`.
    ///
    /// - Source: RFC 6750, RFC 7617; ntfy's documentation, "Query param".
    static func carried(by head: RequestHead) -> String? {
        if let field = head["authorization"] { return token(inField: field) }
        guard let text = head.query["auth"], let bytes = bytes(ofURLText: text),
            let field = String(validating: bytes, as: UTF8.self)
        else { return nil }
        return token(inField: field)
    }

    private static func token(inField field: String) -> String? {
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let value = parts[1].drop { $0 == " " }
        switch parts[0].lowercased() {
        case "bearer": return String(value)
        case "basic":
            guard let bytes = Base64.decode(String(value)),
                let text = String(validating: bytes, as: UTF8.self),
                let colon = text.firstIndex(of: ":")
            else { return nil }
            return String(text[text.index(after: colon)...])
        default: return nil
        }
    }

    /// Bytes in the letters of either alphabet, padded or not.
    private static func bytes(ofURLText text: String) -> [UInt8]? {
        var letters = text.replacing("-", with: "+").replacing("_", with: "/").filter { $0 != "=" }
        while letters.utf8.count % 4 != 0 { letters += "=" }
        return Base64.decode(letters)
    }

    /// In letters that need no escape in an address, without padding.
    static func plain(_ base64: String) -> String {
        base64.replacing("+", with: "-").replacing("/", with: "_").filter { $0 != "=" }
    }
}
