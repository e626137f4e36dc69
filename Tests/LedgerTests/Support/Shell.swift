import GRDB

/// Does to a database file what somebody else could: runs `sql` and gives back every value as text.
@discardableResult
func shell(_ path: String, _ sql: String) async throws -> [String] {
    let queue = try DatabaseQueue(path: path)
    let values = try await queue.writeWithoutTransaction { database in
        var values: [String] = []
        for statement in sql.split(separator: ";") where !statement.allSatisfy(\.isWhitespace) {
            for row in try Row.fetchAll(database, sql: String(statement)) {
                values += row.databaseValues.map { String.fromDatabaseValue($0) ?? "\($0)" }
            }
        }
        return values
    }
    try queue.close()
    return values
}
