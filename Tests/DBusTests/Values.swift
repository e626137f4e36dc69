import DBus
import TestSupport
import Testing

private let soon = Duration.seconds(60)

@Suite struct `a value` {
    static let travellers: [DBusValue] = [
        .byte(255), .bool(true), .bool(false), .int16(.min), .uint16(.max), .int32(.min), .uint32(.max),
        .int64(.min), .uint64(.max), .double(-0.1), .string(""), .string("Grüße, 🔔 \u{FFFF}"),
        .objectPath("/a/b"), .signature("a{sv}"), .variant(.variant(.int32(7))),
        .array(of: .int32, []), .strings(["a", "", "ß"]), .array(of: .array(.byte), [.array(of: .byte, [])]),
        .structure([.byte(1), .structure([.string("in")])]),
        .array(of: .int64, []), .array(of: .int64, [.int64(-1), .int64(1)]),
        .array(of: .structure([.byte, .double]), [.structure([.byte(1), .double(0.5)])]),
        .array(of: .structure([.string]), []), .variant(.array(of: .uint64, [.uint64(.max)])),
        .hints(["urgency": .byte(2), "value": .int32(40), "nested": .hints([:])]),
        .dictionary(key: .uint16, value: .array(.string), [.init(.uint16(9), .strings(["x"]))]),
    ]

    @Test func `of every type arrives at another process' side of the bus as it was sent`() async throws {
        let bus = try await PrivateBus.start()
        let listener = try await DBusConnection.connect(to: bus.address, deadline: soon)
        let sender = try await DBusConnection.connect(to: bus.address, deadline: soon)
        try await listener.subscribe(to: DBusMatch(interface: "org.example.Values"), deadline: soon)
        for value in Self.travellers {
            try await sender.emit(path: "/v", interface: "org.example.Values", member: "One", [value])
        }
        for shift in 1...7 {
            let padding = Array(repeating: DBusValue.byte(0), count: shift)
            try await sender.emit(
                path: "/v", interface: "org.example.Values", member: "All", padding + Self.travellers)
        }
        var arrivals = listener.signals.makeAsyncIterator()
        for value in Self.travellers {
            let signal = await nextSignal(of: "org.example.Values", from: &arrivals)
            #expect(signal?.arguments == [value])
        }
        for shift in 1...7 {
            let all = await nextSignal(of: "org.example.Values", from: &arrivals)
            #expect(all?.arguments.dropFirst(shift).elementsEqual(Self.travellers) == true)
            #expect(await all?.sender == sender.uniqueName)
        }
    }

    static let stayers: KeyValuePairs<String, DBusValue> = [
        "a NUL": .string("a\0b"),
        "a NUL further in": .variant(.array(of: .string, [.string("\0")])),
        "no path": .objectPath("no path"),
        "half a signature": .signature("a"),
        "an entry alone": .signature("{sv}"),
        "mixed types": .array(of: .string, [.int32(1)]),
        "an empty structure": .structure([]),
        "a list of empty structures": .array(of: .structure([]), []),
        "a variant as key": .dictionary(key: .variant, value: .string, []),
        "a value not as declared":
            .dictionary(key: .string, value: .variant, [.init(.string("k"), .string("no variant"))]),
        "more types than a signature can name": .structure(Array(repeating: .byte(1), count: 254)),
        "too deep variants": (0..<40).reduce(.byte(1)) { value, _ in .variant(value) },
        "too deep arrays": (0..<40).reduce(.byte(1)) { value, _ in .array(of: value.type, [value]) },
        "too much text": .string(String(repeating: "x", count: 33 << 20)),
    ]

    @Test(arguments: stayers.map(\.key))
    func `that can't travel is refused, and the connection lives`(name: String) async throws {
        let value = try #require(Self.stayers.first { $0.key == name }?.value)
        let bus = try await PrivateBus.start()
        let connection = try await DBusConnection.connect(to: bus.address, deadline: soon)
        let error = await #expect(throws: DBusError.self) {
            try await connection.emit(path: "/v", interface: "a.b", member: "C", [value])
        }
        guard case .invalidArgument = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await connection.busID(deadline: soon).isEmpty == false)
    }

    @Test(arguments: ["y", "a{sv}", "aas", "(i(sb))", "a{s(iiibiiay)}", "aa{us}"])
    func `type reads back from its signature`(signature: String) {
        #expect(DBusType(signature: signature)?.signature == signature)
    }

    @Test(arguments: ["", "a", "()", "(i", "a{vs}", "a{s}", "ii", "z", "h", "{sv}", "a{sv", ")"])
    func `type does not read from what is not one complete type`(signature: String) {
        #expect(DBusType(signature: signature) == nil)
    }
}

/// The next signal of `interface`; the bus also signals our own name.
func nextSignal(
    of interface: String, from arrivals: inout AsyncStream<DBusSignal>.Iterator
) async -> DBusSignal? {
    while let signal = await arrivals.next(isolation: #isolation) {
        if signal.interface == interface { return signal }
    }
    return nil
}
