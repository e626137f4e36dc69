import FoundationEssentials
import Grouping
import Ledger
import TestSupport
import Testing
import Timeline

/// Every shape that a value of a row may have.
private struct Shapes: Codable, Equatable {
    enum Choice: Codable, Equatable {
        case none
        case one(Int)
        indirect case both(text: String, Choice)
    }

    struct Empty: Codable, Equatable {}

    var text: String
    var number: Int64
    var big: UInt64
    var small: Int8
    var part: Double
    var single: Float
    var isTrue: Bool
    var missing: String?
    var holes: [Int?]
    var nested: [[String: [Choice]]]
    var choices: [Choice]
    var moment: Moment
    var wait: Duration
    var empty: Empty
    var bytes: [UInt8]
}

@Suite struct `the JSON of a row` {
    private func reread<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(try StoredJSON.encode(value)))
    }

    @Test func `is read back by any decoder, whatever the value`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let text = String(
                decoding: (0..<Int.random(in: 0...20, using: &random)).map { _ in
                    UInt8.random(in: 0 ... .max, using: &random)
                }, as: UTF8.self)
            let choice = Shapes.Choice.both(
                text: text + "\u{0}\"\\/\u{1F514}\n", .one(.random(in: .min ... .max, using: &random)))
            let value = Shapes(
                text: text, number: .random(in: .min ... .max, using: &random),
                big: .random(in: 0 ... .max, using: &random),
                small: .random(in: .min ... .max, using: &random),
                part: .random(in: -1e300...1e300, using: &random), single: .random(in: 0...1, using: &random),
                isTrue: .random(using: &random), missing: Bool.random(using: &random) ? text : nil,
                holes: [nil, 1, nil], nested: [[:], [text: [choice, .none]], ["a": []]],
                choices: [.none, choice, .one(0)],
                moment: Moment(microseconds: .random(in: .min ... .max, using: &random)),
                wait: .microseconds(Int64.random(in: 0...1_000_000_000, using: &random)),
                empty: Shapes.Empty(), bytes: Array(text.utf8))
            #expect(try reread(value) == value, "seed \(seed)")
        }
    }

    @Test func `of an item is read back`() throws {
        var item = ThreadItem(bot: "ops", thread: "main")
        for number in 0..<5 {
            let message = Message(
                id: "m\(number)", bot: "ops", thread: "main", text: "\u{1B}[31m \"\(number)\"",
                at: at(Double(number)),
                urgency: .critical, title: "title", appearance: Appearance(expireAfter: .seconds(3)),
                replaceKey: "key \(number % 2)")
            _ = item.receive(message, at: at(Double(number)), policy: ThreadPolicy())
            #expect(try reread(item) == item)
        }
    }

    @Test func `is a bare value where the value is one, and refuses what is no number`() throws {
        #expect(try StoredJSON.encode("a\tb") == Array(#""a\u0009b""#.utf8))
        #expect(try StoredJSON.encode([Int]()) == Array("[]".utf8))
        #expect(try StoredJSON.encode(Int?.none) == Array("null".utf8))
        for number in [Double.nan, .infinity] {
            #expect(throws: EncodingError.self) { try StoredJSON.encode([number]) }
        }
    }
}
