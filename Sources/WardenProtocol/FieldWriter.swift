package import Performing

/// Builds one frame: a kind and numbered fields.
package struct FieldWriter {
    /// What was put, with the frame's head in front when it has a kind.
    package private(set) var bytes: [UInt8]

    /// A frame of this kind.
    package init(kind: UInt8) {
        bytes = [0, 0, 0, 0, kind]
    }

    /// Fields alone, for a value inside a field or a file.
    package init() {
        bytes = []
    }

    /// A frame of this kind around fields that are written already.
    package init(kind: UInt8, fields: [UInt8]) {
        bytes = [0, 0, 0, 0, kind] + fields
    }

    /// Puts a number, of either sign.
    package mutating func put(_ number: Int, _ value: Int) {
        put(tag: number, form: 0)
        // Zigzag: small negative numbers stay short.
        put(varint: UInt64(bitPattern: Int64((value << 1) ^ (value >> 63))))
    }

    /// Puts a text, as UTF-8.
    package mutating func put(_ number: Int, _ text: String) {
        put(tag: number, form: 2)
        put(varint: UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Puts bytes, or the fields of a value.
    package mutating func put(_ number: Int, _ value: [UInt8]) {
        put(tag: number, form: 2)
        put(varint: UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// Puts a key.
    package mutating func put(_ number: Int, _ key: RunKey) {
        var fields = FieldWriter()
        fields.put(1, key.run)
        fields.put(2, key.attempt)
        put(number, fields.bytes)
    }

    /// An absent value is an absent field.
    package mutating func put(_ number: Int, ifKnown value: Int?) {
        if let value { put(number, value) }
    }

    /// An absent text is an absent field.
    package mutating func put(_ number: Int, ifKnown text: String?) {
        if let text { put(number, text) }
    }

    /// The finished frame, its length in front.
    package consuming func frame() -> [UInt8] {
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
