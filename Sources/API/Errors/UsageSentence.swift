/// What the parser of arguments says, in the form of our own sentences.
package enum UsageSentence {
    /// `message` on one line; it begins small and ends without a full stop.
    package static func of(_ message: String) -> String {
        let line = message.split(separator: "\n").joined(separator: " ")
        let text = line.last == "." ? String(line.dropLast()) : line
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
