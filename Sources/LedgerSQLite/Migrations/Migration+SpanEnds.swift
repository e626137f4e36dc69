extension Migration {
    /// Spans are listed, and removed, in the order in which they ended: a long one is as new as its last slot.
    static let spanEnds = Migration(
        version: 4,
        sql: """
            CREATE INDEX slot_span_end ON slot_span (era, last, job);
            DROP INDEX slot_span_time;
            """)
}
