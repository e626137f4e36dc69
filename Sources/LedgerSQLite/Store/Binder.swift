import GRDBSQLite
import Timeline

/// Puts values into the places of a statement, one after the other.
///
/// A place that is not reached stays NULL.
@safe struct Binder {
    private let handle: OpaquePointer
    private var place: Int32 = 0
    /// Where short texts stand until the statement has run, so that the library need not copy each one.
    private var shelf: UnsafeMutableRawBufferPointer

    init(of handle: OpaquePointer, shelf: UnsafeMutableRawBufferPointer) {
        unsafe self.handle = handle
        unsafe self.shelf = shelf
    }

    mutating func put(_ value: Int64?) {
        place += 1
        guard let value else { return }
        unsafe sqlite3_bind_int64(handle, place, value)
    }

    mutating func put(_ value: Int?) {
        put(value.map(Int64.init))
    }

    mutating func put(_ value: Bool) {
        put(value ? 1 : 0)
    }

    mutating func put(_ value: Moment?) {
        put(value?.microseconds)
    }

    mutating func put(_ value: Duration?) {
        put(value?.microseconds)
    }

    mutating func put(_ value: String?) {
        place += 1
        guard var value else { return }
        value.withUTF8 { bytes in
            guard unsafe bytes.count <= shelf.count else { return unsafe bind(bytes, copied) }
            let text = unsafe UnsafeMutableRawBufferPointer(rebasing: shelf[..<bytes.count])
            unsafe text.copyMemory(from: UnsafeRawBufferPointer(bytes))
            unsafe shelf = UnsafeMutableRawBufferPointer(rebasing: shelf[bytes.count...])
            unsafe bind(UnsafeBufferPointer(text.assumingMemoryBound(to: UInt8.self)), nil)
        }
    }

    private func bind(_ text: UnsafeBufferPointer<UInt8>, _ owner: sqlite3_destructor_type?) {
        unsafe text.withMemoryRebound(to: CChar.self) { characters in
            _ = unsafe sqlite3_bind_text(
                handle, place, characters.baseAddress, Int32(characters.count), owner)
        }
    }

    mutating func put(_ value: [UInt8]) {
        place += 1
        // An empty array has no address, and without an address the value would be NULL.
        if value.isEmpty { unsafe sqlite3_bind_zeroblob(handle, place, 0) }
        unsafe value.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe sqlite3_bind_blob(handle, place, start, Int32(bytes.count), copied)
        }
    }

    mutating func put<Word: RawRepresentable<String>>(_ value: Word?) {
        put(value?.rawValue)
    }
}

/// Tells the C library to copy what it is given; SQLITE_TRANSIENT, a macro Swift does not import.
private let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
