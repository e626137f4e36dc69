import GRDB
import Grouping
import Ledger
import Timeline

/// Questions, and how they were closed.
struct QuestionRows {
    private let insert: Prepared
    private let close: Prepared

    init(in database: Database) throws(StoreFailure) {
        insert = try Prepared(
            """
            INSERT INTO question (id, run, run_name, bot, text, choices, takes_text, fallback, asked_at, deadline,
                state, grace_until, subject)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, in: database)
        close = try Prepared(
            """
            UPDATE question SET state = ?, answer = ?, answered_by = ?, closed_at = ?
            WHERE id = ? AND closed_at IS NULL
            """, in: database)
    }

    func insert(_ record: QuestionRecord) throws(StoreFailure) {
        let question = record.question
        let choices = try JSONText.encode(question.choices)
        try insert.run {
            $0.put(question.id)
            $0.put(record.run)
            $0.put(question.run)
            $0.put(question.bot)
            $0.put(question.text)
            $0.put(choices)
            $0.put(question.takesText)
            $0.put(question.fallback)
            $0.put(question.askedAt)
            $0.put(question.deadline)
            $0.put(QuestionState.open)
            $0.put(question.graceUntil)
            $0.put(question.subject)
        }
    }

    func close(_ id: String, _ end: QuestionEnd) throws(StoreFailure) {
        try close.change {
            $0.put(end.state)
            $0.put(end.answer)
            $0.put(end.by)
            $0.put(end.at)
            $0.put(id)
        }
    }
}

extension QuestionRows {
    private static let query = """
        SELECT id, run, run_name, bot, text, choices, takes_text, fallback, asked_at, deadline, state, answer,
            answered_by, closed_at, grace_until, subject FROM question
        """

    /// The newest question about that, closed by a person with that answer since a moment.
    static func answered(
        about subject: String, _ answer: String, since moment: Moment, in database: Database
    ) throws(StoreFailure) -> QuestionRecord? {
        try Prepared(
            query + """
                 WHERE subject = ? AND closed_at > ? AND answer = ? AND state = 'answered'
                    AND answered_by <> '\(QuestionEnd.byDefault)'
                    AND substr(answered_by, 1, \(QuestionEnd.trust.count)) <> '\(QuestionEnd.trust)'
                ORDER BY closed_at DESC, number DESC LIMIT 1
                """, in: database
        ).first(
            {
                $0.put(subject)
                $0.put(moment)
                $0.put(answer)
            }, record)
    }

    static func question(id: String, in database: Database) throws(StoreFailure) -> QuestionRecord? {
        try Prepared(query + " WHERE id = ?", in: database).first({ $0.put(id) }, record)
    }

    static func open(in database: Database) throws(StoreFailure) -> [QuestionRecord] {
        try Prepared(
            query + " INDEXED BY question_open WHERE closed_at IS NULL ORDER BY number", in: database
        ).all({ _ in }, record)
    }

    static func newest(limit: Int, in database: Database) throws(StoreFailure) -> [QuestionRecord] {
        try Prepared(query + " ORDER BY number DESC LIMIT ?", in: database).all({ $0.put(limit) }, record)
    }

    private static func record(from row: inout Columns) throws(StoreFailure) -> QuestionRecord {
        let (id, run, name, bot, text) = (
            row.text(), row.optionalText(), row.optionalText(), row.text(), row.text()
        )
        let choices = try JSONText.decode(row.text(), as: [String].self)
        let (takesText, fallback, askedAt) = (row.bool(), row.optionalText(), row.moment())
        var question = Question(id: id, bot: bot, text: text, choices: choices, askedAt: askedAt)
        question.run = name
        question.takesText = takesText
        question.fallback = fallback
        question.deadline = row.optionalMoment()
        let state = try row.word(QuestionState.self)
        let (answer, by, closedAt) = (row.optionalText(), row.optionalText(), row.optionalMoment())
        let end = closedAt.map { moment in
            var end = QuestionEnd(state, at: moment)
            (end.answer, end.by) = (answer, by)
            return end
        }
        question.graceUntil = row.optionalMoment()
        question.subject = row.optionalText()
        return QuestionRecord(question, run: run, end: end)
    }
}
