import Foundation
import TestSupport
import Testing
import Tracking

/// Any JSON, as Foundation reads it.
private indirect enum Reread: Decodable, Equatable {
    case null, bool(Bool), int(Int64), double(Double), string(String), array([Reread]), object(
        [String: Reread])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([Reread].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: Reread].self))
        }
    }

    init(_ json: JSON) {
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let digits):
            if let whole = Int64(digits) {
                self = .int(whole)
            } else {
                let value = Double(digits) ?? .nan
                self = Int64(exactly: value).map(Reread.int) ?? .double(value)
            }
        case .string(let value): self = .string(value)
        case .array(let values): self = .array(values.map(Reread.init))
        case .members(let members):
            self = .object(Dictionary(uniqueKeysWithValues: members.map { ($0.name, Reread($0.value)) }))
        }
    }
}

private func makeJSON(_ random: inout SeededGenerator, depth: Int) -> JSON {
    switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &random) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &random))
    case 2: return .int(Int64.random(in: Int64.min...Int64.max, using: &random))
    case 3:
        let value = Double(bitPattern: UInt64.random(in: UInt64.min...UInt64.max, using: &random))
        return .double(abs(value) > 1e15 ? value.isNaN ? .nan : 0.1 : value)
    case 4: return .string(makeText(&random))
    case 5: return .array((0..<3).map { _ in makeJSON(&random, depth: depth - 1) })
    default:
        return .members(
            (0..<3).map { JSON.Member("\($0)" + makeText(&random), makeJSON(&random, depth: depth - 1)) })
    }
}

private func makeText(_ random: inout SeededGenerator) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...8, using: &random) {
        let top: UInt32 = Bool.random(using: &random) ? 0x80 : 0x10FFFF
        if let scalar = Unicode.Scalar(UInt32.random(in: 0...top, using: &random)) {
            text.unicodeScalars.append(scalar)
        }
    }
    return text
}

@Suite struct `a JSON text` {
    @Test func `is read back as the same value`() throws {
        for seed in 1...400 {
            var random = SeededGenerator(seed: UInt64(seed))
            let json = JSON.array([makeJSON(&random, depth: 3)])
            let reread = try JSONDecoder().decode(Reread.self, from: Data(json.bytes))
            #expect(reread == Reread(json), "seed \(seed): \(String(decoding: json.bytes, as: UTF8.self))")
            #expect(JSON(parsing: json.bytes[...]) == json, "seed \(seed)")
        }
    }

    @Test func `escapes what must be escaped and nothing else`() {
        let text = JSON.string("a\"b\\c/\n\r\t\u{0}\u{1F}\u{7F}\u{80}\u{9F}\u{A0}é🇩🇪").bytes
        #expect(
            String(decoding: text, as: UTF8.self)
                == #""a\"b\\c/\n\r\t\u0000\u001f\u007f\u0080\u009f\#u{A0}é🇩🇪""#)
    }

    @Test func `keeps the order of keys and leaves out what is not known`() {
        let json = JSON.object(["z": .int(1), "a": nil, "m": .double(0.5), "b": .bool(true)])
        #expect(String(decoding: json.bytes, as: UTF8.self) == #"{"z":1,"m":0.5,"b":true}"#)
    }
}

@Suite struct `bytes that claim to be JSON` {
    @Test(arguments: [
        (#" {"a":[1,-2.5e3,true,null,"x"]} "#, #"{"a":[1,-2.5e3,true,null,"x"]}"#),
        (#""\u0041\u00e9\ud83d\ude00\/\b\f""#, #""Aé😀/\u0008\u000c""#), ("12345678901234567890", nil),
        ("[]", nil), ("{}", nil), ("-0", nil), ("1E+2", nil), (#"{"a":1,"a":2}"#, nil),
    ])
    func `are read as they are`(text: String, written: String?) throws {
        let json = try #require(JSON(parsing: Array(text.utf8)[...]))
        #expect(String(decoding: json.bytes, as: UTF8.self) == written ?? text)
    }

    @Test(arguments: [
        "", " ", "{", "}", "[", "]", "[1,]", "[1 2]", "[,1]", #"{"a":1,}"#, #"{"a" 1}"#, "{a:1}", "01", "1.",
        ".5", "+1", "--1", "1e", "nul", "tru e", "NaN", "1 x", #""\x""#, #""\u12""#, #""\u+123""#, #""a"#,
        "\"\n\"",
        #""\ud800""#, #""\ud800\u0041""#, #""\udc00""#, "'a'", "\u{FEFF}1", String(repeating: "1", count: 65),
    ])
    func `are refused unless they are one whole value`(text: String) {
        #expect(JSON(parsing: Array(text.utf8)[...]) == nil)
    }

    @Test func `are no JSON when they are no UTF-8, or are repaired`() {
        let broken: [UInt8] = Array("\"a".utf8) + [0xFF] + Array("\\ud800\"".utf8)
        #expect(JSON(parsing: broken[...]) == nil)
        #expect(JSON(parsing: broken[...], repairing: true) == .string("a\u{FFFD}\u{FFFD}"))
    }

    @Test func `are refused where they are nested too deep, however deep that is`() {
        func nested(_ depth: Int, _ open: String, _ close: String) -> ArraySlice<UInt8> {
            let (left, right) = (
                String(repeating: open, count: depth), String(repeating: close, count: depth)
            )
            return Array((left + "1" + right).utf8)[...]
        }
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            #expect(JSON(parsing: nested(64, open, close)) != nil)
            #expect(JSON(parsing: nested(65, open, close)) == nil)
            #expect(JSON(parsing: nested(100_000, open, close)) == nil)
            #expect(JSON(parsing: nested(1, open, close), depth: 0) == nil)
        }
        #expect(JSON(parsing: Array(repeating: UInt8(ascii: "["), count: 1_000_000)[...]) == nil)
    }

    @Test func `are read only where Foundation reads them too, and then as the same value`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let parts = [
            "{", "}", "[", "]", ":", ",", "\"", "\"a\"", "\\", "\\u00e9", "\\ud83d", "\\ude00", "0", "-",
            "1.5", "e9", "true", "false", "null", " ", "\n", "é", "\u{0}",
        ]
        var count = 0
        for _ in 0..<20_000 {
            var bytes: [UInt8] = []
            for _ in 0..<random.below(12) {
                bytes +=
                    random.below(20) == 0
                    ? [UInt8(random.below(256))] : Array(parts[random.below(parts.count)].utf8)
            }
            _ = JSON(parsing: bytes[...], repairing: true)
            guard let json = JSON(parsing: bytes[...]) else { continue }
            count += 1
            #expect(JSON(parsing: json.bytes[...]) == json, "seed \(seed): \(bytes)")
            guard !Self.isAmbiguous(json) else { continue }
            let reread = try? JSONDecoder().decode([Reread].self, from: Data("[".utf8 + bytes + "]".utf8))
            #expect(reread == [Reread(json)], "seed \(seed): \(bytes)")
        }
        #expect(count > 100)
    }

    /// Whether each reader may take it in its own way: two members of one name, a number that fits no double.
    private static func isAmbiguous(_ json: JSON) -> Bool {
        switch json {
        case .members(let members):
            Set(members.map(\.name)).count < members.count || members.contains { isAmbiguous($0.value) }
        case .array(let values): values.contains(where: isAmbiguous)
        case .number: json.double == nil
        case .null, .bool, .string: false
        }
    }
}
