import Foundation
import Ledger
import Testing

/// A webhook's body, as its receiver reads it.
struct ReceivedBody: Decodable {
    struct Contents: Decodable {
        var reason: String
        var item: Item?
        var run: Run?
        var outageSeconds: Int?
    }
    struct Item: Decodable {
        var key: String
        var count: Int
        var last: [Said]
    }
    struct Said: Decodable { var text: String }
    struct Run: Decodable {
        var name: String?
        var state: String
        var count: Int?
    }

    var type: String
    var data: Contents

    /// Reads a body's text.
    init(_ text: some Sequence<UInt8>) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(text))
    }
}

extension OutboxRecord {
    /// What the entry says.
    var said: ReceivedBody { get throws { try ReceivedBody(body) } }
}
