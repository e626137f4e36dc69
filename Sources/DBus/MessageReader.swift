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

    /// An empty array still says what it is an array of, in the message's signature.
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
