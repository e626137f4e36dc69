/// Builds one frame: a kind and numbered fields.
struct FieldWriter {
    private(set) var bytes: [UInt8]

    init(kind: UInt8) {
        bytes = [0, 0, 0, 0, kind]
    }

    /// Fields alone, for a value inside a field or a file.
    init() {
        bytes = []
    }

    mutating func put(_ number: Int, _ value: Int) {
        put(tag: number, form: 0)
        // Zigzag: small negative numbers stay short.
        put(varint: UInt64(bitPattern: Int64((value << 1) ^ (value >> 63))))
    }

    mutating func put(_ number: Int, _ text: String) {
        put(tag: number, form: 2)
        put(varint: UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func put(_ number: Int, _ value: [UInt8]) {
        put(tag: number, form: 2)
        put(varint: UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    mutating func put(_ number: Int, _ key: RunKey) {
        var fields = FieldWriter()
        fields.put(1, key.run)
        fields.put(2, key.attempt)
        put(number, fields.bytes)
    }

    /// An absent value is an absent field.
    mutating func put(_ number: Int, ifKnown value: Int?) {
        if let value { put(number, value) }
    }

    mutating func put(_ number: Int, ifKnown text: String?) {
        if let text { put(number, text) }
    }

    /// The finished frame, its length in front.
    consuming func frame() -> [UInt8] {
        let length = UInt32(bytes.count - 4)
        for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
        return bytes
    }

    private mutating func put(tag number: Int, form: UInt64) {
        put(varint: UInt64(number) << 3 | form)
    }

    private mutating func put(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
