import GRDB
import Ledger
import Timeline

/// Searches the words of messages, among a million of them.
enum SearchRows {
    /// The newest so many that have a word which very many have are looked through for those of one bot.
    private static let newest = 20_000
    /// What more messages have than these is a whole word.
    private static let mostWidened = 1000

    /// See ``TalkReading/search(_:bot:since:limit:)``.
    static func search(
        _ text: String, bot: String?, since: Moment?, limit: Int, in database: Database
    ) throws(StoreFailure) -> MessageHits {
        let words = text.split(whereSeparator: \.isWhitespace).filter { word in
            word.contains { $0.isLetter || $0.isNumber }
        }
        guard !words.isEmpty else { return MessageHits([], isRanked: true) }
        for words in try readings(of: words, in: database) {
            let search = Search(words: words, bot: bot, since: since, limit: limit)
            let hits = try hits(of: search, in: database)
            if !hits.messages.isEmpty { return hits }
        }
        return MessageHits([], isRanked: true)
    }

    /// What the words may mean, the likeliest first: a word that nobody said is the beginning of others, and one that few
    /// said may be.
    ///
    /// To find all that begins with a word FTS5 reads whatever each of those is in, though nothing have all the words.
    private static func readings(
        of words: [Substring], in database: Database
    ) throws(StoreFailure) -> [[String]] {
        var (exact, wide): ([String], [String]) = ([], [])
        for word in words {
            let phrase = phrase(word)
            let count = try count(of: [phrase], in: database)
            exact.append(count == 0 ? phrase + "*" : phrase)
            wide.append(count <= mostWidened ? phrase + "*" : phrase)
        }
        return exact == wide ? [exact] : [exact, wide]
    }

    /// What is looked for.
    private struct Search {
        /// Each as an expression of FTS5.
        var words: [String]
        var bot: String?
        var since: Moment?
        var limit: Int

        /// The conditions on the rows of messages.
        var conditions: String {
            (bot == nil ? "" : " AND message.bot = ?3") + (since == nil ? "" : " AND message.at >= ?4")
        }
    }

    private static func hits(of search: Search, in database: Database) throws(StoreFailure) -> MessageHits {
        let count = try count(of: search.words, in: database)
        if count == 0 { return MessageHits([], isRanked: true) }
        guard count > MessageHits.mostRanked else { return try ranked(search, in: database) }
        if search.bot == nil { return try newest(search, matching: all(search.words), in: database) }
        // Most bots say what all say: their hits are among the newest ones. The index of bots knows the others.
        let near = try newest(
            search, matching: all(search.words), among: Self.newest, in: database)
        if near.messages.count == search.limit { return near }
        let both = "bot : \(phrase(search.bot ?? "")) AND " + all(search.words)
        return try newest(search, matching: both, in: database)
    }

    /// The best hits first.
    ///
    /// A word that very many messages have says little of any of them, and to weigh it takes a look at each: the others
    /// decide which hits are the best.
    private static func ranked(_ search: Search, in database: Database) throws(StoreFailure) -> MessageHits {
        var rare = search.words
        if rare.count > 1 {
            rare = []
            for word in search.words where try count(of: [word], in: database) <= MessageHits.mostRanked {
                rare.append(word)
            }
        }
        let isWeighed = rare.isEmpty || rare.count == search.words.count
        // The plus keeps SQLite from asking the index once for each row.
        let others =
            isWeighed ? "" : " AND +w.rowid IN (SELECT rowid FROM message_words WHERE message_words MATCH ?5)"
        let hits =
            "SELECT w.rowid AS hit, w.rank AS score FROM message_words w"
            + (search.conditions.isEmpty ? "" : " CROSS JOIN message ON number = w.rowid")
            + " WHERE w.message_words MATCH ?2" + others + search.conditions
            + " ORDER BY score, hit DESC LIMIT ?1"
        let query =
            TalkRows.messageQuery + " JOIN (\(hits)) ON number = hit ORDER BY score, hit DESC"
        let found = try read(
            query, search, matching: all(isWeighed ? search.words : rare),
            others: isWeighed ? nil : all(search.words), in: database)
        return MessageHits(found, isRanked: true)
    }

    /// The newest first; `among` the newest so many hits of all bots, where that is given.
    private static func newest(
        _ search: Search, matching words: String, among most: Int? = nil, in database: Database
    ) throws(StoreFailure) -> MessageHits {
        let some = most.map { " ORDER BY rowid DESC LIMIT \($0)" } ?? ""
        let hits = "SELECT rowid AS hit FROM message_words WHERE message_words MATCH ?2" + some
        let query =
            TalkRows.messageQuery + " JOIN (\(hits)) ON number = hit WHERE true" + search.conditions
            + " ORDER BY hit DESC LIMIT ?1"
        return MessageHits(
            try read(query, search, matching: words, others: nil, in: database), isRanked: false)
    }

    private static func read(
        _ query: String, _ search: Search, matching words: String, others: String?, in database: Database
    ) throws(StoreFailure) -> [MessageRecord] {
        try Prepared(query, in: database).all(
            {
                $0.put(search.limit)
                $0.put(words)
                $0.put(search.bot)
                $0.put(search.since)
                $0.put(others)
            }, TalkRows.message)
    }

    /// How many messages have all of the words; at most one more than are ranked.
    private static func count(of words: [String], in database: Database) throws(StoreFailure) -> Int {
        try Prepared(
            "SELECT count(*) FROM (SELECT 1 FROM message_words WHERE message_words MATCH ?1 LIMIT ?2)",
            in: database
        ).first({
            $0.put(all(words))
            $0.put(MessageHits.mostRanked + 1)
        }) { row in row.int() } ?? 0
    }

    /// The expression that finds what has all of the words.
    private static func all(_ words: [String]) -> String {
        "{title text} : (" + words.joined(separator: " AND ") + ")"
    }

    /// The expression that finds a word, whatever it holds.
    private static func phrase(_ word: some StringProtocol) -> String {
        // By scalars: a mark that is joined to a quote does not make it another character to SQLite.
        var scalars = String.UnicodeScalarView()
        for scalar in word.unicodeScalars where scalar != "\0" {
            if scalar == "\"" { scalars.append(scalar) }
            scalars.append(scalar)
        }
        return "\"" + String(scalars) + "\""
    }
}

extension SearchRows {
    /// The messages behind the newest one whose words are in the index.
    private static let lacking =
        "FROM message WHERE number > coalesce((SELECT max(id) FROM message_words_docsize), 0)"

    /// Enters the words of the messages that the index lacks.
    static func enter(in database: Database) throws(StoreFailure) -> Prepared {
        try Prepared(
            "INSERT INTO message_words (rowid, bot, title, text) SELECT number, bot, title, text \(lacking)",
            in: database)
    }

    /// How many messages the index lacks.
    static func missing(in database: Database) throws(StoreFailure) -> Int {
        try Prepared("SELECT count(*) \(lacking)", in: database).first { row in row.int() } ?? 0
    }
}
