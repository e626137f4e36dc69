import CDBus

/// Writes values into a message, after checking all that libdbus would abort on.
@safe struct MessageWriter {
    /// Bytes of text a message may hold.
    ///
    /// The bus cuts a sender off at 128 MiB.
    static let maximumTextBytes = 32 << 20

    private var textBytes = 0

    /// Appends `arguments` to `message`.
    ///
    /// Nothing must be sent when this throws: the message is half written.
    static func append(_ arguments: [DBusValue], to message: Message) throws(DBusError) {
        try Name.check(arguments.map(\.type.signature).joined(), as: .signature)
        var writer = MessageWriter()
        var iterator = unsafe DBusMessageIter()
        unsafe dbus_message_iter_init_append(message.pointer, &iterator)
        for argument in arguments { try unsafe writer.append(argument, to: &iterator, depth: 0) }
    }

    private mutating func append(
        _ value: DBusValue, to iterator: inout DBusMessageIter, depth: Int
    ) throws(DBusError) {
        guard depth < DBusValue.maximumDepth else { throw .invalidArgument("values nested too deep") }
        switch value {
        case .byte(let number): try unsafe appendFixed(number, TypeCode.byte, to: &iterator)
        case .bool(let truth): try unsafe appendFixed(UInt32(truth ? 1 : 0), TypeCode.bool, to: &iterator)
        case .int16(let number): try unsafe appendFixed(number, TypeCode.int16, to: &iterator)
        case .uint16(let number): try unsafe appendFixed(number, TypeCode.uint16, to: &iterator)
        case .int32(let number): try unsafe appendFixed(number, TypeCode.int32, to: &iterator)
        case .uint32(let number): try unsafe appendFixed(number, TypeCode.uint32, to: &iterator)
        case .int64(let number): try unsafe appendFixed(number, TypeCode.int64, to: &iterator)
        case .uint64(let number): try unsafe appendFixed(number, TypeCode.uint64, to: &iterator)
        case .double(let number): try unsafe appendFixed(number, TypeCode.double, to: &iterator)
        case .string(let text): try unsafe append(text: text, TypeCode.string, to: &iterator)
        case .objectPath(let text):
            try Name.check(text, as: .path)
            try unsafe append(text: text, TypeCode.objectPath, to: &iterator)
        case .signature(let text):
            try Name.check(text, as: .signature)
            try unsafe append(text: text, TypeCode.signature, to: &iterator)
        case .variant(let content):
            let signature = content.type.signature
            try Name.check(signature, as: .signature)
            try unsafe inContainer(TypeCode.variant, signature, of: &iterator) {
                (inner: inout DBusMessageIter) throws(DBusError) in
                try unsafe append(content, to: &inner, depth: depth + 1)
            }
        case .array(let element, let elements):
            try unsafe inContainer(TypeCode.array, element.signature, of: &iterator) {
                (inner: inout DBusMessageIter) throws(DBusError) in
                for item in elements {
                    try Self.check(item, is: element)
                    try unsafe append(item, to: &inner, depth: depth + 1)
                }
            }
        case .structure(let members):
            try unsafe inContainer(TypeCode.structure, nil, of: &iterator) {
                (inner: inout DBusMessageIter) throws(DBusError) in
                for member in members { try unsafe append(member, to: &inner, depth: depth + 1) }
            }
        case .dictionary(let key, let value, let entries):
            let entry = "{" + key.signature + value.signature + "}"
            try unsafe inContainer(TypeCode.array, entry, of: &iterator) {
                (inner: inout DBusMessageIter) throws(DBusError) in
                for entry in entries {
                    try Self.check(entry.key, is: key)
                    try Self.check(entry.value, is: value)
                    try unsafe append(entry, to: &inner, depth: depth + 1)
                }
            }
        }
    }

    private mutating func append(
        _ entry: DBusValue.Entry, to iterator: inout DBusMessageIter, depth: Int
    ) throws(DBusError) {
        try unsafe inContainer(TypeCode.dictionaryEntry, nil, of: &iterator) {
            (inner: inout DBusMessageIter) throws(DBusError) in
            try unsafe append(entry.key, to: &inner, depth: depth + 1)
            try unsafe append(entry.value, to: &inner, depth: depth + 1)
        }
    }

    private func appendFixed<Number: BitwiseCopyable>(
        _ number: Number, _ type: Int32, to iterator: inout DBusMessageIter
    ) throws(DBusError) {
        let isDone = unsafe withUnsafePointer(to: number) {
            unsafe dbus_message_iter_append_basic(&iterator, type, $0)
        }
        guard isDone != 0 else { throw .outOfMemory }
    }

    /// A Swift string is valid UTF-8 by construction; only NUL is left to look for.
    private mutating func append(
        text: String, _ type: Int32, to iterator: inout DBusMessageIter
    ) throws(DBusError) {
        guard !text.utf8.contains(0) else { throw .invalidArgument("a NUL in a string") }
        textBytes += text.utf8.count
        guard textBytes <= Self.maximumTextBytes else { throw .invalidArgument("more than 32 MiB of text") }
        let isDone = unsafe text.withCString { characters in
            unsafe withUnsafePointer(to: characters) {
                unsafe dbus_message_iter_append_basic(&iterator, type, $0)
            }
        }
        guard isDone != 0 else { throw .outOfMemory }
    }

    private func inContainer(
        _ type: Int32, _ signature: String?, of iterator: inout DBusMessageIter,
        _ fill: (inout DBusMessageIter) throws(DBusError) -> Void
    ) throws(DBusError) {
        var inner = unsafe DBusMessageIter()
        guard unsafe dbus_message_iter_open_container(&iterator, type, signature, &inner) != 0 else {
            throw .outOfMemory
        }
        do {
            try unsafe fill(&inner)
        } catch {
            unsafe dbus_message_iter_abandon_container(&iterator, &inner)
            throw error
        }
        guard unsafe dbus_message_iter_close_container(&iterator, &inner) != 0 else { throw .outOfMemory }
    }

    private static func check(_ value: DBusValue, is type: DBusType) throws(DBusError) {
        guard value.type == type else {
            throw .invalidArgument("a \(value.type.signature) among \(type.signature)")
        }
    }
}
