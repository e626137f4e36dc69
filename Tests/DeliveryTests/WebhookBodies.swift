import Delivery
import Foundation
import Grouping
import TestSupport
import Testing
import Timeline
import Tracking

private let start = Moment(microseconds: 1_774_746_000_250_000)

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
        case .int(let value): self = .int(value)
        case .double(let value):
            if !value.isFinite {
                self = .null
            } else if let whole = Int64(exactly: value) {
                self = .int(whole)
            } else {
                self = .double(value)
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
        }
    }

    @Test func `escapes what must be escaped and nothing else`() {
        let text = JSON.string("a\"b\\c/\n\r\t\u{0}\u{1F}\u{7F}é🇩🇪").bytes
        #expect(String(decoding: text, as: UTF8.self) == #""a\"b\\c/\n\r\t\u0000\u001f\u007fé🇩🇪""#)
    }

    @Test func `keeps the order of keys and leaves out what is not known`() {
        let json = JSON.object(["z": .int(1), "a": nil, "m": .double(0.5), "b": .bool(true)])
        #expect(String(decoding: json.bytes, as: UTF8.self) == #"{"z":1,"m":0.5,"b":true}"#)
    }
}

@Suite struct `a webhook's body` {
    @Test func `has type, timestamp and data with the reason first`() {
        let body = WebhookBody(
            type: "channel.failing", timestamp: start, reason: "timeout",
            objects: [JSON.Member("channel", .object(["name": .string("hook")]))])
        #expect(
            String(decoding: body.bytes, as: UTF8.self)
                == #"{"type":"channel.failing","timestamp":"2026-03-29T01:00:00.250Z","#
                + #""data":{"reason":"timeout","channel":{"name":"hook"}}}"#)
    }

    @Test func `of a message group holds the item with its last three`() {
        let last = ["c", "d", "e"].map { text in
            Message(id: "m-\(text)", bot: "ops", thread: "main", text: text, at: start, run: "tell#4")
        }
        let item = ItemSnapshot(
            key: .thread(bot: "ops", thread: "main"), revision: 2, bot: "ops", urgency: .normal,
            reason: .first,
            at: start, content: .messages(count: 5, last: last))
        let text = String(decoding: JSON(item).bytes, as: UTF8.self)
        #expect(
            text.hasPrefix(
                #"{"key":"thread:ops/main","kind":"thread","bot":"ops","thread":"main","count":5,"#))
        #expect(
            text.contains(
                #"{"id":"m-e","bot":"ops","thread":"main","from":"bot","text":"e","#
                    + #""at":"2026-03-29T01:00:00.250Z","read":false,"pinned":false,"run":"tell#4"}],"#))
        #expect(text.hasSuffix(#""urgency":"normal","reason":"first","revision":2}"#))
    }

    @Test func `of a job holds its failures`() {
        let report = JobReport(
            job: "backup", news: .failed, fact: JobFact(run: 3, state: .failed, at: start), sameFailures: 2,
            failures: 2)
        let item = ItemSnapshot(
            key: .job("backup"), revision: 2, bot: "ops", urgency: .normal, reason: .sameFailure, at: start,
            content: .job(report))
        #expect(
            String(decoding: JSON(item).bytes, as: UTF8.self)
                == #"{"key":"job:backup","kind":"job","bot":"ops","job":"backup","count":2,"last":[],"#
                + #""urgency":"normal","reason":"sameFailure","revision":2}"#)
    }
}
