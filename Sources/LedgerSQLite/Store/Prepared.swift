import GRDB
import GRDBSQLite
import Timeline

/// One prepared statement: values go in by position, rows come out by column.
///
/// GRDB compiles and owns the statement; binding and stepping go to the C library directly, because a
/// list may hold ten thousand rows.
@safe final class Prepared {
    /// Keeps `handle` alive.
    private let statement: Statement
    private let handle: OpaquePointer
    private let connection: OpaquePointer?
    /// Room for the short texts of one row; see ``Binder``.
    private let shelf: UnsafeMutableRawBufferPointer

    /// Compiles `sql`, or reuses what the connection compiled before.
    init(_ sql: String, in database: Database) throws(StoreFailure) {
        do { statement = try database.cachedStatement(sql: sql) } catch { throw StoreFailure(error) }
        unsafe handle = statement.sqliteStatement
        unsafe connection = database.sqliteConnection
        unsafe shelf = .allocate(byteCount: 256, alignment: 1)
    }

    deinit {
        // The connection keeps the statement; it must not keep the address.
        unsafe sqlite3_clear_bindings(handle)
        unsafe shelf.deallocate()
    }

    /// Runs it for its effect.
    ///
    /// - Returns: how many rows were changed.
    @discardableResult
    func run(_ bind: (inout Binder) -> Void = { _ in }) throws(StoreFailure) -> Int {
        begin(bind)
        defer { unsafe sqlite3_reset(handle) }
        let code = unsafe sqlite3_step(handle)
        guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code) }
        return unsafe Int(sqlite3_changes(connection))
    }

    /// Runs it for rows that must be as the change expects them.
    ///
    /// - Throws: `.fenced` when it changed none.
    func change(_ bind: (inout Binder) -> Void) throws(StoreFailure) {
        if try run(bind) == 0 { throw .fenced }
    }

    /// The first row, read by `read`; nil when there is none.
    func first<Value>(
        _ bind: (inout Binder) -> Void = { _ in }, _ read: (inout Columns) throws(StoreFailure) -> Value
    ) throws(StoreFailure) -> Value? {
        begin(bind)
        defer { unsafe sqlite3_reset(handle) }
        let code = unsafe sqlite3_step(handle)
        if code == SQLITE_DONE { return nil }
        guard code == SQLITE_ROW else { throw failure(code) }
        var columns = unsafe Columns(of: handle)
        return try read(&columns)
    }

    /// Every row, read by `read`.
    func all<Value>(
        _ bind: (inout Binder) -> Void = { _ in }, _ read: (inout Columns) throws(StoreFailure) -> Value
    ) throws(StoreFailure) -> [Value] {
        begin(bind)
        defer { unsafe sqlite3_reset(handle) }
        var values: [Value] = []
        while true {
            let code = unsafe sqlite3_step(handle)
            if code == SQLITE_DONE { return values }
            guard code == SQLITE_ROW else { throw failure(code) }
            var columns = unsafe Columns(of: handle)
            values.append(try read(&columns))
        }
    }

    private func begin(_ bind: (inout Binder) -> Void) {
        unsafe sqlite3_clear_bindings(handle)
        var binder = unsafe Binder(of: handle, shelf: shelf)
        bind(&binder)
    }

    private func failure(_ code: Int32) -> StoreFailure {
        unsafe .sqlite(
            code: sqlite3_extended_errcode(connection), system: sqlite3_system_errno(connection),
            message: String(cString: sqlite3_errmsg(connection)))
    }
}

@available(*, unavailable) extension Prepared: Sendable {}

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

    mutating func put(_ value: [UInt8]?) {
        place += 1
        guard let value else { return }
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

/// Makes the C library copy what it is given: SQLITE_TRANSIENT, a macro Swift does not import.
private let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// Reads the values of a row, one column after the other, in the order they were selected.
@safe struct Columns {
    private let handle: OpaquePointer
    private var column: Int32 = -1

    init(of handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    mutating func integer() -> Int64 {
        column += 1
        return unsafe sqlite3_column_int64(handle, column)
    }

    mutating func optionalInteger() -> Int64? {
        column += 1
        guard unsafe sqlite3_column_type(handle, column) != SQLITE_NULL else { return nil }
        return unsafe sqlite3_column_int64(handle, column)
    }

    mutating func int() -> Int { Int(integer()) }

    mutating func optionalInt() -> Int? { optionalInteger().map(Int.init) }

    mutating func bool() -> Bool { integer() != 0 }

    mutating func moment() -> Moment { Moment(microseconds: integer()) }

    mutating func optionalMoment() -> Moment? { optionalInteger().map(Moment.init(microseconds:)) }

    mutating func optionalDuration() -> Duration? { optionalInteger().map { .microseconds($0) } }

    mutating func text() -> String { optionalText() ?? "" }

    mutating func optionalText() -> String? {
        column += 1
        guard let start = unsafe sqlite3_column_text(handle, column) else { return nil }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    mutating func bytes() -> [UInt8] {
        column += 1
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    /// A case that this version must know, by its text.
    mutating func word<Word: RawRepresentable<String>>(_: Word.Type = Word.self) throws(StoreFailure) -> Word
    {
        let text = text()
        guard let word = Word(rawValue: text) else {
            throw .unreadable("\"\(text)\" is no \(Word.self)")
        }
        return word
    }

    mutating func optionalWord<Word: RawRepresentable<String>>(
        _: Word.Type = Word.self
    ) throws(StoreFailure) -> Word? {
        guard let text = optionalText() else { return nil }
        guard let word = Word(rawValue: text) else {
            throw .unreadable("\"\(text)\" is no \(Word.self)")
        }
        return word
    }
}
