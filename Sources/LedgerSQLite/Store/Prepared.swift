import GRDB
import GRDBSQLite

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

    /// Compiles `sql`, or takes what the connection compiled before.
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

    /// The number of the row that was inserted last.
    ///
    /// The corresponding C function is `sqlite3_last_insert_rowid`.
    var lastRow: Int64 { unsafe sqlite3_last_insert_rowid(connection) }

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
