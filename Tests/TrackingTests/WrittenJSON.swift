import TestSupport
import Testing
import Timeline
import Tracking

/// A value that writes itself in both ways.
private struct Coded: Encodable, JSONWritable {
    var texts: [String] = []
    var number = 0
    var long: Int64?
    var share: Double?
    var isSet = false
    var at: Moment?
    var length: Duration?
    var names: [String: String]?
    var moments: [String: Moment]?

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("texts", texts)
            writer.member("number", number)
            writer.member("long", long)
            writer.member("share", share)
            writer.member("isSet", isSet)
            writer.member("at", at)
            writer.member("length", length)
            writer.member("names", names)
            writer.member("moments", moments)
        }
    }
}

@Suite struct `JSON that a value writes itself` {
    private func bytes(_ value: some JSONWritable) -> [UInt8] {
        var writer = JSONWriter()
        value.write(to: &writer)
        return writer.bytes
    }

    @Test func `has the bytes of the encoder`() throws {
        for seed in 1...500 {
            var random = SeededGenerator(seed: UInt64(seed))
            var value = Coded()
            for _ in 0..<random.below(4) {
                var text = ""
                for _ in 0..<random.below(8) {
                    let top: UInt32 = [0x80, 0x100, 0x10FFFF][random.below(3)]
                    let scalar = Unicode.Scalar(UInt32.random(in: 0...top, using: &random))
                    if let scalar { text.unicodeScalars.append(scalar) }
                }
                value.texts.append(text)
                value.names = [text: text, "a": "b", "c": ""]
            }
            value.number = Int.random(in: .min ... .max, using: &random) >> random.below(64)
            value.isSet = random.below(2) == 0
            if random.below(2) == 0 {
                value.long = [.min, .max, 0, 10, 99, -100][random.below(6)]
                value.share = Double.random(in: -1e20...1e20, using: &random)
                value.at = Moment(microseconds: Int64.random(in: .min ... .max, using: &random))
                value.moments = ["a": Moment(seconds: 1), "b": Moment(seconds: 2)]
                value.length = .nanoseconds(Int64.random(in: .min ... .max, using: &random)) * 7
            }
            #expect(try bytes(value) == JSON.encode(value), "seed \(seed)")
            #expect(JSON(parsing: bytes(value)[...]) != nil, "seed \(seed)")
        }
    }

    @Test func `escapes controls and leaves other letters as they are`() {
        var writer = JSONWriter()
        writer.array { writer in
            writer.text("a\u{1}\u{7F}\u{9B}31m\"\\\n")
            writer.text("Grüße « 日本 🔔")
        }
        let text = String(decoding: writer.bytes, as: UTF8.self)
        #expect(text == #"["a\u0001\u007f\u009b31m\"\\\n","Grüße « 日本 🔔"]"#)
    }

    @Test func `separates members and elements, also behind empty ones`() throws {
        var writer = JSONWriter()
        try writer.object { writer in
            writer.member("a") { _ in }
            writer.member("b", [Int]())
            writer.name("c")
            writer.array { writer in
                writer.array { $0.integer(1) }
                writer.array { _ in }
                writer.object { $0.member("x", true) }
            }
            writer.member("d", Int?.none)
            writer.member("e", ["{", ":", "["])
            try writer.member("f", encoding: ["k": 1])
            writer.member("g", 2.5)
        }
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"a":{},"b":[],"c":[[1],[],{"x":true}],"e":["{",":","["],"f":{"k":1},"g":2.5}"#)
    }

    @Test func `of a live state has the bytes of the encoder, whatever is known`() throws {
        let text = #"""
            {"amount":{"done":3,"rate":0.5,"total":12,"unit":"files"},"attempt":2,"belief":{"isPercent":true,"last":12.5,"template":"# %"},"blockedKind":"question",
            "etaAt":1800000000000000,"etaHigh":1800000000000002,"etaLow":1800000000000001,
            "idle":{"since":5,"time":9},"message":"two \"of\" 4",
            "parked":{"call":"c1","resumed":2,"session":"s1","waits":true},
            "phase":"copy","progress":0.25,"reason":"canceled","reported":7,"seq":5000000001,"staleAt":1800000000000003,
            "startedAt":1,"state":"blocked","task":{"botID":"ops","botName":"Ops","id":"01a0c450",
            "name":"backup","run":"backup#7"},"tasks":[{"message":"m","path":"a/b","progress":1,
            "state":"done"},{"path":"c","state":"working"}],"updatedAt":-7,"usualTime":60000000,
            "wake":{"attempt":1},"workEnd":{"at":3,"outputBytes":12}}
            """#
        let whole = try #require(JSON(parsing: Array(text.utf8)[...]))
        guard case .members(let members) = whole else { return #expect(Bool(false)) }
        let needed: Set = ["attempt", "seq", "state", "task", "updatedAt"]
        for seed in 0..<200 {
            var random = SeededGenerator(seed: UInt64(seed))
            // The first has all of it.
            let known = members.filter {
                seed == 0 || needed.contains($0.name) || Bool.random(using: &random)
            }
            let live = try JSON.decode(LiveState.self, from: JSON.members(known).bytes)
            var writer = JSONWriter()
            try live.write(to: &writer)
            let coded = try JSON.encode(live, sorted: true)
            try #require(writer.bytes == coded, "seed \(seed)")
            #expect(writer.bytes == JSON.members(known).bytes, "seed \(seed)")
            guard seed == 0 else { continue }
            let unset = Mirror(reflecting: live).children.filter { _, part in
                let inner = Mirror(reflecting: part)
                return inner.displayStyle == .optional && inner.children.isEmpty
            }
            #expect(unset.isEmpty, "one that was added is also to be written")
        }
    }
}
