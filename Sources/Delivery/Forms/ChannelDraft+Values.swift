import Tracking

// What a person types or pipes in for a draft.

extension ChannelDraft {
    /// Sets a key to what a person wrote for it on one line.
    ///
    /// A program stands there with its arguments as for a shell, other lists with commas. Blanks around it are dropped.
    package mutating func set(_ key: String, to text: String) {
        let text = Self.trimmed(text)
        switch form?.fields.first(where: { $0.name == key })?.shape {
        case .words: settings[key] = .array(Self.commandWords(text).map { .string($0) })
        case .list, .exceptions: settings[key] = .array(Self.parts(text).map { .string($0) })
        case .word, .address, .mailServer, .duration, .secrets, nil: settings[key] = .string(text)
        }
    }

    /// Why a text is no secret for that key, as a sentence without a full stop that holds none of it; `nil`: it may be one.
    package func fault(inSecret text: String, for key: String) -> String? {
        if Self.trimmed(text).isEmpty { return "the \(key) is empty" }
        if text.contains(where: \.isNewline), !mayBeSeveral(key) {
            return "the \(key) has more than one line; pipe in one line"
        }
        return nil
    }

    /// Whether a new secret may stand beside the one that it replaces.
    private func mayBeSeveral(_ key: String) -> Bool {
        guard case .standardWebhooks(key)? = (form as? any HTTPService.Type)?.signature else { return false }
        return true
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let blank = { (character: Character) in character.isWhitespace }
        guard let first = text.firstIndex(where: { !blank($0) }),
            let last = text.lastIndex(where: { !blank($0) })
        else { return "" }
        return String(text[first...last])
    }

    private static func parts(_ text: String) -> [String] {
        text.split(separator: ",").map { trimmed($0) }.filter { !$0.isEmpty }
    }

    /// The words of a command: at blanks, which quotes and backslashes keep; nothing is expanded.
    ///
    /// A text without blanks may have commas between its words instead.
    static func commandWords(_ text: String) -> [String] {
        guard text.contains(where: \.isWhitespace) else { return parts(text) }
        var (words, word): ([String], String?) = ([], nil)
        var quote: Character?
        var isEscaped = false
        for character in text {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                (quote, word) = (character, word ?? "")
            } else if quote == nil, character.isWhitespace {
                words += [word].compactMap(\.self)
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return words + [word].compactMap(\.self)
    }
}
