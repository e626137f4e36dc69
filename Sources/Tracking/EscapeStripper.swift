/// Takes terminal sequences out of a record, so that what is left is what a person would read.
///
/// - Source: ECMA-48, 5.4 (control sequences) and 5.6 (control strings).
enum EscapeStripper {
    /// The record without control sequences, control strings and other control characters.
    ///
    /// A tab becomes a space. A sequence that the record cuts off is dropped to the record's end.
    static func strip(_ record: ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(record.count)
        var rest = record
        while let byte = rest.popFirst() {
            switch byte {
            case 0x1B: skipSequence(&rest)
            case 0x09: text.append(0x20)
            case 0x00..<0x20, 0x7F: continue
            default: text.append(byte)
            }
        }
        return text
    }

    private static func skipSequence(_ rest: inout ArraySlice<UInt8>) {
        switch rest.popFirst() {
        case UInt8(ascii: "["):
            // Parameters and intermediates, then one final byte.
            while let byte = rest.popFirst(), (0x20...0x3F).contains(byte) {}
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"):
            // A string: ends at BEL or at ESC \.
            while let byte = rest.popFirst(), byte != 0x07 {
                if byte == 0x1B {
                    if rest.first == UInt8(ascii: "\\") { rest.removeFirst() }
                    return
                }
            }
        case .some(0x20...0x2F):
            while let byte = rest.popFirst(), (0x20...0x2F).contains(byte) {}
        default: break
        }
    }
}
