/// Writes one JSON object, member by member; what is nil is left out.
struct FlatText {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    init() {
        bytes.reserveCapacity(512)
    }

    mutating func put(_ name: String, _ value: (some BinaryInteger)?) {
        guard let value else { return }
        begin(name)
        bytes.append(contentsOf: String(value).utf8)
    }

    /// A number that is none is left out.
    mutating func put(_ name: String, _ value: Double?) {
        guard let value, value.isFinite else { return }
        begin(name)
        bytes.append(contentsOf: value.description.utf8)
    }

    mutating func put(_ name: String, _ value: String?) {
        guard let value else { return }
        begin(name)
        bytes.append(UInt8(ascii: "\""))
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                bytes.append(contentsOf: #"\u00"#.utf8)
                for digit in [byte >> 4, byte & 15] {
                    bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
                }
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// What is put from here on, up to ``close()``, is in an object of its own.
    mutating func open(_ name: String) {
        begin(name)
        bytes.append(UInt8(ascii: "{"))
    }

    mutating func close() {
        bytes.append(UInt8(ascii: "}"))
    }

    consuming func finish() -> String {
        bytes.append(UInt8(ascii: "}"))
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func begin(_ name: String) {
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: name.utf8)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }
}
