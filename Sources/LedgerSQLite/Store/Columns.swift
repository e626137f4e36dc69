import GRDBSQLite
import Timeline

/// Takes values out of a row, one column after the other, in the order they were selected.
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

    /// A word that this version must know.
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
