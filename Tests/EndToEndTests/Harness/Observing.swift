import Foundation
import TestSupport

/// A command that prints one JSON object a line as long as it lives, such as `belfry events --json`.
final class Feed: Sendable {
    private let process: ChildProcess

    init(_ process: ChildProcess) {
        self.process = process
    }

    /// The next object that fits; those before it are passed over.
    ///
    /// - Throws: ``Ended`` when the command ends first.
    func next(where fits: (JSON) -> Bool = { _ in true }) async throws -> JSON {
        for await line in process.lines {
            let object = try JSON(line)
            if fits(object) { return object }
        }
        throw Ended()
    }

    /// The next `count` objects that fit, with those between them left out.
    func next(_ count: Int, where fits: (JSON) -> Bool) async throws -> [JSON] {
        var found: [JSON] = []
        while found.count < count { found.append(try await next(where: fits)) }
        return found
    }

    /// The next event of a type, of one job when it is named.
    func event(_ type: String, of job: String? = nil) async throws -> JSON {
        try await next { $0["type"].text == type && (job == nil || $0["job"].text == job) }
    }

    /// All objects up to its end.
    func rest() async throws -> [JSON] {
        var found: [JSON] = []
        for await line in process.lines { found.append(try JSON(line)) }
        return found
    }

    /// Waits until it ends by itself; its exit code.
    func code() async -> Int32? { await process.status() }

    /// The stream ended before what the test waited for came; also when the test's time was over.
    struct Ended: Error {}
}

/// A webhook as a receiver sees it.
struct Webhook {
    /// The request.
    let record: HookServer.Record
    /// Its body.
    let body: JSON

    /// The event's type.
    var type: String { body["type"].text ?? "" }
    /// The objects in it, by name.
    var data: JSON? { body["data"] }
    /// The id of the delivery.
    var id: String { record.id ?? "" }
    /// Whether `standardwebhooks` takes its signature for good.
    var isVerified: Bool { record.verified == true }
}

extension HookServer {
    /// The next webhook, once it has come.
    func webhook() async throws -> Webhook {
        let record = try await record()
        return Webhook(record: record, body: try JSON(record.body ?? ""))
    }

    /// All webhooks up to and with the first that fits.
    func webhooks(until fits: (Webhook) -> Bool) async throws -> [Webhook] {
        var found: [Webhook] = []
        while true {
            let webhook = try await webhook()
            found.append(webhook)
            if fits(webhook) { return found }
        }
    }

    /// The next webhook that fits; those before it are passed over.
    func webhook(where fits: (Webhook) -> Bool) async throws -> Webhook {
        while true {
            let webhook = try await webhook()
            if fits(webhook) { return webhook }
        }
    }
}

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
