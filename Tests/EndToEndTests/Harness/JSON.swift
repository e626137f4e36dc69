import Foundation

/// Any JSON: the tests read what the programs print without the programs' own types.
enum JSON: Decodable, Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([JSON].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: JSON].self))
        }
    }

    /// The value that `text` holds.
    init(_ text: String) throws {
        self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
    }

    /// A member of an object; nil where there is none.
    subscript(_ key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    /// The names of an object's members.
    var keys: Set<String> {
        guard case .object(let members) = self else { return [] }
        return Set(members.keys)
    }

    /// An object's members; none for anything else.
    var members: [String: JSON] {
        guard case .object(let members) = self else { return [:] }
        return members
    }

    /// The elements of an array; none for anything else.
    var list: [JSON] {
        guard case .list(let elements) = self else { return [] }
        return elements
    }

    /// The text of a string.
    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The value of a number.
    var number: Double? {
        guard case .number(let number) = self else { return nil }
        return number
    }

    /// The value of a whole number.
    var integer: Int? { number.flatMap(Int.init(exactly:)) }
}

extension JSON? {
    /// A member of an object that is there.
    subscript(_ key: String) -> JSON? { flatMap { $0[key] } }
    /// The text of a string that is there.
    var text: String? { flatMap(\.text) }
    /// The value of a number that is there.
    var number: Double? { flatMap(\.number) }
    /// The value of a whole number that is there.
    var integer: Int? { flatMap(\.integer) }
    /// The elements of an array that is there.
    var list: [JSON] { self?.list ?? [] }
    /// The names of the members of an object that is there.
    var keys: Set<String> { self?.keys ?? [] }
}
