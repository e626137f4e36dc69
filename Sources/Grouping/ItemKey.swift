/// Which item something belongs to: everything with one key is shown to a person as one thing.
///
/// The text form is stable, because it is stored and names surfaces: `job:home-backup`,
/// `thread:ops/main`. In a bot's name `%` and `/` are written `%25` and `%2F`; a thread is written as it is.
public enum ItemKey: Hashable, Sendable {
    /// The messages of one thread of a bot.
    case thread(bot: String, thread: String)
    /// A job's progress, result, failures and recovery.
    case job(String)
    /// Jobs that failed alike, by the storm's number.
    case storm(Int)
    /// A question, by its id.
    case question(String)
}

extension ItemKey: LosslessStringConvertible {
    /// The stable text form.
    public var description: String {
        switch self {
        case .thread(let bot, let thread): "thread:" + Self.escaped(bot) + "/" + thread
        case .job(let name): "job:" + name
        case .storm(let number): "storm:\(number)"
        case .question(let id): "question:" + id
        }
    }

    /// Reads the stable text form; `nil` for anything else.
    public init?(_ description: String) {
        guard let colon = description.firstIndex(of: ":") else { return nil }
        let rest = description[description.index(after: colon)...]
        switch description[..<colon] {
        case "job" where !rest.isEmpty:
            self = .job(String(rest))
        case "question" where !rest.isEmpty:
            self = .question(String(rest))
        case "storm":
            guard let number = Int(rest), number > 0, rest == "\(number)" else { return nil }
            self = .storm(number)
        case "thread":
            guard let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")),
                let bot = Self.unescaped(rest[..<slash])
            else { return nil }
            self = .thread(bot: bot, thread: String(rest[rest.utf8.index(after: slash)...]))
        default:
            return nil
        }
    }

    private static func escaped(_ bot: String) -> String {
        var text = ""
        for scalar in bot.unicodeScalars {
            switch scalar {
            case "%": text += "%25"
            case "/": text += "%2F"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func unescaped(_ text: Substring) -> String? {
        var bot = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "%" else {
                bot.unicodeScalars.append(scalar)
                continue
            }
            switch (rest.popFirst(), rest.popFirst()) {
            case ("2", "5"): bot += "%"
            case ("2", "F"): bot += "/"
            default: return nil
            }
        }
        return bot
    }
}

extension ItemKey: Codable {
    /// Reads the stable text form.
    /// - Throws: `DecodingError.dataCorrupted` when the text is not a key.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let key = ItemKey(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an item key")
        }
        self = key
    }

    /// Writes the stable text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
