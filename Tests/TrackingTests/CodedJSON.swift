import FoundationEssentials
import TestSupport
import Testing
import Timeline
import Tracking

/// Every shape that a value may have.
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

@Suite struct `a value as JSON` {
    /// By Foundation's decoder and by our own.
    private func isReread<Value: Codable & Equatable>(_ value: Value) throws -> Bool {
        let bytes = try JSON.encode(value)
        let sorted = try JSON.encode(value, sorted: true)
        return try JSONDecoder().decode(Value.self, from: Data(bytes)) == value
            && JSON.decode(Value.self, from: bytes) == value && JSON.decode(Value.self, from: sorted) == value
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
            #expect(try isReread(value), "seed \(seed)")
        }
    }

    @Test func `is a bare value where the value is one, and refuses what is no number`() throws {
        #expect(try JSON.encode("a\tb") == Array(#""a\tb""#.utf8))
        #expect(try JSON.encode([Int]()) == Array("[]".utf8))
        #expect(try JSON.encode(Int?.none) == Array("null".utf8))
        for number in [Double.nan, .infinity] {
            #expect(throws: EncodingError.self) { try JSON.encode([number]) }
        }
    }

    @Test func `has its names in the order of the value, or of the alphabet at every depth`() throws {
        struct Pair: Encodable {
            var b = ["z": 1]
            var a: [Inner] = [Inner(), Inner()]
            var c = 0.5
        }
        struct Inner: Encodable { var (y, x) = ("\"", 1.0) }
        let written = String(decoding: try JSON.encode(Pair()), as: UTF8.self)
        #expect(written == #"{"b":{"z":1},"a":[{"y":"\"","x":1},{"y":"\"","x":1}],"c":0.5}"#)
        let sorted = String(decoding: try JSON.encode(Pair(), sorted: true), as: UTF8.self)
        #expect(sorted == #"{"a":[{"x":1,"y":"\""},{"x":1,"y":"\""}],"b":{"z":1},"c":0.5}"#)
        #expect(try JSON(encoding: Pair()).bytes == Array(written.utf8))
    }

    @Test(arguments: [
        (#"{"list":[{"n":1},{"n":"2"}]}"#, "list.1.n"), (#"{"list":[{"n":1},{}]}"#, "list.1.n"),
        (#"{"list":{}}"#, "list"), ("{}", "list"), ("[", ""), (#"{"list":[{"n":1.5}]}"#, "list.0.n"),
        (#"{"list":[{"n":300}]}"#, "list.0.n"), (#"{"list":[null]}"#, "list.0"),
    ])
    func `that can't be read names the place at fault`(text: String, path: String) {
        struct List: Decodable { var list: [Element] }
        struct Element: Decodable { var n: UInt8 }
        let error = #expect(throws: DecodingError.self) { try JSON.decode(List.self, from: text.utf8) }
        let keys: [any CodingKey] =
            switch error {
            case .keyNotFound(let key, let context): context.codingPath + [key]
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                context.codingPath
            default: []
            }
        #expect(keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".") == path)
    }

    @Test func `of a live state has the names that rows have had since the first version`() throws {
        let text =
            #"{"attempt":2,"blockedKind":"question","etaAt":1800000000000000,"etaHigh":1800000000000002,"#
            + #""etaLow":1800000000000001,"message":"two of four","phase":"copy","progress":0.25,"#
            + #""reason":"canceled","seq":5000000001,"staleAt":1800000000000003,"startedAt":1,"#
            + #""state":"blocked","task":{"botID":"ops","botName":"Ops","id":"01a0c450","name":"backup","#
            + #""run":"backup#7"},"updatedAt":-7}"#
        let live = try JSON.decode(LiveState.self, from: text.utf8)
        #expect(live.finish?.low == Moment(microseconds: 1_800_000_000_000_001) && live.phase == "copy")
        #expect(String(decoding: try JSON.encode(live, sorted: true), as: UTF8.self) == text)
        var least = LiveState(
            task: live.task, attempt: 1, seq: 1, state: .queued, updatedAt: Moment(microseconds: 0))
        #expect(try isReread(least))
        for progress in [0, 1, 1e-9, 0.1 + 0.2, 0.999_999_999_999_999_9] {
            least.progress = progress
            #expect(try isReread(least))
        }
        for text in ["", "a \"b\" \\", "\u{0}\u{1}\u{8}\t\n\u{c}\r\u{1f}", "\u{7f}\u{2028}é🔔", "</script>"] {
            least.message = text
            #expect(try isReread(least))
        }
    }

    @Test(arguments: [
        ("[[1]", "it is not valid JSON"),
        ("\(String(repeating: "9", count: 65))", "a number has more than 64 characters"),
        (String(repeating: "[", count: 65), "it is nested more than 64 levels deep"),
        (#"{"a":"# + String(repeating: #"{"a":"#, count: 64), "it is nested more than 64 levels deep"),
    ])
    func `that is not read is refused with the reason`(text: String, reason: String) {
        let error = #expect(throws: DecodingError.self) { try JSON.decode(JSON.self, from: text.utf8) }
        guard case .dataCorrupted(let context)? = error else { return #expect(Bool(false)) }
        #expect(context.debugDescription == reason)
    }

    /// With a search for each name this would take minutes.
    @Test(.timeLimit(.minutes(5)))
    func `is read in a time that grows with its length alone, however many names it has`() throws {
        let numbers = Dictionary(uniqueKeysWithValues: (0..<100_000).map { ("name \($0)", $0) })
        #expect(try JSON.decode([String: Int].self, from: JSON.encode(numbers)) == numbers)
    }

    @Test(arguments: [1, 100])
    func `of an object that has a name twice is the last of them`(others: Int) throws {
        let rest = (0..<others).map { ",\"other \($0)\":0" }.joined()
        let read = try JSON.decode([String: Int].self, from: "{\"a\":1\(rest),\"a\":2}".utf8)
        #expect(read["a"] == 2 && read.count == others + 1)
    }

    @Test func `of random bytes is a value or an error, whatever is asked for`() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let good =
            (try? JSON.encode(["a": [LiveTask(id: "i", botID: "b", run: "r#1", name: "n", botName: "B")]]))
            ?? []
        for _ in 0..<3000 {
            var bytes = good
            for _ in 0...random.below(4) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            if let read = try? JSON.decode([String: [LiveTask]].self, from: bytes) {
                #expect((try? isReread(read)) == true, "seed \(seed)")
            }
        }
    }
}
