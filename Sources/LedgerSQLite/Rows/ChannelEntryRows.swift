import GRDB
import Ledger
import Tracking

/// The channels that were made on the command line.
struct ChannelEntryRows {
    private let insert: Prepared
    private let delete: Prepared

    init(in database: Database) throws(StoreFailure) {
        insert = try Prepared(
            "INSERT INTO own_channel (name, settings, words) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING",
            in: database)
        delete = try Prepared("DELETE FROM own_channel WHERE name = ?", in: database)
    }

    func put(_ channel: ChannelEntry) throws(StoreFailure) {
        let settings = String(decoding: channel.settings.bytes, as: UTF8.self)
        let changed = try insert.run {
            $0.put(channel.name)
            $0.put(settings)
            $0.put(channel.when.joined(separator: " "))
        }
        if changed == 0 { throw .fenced }
    }

    func remove(_ name: String) throws(StoreFailure) {
        if try delete.run({ $0.put(name) }) == 0 { throw .fenced }
    }

    static func entries(in database: Database) throws(StoreFailure) -> [ChannelEntry] {
        try Prepared("SELECT name, settings, words FROM own_channel ORDER BY number", in: database)
            .all { row throws(StoreFailure) in
                let (name, text, words) = (row.text(), row.text(), row.text())
                guard let settings = JSON(parsing: Array(text.utf8)[...]) else {
                    throw .unreadable("the settings of channel \(name) can't be read")
                }
                return ChannelEntry(
                    name: name, settings: settings, when: words.split(separator: " ").map(String.init))
            }
    }
}
