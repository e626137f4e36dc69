import CDBus

/// Reads a message's arguments.
///
/// libdbus has checked them against the wire's rules before.
enum MessageReader {
    static func arguments(of message: Message) throws(DBusError) -> [DBusValue] {
        var iterator = unsafe DBusMessageIter()
        guard unsafe dbus_message_iter_init(message.pointer, &iterator) != 0 else { return [] }
        return try unsafe values(at: &iterator, depth: 0)
    }

    private static func values(
        at iterator: inout DBusMessageIter, depth: Int
    ) throws(DBusError) -> [DBusValue] {
        guard depth < DBusValue.maximumDepth else { throw .unexpectedReply("values nested too deep") }
        var values: [DBusValue] = []
        while unsafe dbus_message_iter_get_arg_type(&iterator) != TypeCode.invalid {
            values.append(try unsafe value(at: &iterator, depth: depth))
            unsafe dbus_message_iter_next(&iterator)
        }
        return values
    }

    private static func value(
        at iterator: inout DBusMessageIter, depth: Int
    ) throws(DBusError) -> DBusValue {
        switch unsafe dbus_message_iter_get_arg_type(&iterator) {
        case TypeCode.byte: return unsafe .byte(fixed(0, at: &iterator))
        case TypeCode.bool: return unsafe .bool(fixed(UInt32(0), at: &iterator) != 0)
        case TypeCode.int16: return unsafe .int16(fixed(0, at: &iterator))
        case TypeCode.uint16: return unsafe .uint16(fixed(0, at: &iterator))
        case TypeCode.int32: return unsafe .int32(fixed(0, at: &iterator))
        case TypeCode.uint32: return unsafe .uint32(fixed(0, at: &iterator))
        case TypeCode.int64: return unsafe .int64(fixed(0, at: &iterator))
        case TypeCode.uint64: return unsafe .uint64(fixed(0, at: &iterator))
        case TypeCode.double: return unsafe .double(fixed(0, at: &iterator))
        case TypeCode.string: return unsafe .string(text(at: &iterator))
        case TypeCode.objectPath: return unsafe .objectPath(text(at: &iterator))
        case TypeCode.signature: return unsafe .signature(text(at: &iterator))
        case TypeCode.variant:
            guard let content = try unsafe members(of: &iterator, depth: depth).first else {
                throw .unexpectedReply("an empty variant")
            }
            return .variant(content)
        case TypeCode.structure: return .structure(try unsafe members(of: &iterator, depth: depth))
        case TypeCode.array: return try unsafe array(at: &iterator, depth: depth)
        default: throw .unexpectedReply("a value of a kind that is not carried, such as a descriptor")
        }
    }

    private static func array(at iterator: inout DBusMessageIter, depth: Int) throws(DBusError) -> DBusValue {
        switch try unsafe type(at: &iterator) {
        case .array(let element):
            return .array(of: element, try unsafe members(of: &iterator, depth: depth))
        case .dictionary(let key, let value):
            var inner = unsafe DBusMessageIter()
            unsafe dbus_message_iter_recurse(&iterator, &inner)
            var entries: [DBusValue.Entry] = []
            while unsafe dbus_message_iter_get_arg_type(&inner) == TypeCode.dictionaryEntry {
                let pair = try unsafe members(of: &inner, depth: depth + 1)
                guard pair.count == 2 else { throw .unexpectedReply("a dictionary entry without a value") }
                entries.append(DBusValue.Entry(pair[0], pair[1]))
                unsafe dbus_message_iter_next(&inner)
            }
            return .dictionary(key: key, value: value, entries)
        default: throw .unexpectedReply("an array of another type")
        }
    }

    private static func members(
        of iterator: inout DBusMessageIter, depth: Int
    ) throws(DBusError) -> [DBusValue] {
        var inner = unsafe DBusMessageIter()
        unsafe dbus_message_iter_recurse(&iterator, &inner)
        return try unsafe values(at: &inner, depth: depth + 1)
    }

    /// An empty array still has an element type, in the message's signature.
    private static func type(at iterator: inout DBusMessageIter) throws(DBusError) -> DBusType {
        guard let characters = unsafe dbus_message_iter_get_signature(&iterator) else { throw .outOfMemory }
        defer { unsafe dbus_free(characters) }
        let signature = unsafe String(cString: characters)
        guard let type = DBusType(signature: signature) else {
            throw .unexpectedReply("the type \(signature)")
        }
        return type
    }

    private static func fixed<Number: BitwiseCopyable>(
        _ zero: Number, at iterator: inout DBusMessageIter
    ) -> Number {
        var number = zero
        unsafe dbus_message_iter_get_basic(&iterator, &number)
        return number
    }

    private static func text(at iterator: inout DBusMessageIter) -> String {
        var characters: UnsafePointer<CChar>?
        unsafe dbus_message_iter_get_basic(&iterator, &characters)
        return unsafe characters.map { unsafe String(cString: $0) } ?? ""
    }
}

/// Writes a message as the bytes of the wire, in this machine's byte order.
///
/// libdbus' own writer rewrites the header's signature for every argument it appends, which is most of what
/// a call with a dozen arguments costs in C. The bytes written here are handed over whole and checked by
/// libdbus as if they had arrived from the network, so that nothing in them can end the process.
///
/// - Source: D-Bus specification 0.42, "Marshaling (Wire Format)" and "Message Format".
struct MessageWriter {
    /// Bytes a message may hold.
    ///
    /// The bus disconnects a sender at 128 MiB.
    private static let maximumBytes = 32 << 20

    private var bytes: [UInt8] = []

    private init() {
        bytes.reserveCapacity(512)
    }

    /// The message `head` with `arguments`; its number is still 0.
    static func bytes(of head: MessageHead, _ arguments: [DBusValue]) throws(DBusError) -> [UInt8] {
        var writer = MessageWriter()
        try writer.append(head, arguments)
        writer.align(to: 8)
        let start = writer.bytes.count
        for argument in arguments { try writer.append(argument, depth: 0) }
        guard writer.bytes.count <= maximumBytes else { throw tooLong }
        writer.bytes.replace(at: 4, with: UInt32(writer.bytes.count - start))
        return writer.bytes
    }

    private static let tooLong = DBusError.invalidArgument("a message of more than 32 MiB")

    // MARK: Header

    private mutating func append(_ head: MessageHead, _ arguments: [DBusValue]) throws(DBusError) {
        let protocolVersion: UInt8 = 1
        let order = UInt8(ascii: UInt16(1).littleEndian == 1 ? "l" : "B")
        bytes += [order, head.kind.rawValue, head.flags, protocolVersion]
        append(UInt32(0))  // the body's length, when it is known
        append(UInt32(0))  // the message's number, when it is sent
        let length = bytes.count
        append(UInt32(0))
        try append(field: 1, UInt8(ascii: "o"), head.path)
        try append(field: 2, UInt8(ascii: "s"), head.interface)
        try append(field: 3, UInt8(ascii: "s"), head.member)
        if let destination = head.destination { try append(field: 6, UInt8(ascii: "s"), destination) }
        if !arguments.isEmpty {
            align(to: 8)
            bytes += [8, 1, UInt8(ascii: "g"), 0]
            try appendSignature { bytes in
                for argument in arguments { argument.writeSignature(to: &bytes) }
            }
        }
        bytes.replace(at: length, with: UInt32(bytes.count - length - 4))
    }

    /// One header field: its code, and a variant with a text of the type `letter`.
    private mutating func append(field code: UInt8, _ letter: UInt8, _ text: String) throws(DBusError) {
        align(to: 8)
        bytes += [code, 1, letter, 0]
        try append(text)
    }

    // MARK: Values

    private mutating func append(_ value: DBusValue, depth: Int) throws(DBusError) {
        guard depth < DBusValue.maximumDepth else { throw .invalidArgument("values nested too deep") }
        switch value {
        case .byte(let number): bytes.append(number)
        case .bool(let truth): append(UInt32(truth ? 1 : 0))
        case .int16(let number): append(number)
        case .uint16(let number): append(number)
        case .int32(let number): append(number)
        case .uint32(let number): append(number)
        case .int64(let number): append(number)
        case .uint64(let number): append(number)
        case .double(let number): append(number.bitPattern)
        case .string(let text): try append(text)
        case .objectPath(let text):
            try Name.check(text, as: .path)
            try append(text)
        case .signature(let text):
            try Name.check(text, as: .signature)
            try appendSignature { $0 += text.utf8 }
        case .variant(let content):
            try appendSignature { content.writeSignature(to: &$0) }
            try append(content, depth: depth + 1)
        case .structure(let members):
            align(to: 8)
            for member in members { try append(member, depth: depth + 1) }
        case .array, .dictionary: try appendElements(of: value, depth: depth)
        }
    }

    /// The elements of an array, or the entries of a dictionary.
    private mutating func appendElements(of value: DBusValue, depth: Int) throws(DBusError) {
        if case .array(let element, let elements) = value {
            try appendArray(of: element) { (writer: inout MessageWriter) throws(DBusError) in
                for item in elements {
                    try Self.check(item, is: element)
                    try writer.append(item, depth: depth + 1)
                }
            }
        }
        guard case .dictionary(let key, let value, let entries) = value else { return }
        try appendArray(of: nil) { (writer: inout MessageWriter) throws(DBusError) in
            for entry in entries {
                try Self.check(entry.key, is: key)
                try Self.check(entry.value, is: value)
                writer.align(to: 8)
                try writer.append(entry.key, depth: depth + 1)
                try writer.append(entry.value, depth: depth + 1)
            }
        }
    }

    /// What `fill` appends, after its length; the padding before the first element does not count.
    ///
    /// `element` is `nil` for the entries of a dictionary.
    private mutating func appendArray(
        of element: DBusType?, _ fill: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        append(UInt32(0))
        let length = bytes.count - 4
        align(to: element?.alignment ?? 8)
        let start = bytes.count
        try fill(&self)
        guard bytes.count <= Self.maximumBytes else { throw Self.tooLong }
        bytes.replace(at: length, with: UInt32(bytes.count - start))
    }

    private static func check(_ value: DBusValue, is type: DBusType) throws(DBusError) {
        guard value.isOf(type) else {
            throw .invalidArgument("a \(value.type.signature) among \(type.signature)")
        }
    }

    /// A Swift string is valid UTF-8 by construction; only NUL is left to look for.
    private mutating func append(_ text: String) throws(DBusError) {
        let count = text.utf8.count
        guard bytes.count + count <= Self.maximumBytes else { throw Self.tooLong }
        append(UInt32(count))
        let start = bytes.count
        bytes += text.utf8
        guard !bytes[start...].contains(0) else { throw .invalidArgument("a NUL in a string") }
        bytes.append(0)
    }

    private mutating func appendSignature(_ write: (inout [UInt8]) -> Void) throws(DBusError) {
        let length = bytes.count
        bytes.append(0)
        write(&bytes)
        guard let count = UInt8(exactly: bytes.count - length - 1) else {
            throw .invalidArgument("a signature of more than 255 letters")
        }
        bytes[length] = count
        bytes.append(0)
    }

    private mutating func append(_ number: some FixedWidthInteger & BitwiseCopyable) {
        align(to: number.bitWidth / 8)
        unsafe withUnsafeBytes(of: number) { unsafe bytes.append(contentsOf: $0) }
    }

    private mutating func align(to alignment: Int) {
        while bytes.count & (alignment - 1) != 0 { bytes.append(0) }
    }
}

extension [UInt8] {
    /// Stores `number` over the four bytes at `index`.
    mutating func replace(at index: Int, with number: UInt32) {
        unsafe withUnsafeMutableBytes { bytes in
            unsafe bytes.storeBytes(of: number, toByteOffset: index, as: UInt32.self)
        }
    }
}
