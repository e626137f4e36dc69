extension Migration {
    /// The words of messages, for searching a million of them.
    ///
    /// The texts stay where they are; what is inserted into a message's row never changes there.
    static let words = Migration(
        version: 26,
        sql: """
            CREATE VIRTUAL TABLE message_words USING fts5(
                bot, title, text, content = 'message', content_rowid = 'number',
                tokenize = 'unicode61 remove_diacritics 2'
            );
            CREATE TRIGGER message_said AFTER INSERT ON message BEGIN
                INSERT INTO message_words (rowid, bot, title, text)
                VALUES (new.number, new.bot, new.title, new.text);
            END;
            CREATE TRIGGER message_forgotten AFTER DELETE ON message BEGIN
                INSERT INTO message_words (message_words, rowid, bot, title, text)
                VALUES ('delete', old.number, old.bot, old.title, old.text);
            END;
            INSERT INTO message_words (message_words) VALUES ('rebuild');
            """)
}
