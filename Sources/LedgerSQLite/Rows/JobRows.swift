import GRDB
import Ledger
import Timeline

/// Jobs, their revisions, and the facts.
struct JobRows {
    private let revision: Prepared
    private let storedSpec: Prepared
    private let insert: Prepared
    private let replace: Prepared
    private let remove: Prepared
    private let pause: Prepared
    private let putFact: Prepared
    private let removeFact: Prepared

    init(in database: Database) throws(StoreFailure) {
        revision = try Prepared("INSERT INTO revision (job, revision, spec) VALUES (?, ?, ?)", in: database)
        storedSpec = try Prepared(Self.specQuery, in: database)
        insert = try Prepared(
            """
            INSERT INTO job (name, revision, origin, place, since, paused_since, pause_note)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, in: database)
        replace = try Prepared(
            """
            UPDATE job SET revision = ?, origin = ?, place = ?, since = ? WHERE name = ? AND revision = ?
            """, in: database)
        remove = try Prepared("DELETE FROM job WHERE name = ? AND revision = ?", in: database)
        pause = try Prepared("UPDATE job SET paused_since = ?, pause_note = ? WHERE name = ?", in: database)
        putFact = try Prepared(
            "INSERT INTO fact (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            in: database)
        removeFact = try Prepared("DELETE FROM fact WHERE name = ?", in: database)
    }

    func put(_ job: JobRecord, replacing old: Int?) throws(StoreFailure) {
        if job.revision == old {
            try requireSameSpec(job)
        } else {
            let spec = try JSONText.encode(job.spec)
            try revision.run {
                $0.put(job.name)
                $0.put(job.revision)
                $0.put(spec)
            }
        }
        guard let old else { return try add(job) }
        try replace.change {
            $0.put(job.revision)
            $0.put(job.origin)
            $0.put(job.place)
            $0.put(job.since)
            $0.put(job.name)
            $0.put(old)
        }
    }

    func remove(_ name: String, revision: Int) throws(StoreFailure) {
        try remove.change {
            $0.put(name)
            $0.put(revision)
        }
    }

    func pause(_ name: String, _ pause: Pause?) throws(StoreFailure) {
        try self.pause.change {
            $0.put(pause?.since)
            $0.put(pause?.note)
            $0.put(name)
        }
    }

    func setFact(_ name: String, _ value: String?) throws(StoreFailure) {
        guard let value else {
            try removeFact.run { $0.put(name) }
            return
        }
        try putFact.run {
            $0.put(name)
            $0.put(value)
        }
    }

    private func add(_ job: JobRecord) throws(StoreFailure) {
        try insert.run {
            $0.put(job.name)
            $0.put(job.revision)
            $0.put(job.origin)
            $0.put(job.place)
            $0.put(job.since)
            $0.put(job.pause?.since)
            $0.put(job.pause?.note)
        }
    }

    /// A revision never changes: putting it again may move the job's place, not its spec.
    private func requireSameSpec(_ job: JobRecord) throws(StoreFailure) {
        let stored = try storedSpec.first({
            $0.put(job.name)
            $0.put(job.revision)
        }) { row throws(StoreFailure) in try JSONText.decode(row.text(), as: JobSpec.self) }
        if stored != job.spec { throw .fenced }
    }
}

extension JobRows {
    private static let specQuery = "SELECT spec FROM revision WHERE job = ? AND revision = ?"
    private static let isWished = " AND json_extract(spec, '$.notify') IS NOT NULL"
    private static let query = """
        SELECT spec, origin, place, job.revision, since, paused_since, pause_note
        FROM job JOIN revision ON revision.job = job.name AND revision.revision = job.revision
        """

    static func jobs(after name: String, limit: Int, in database: Database) throws(StoreFailure)
        -> [JobRecord]
    {
        try Prepared(query + " WHERE name > ? ORDER BY name LIMIT ?", in: database).all({
            $0.put(name)
            $0.put(limit)
        }) { row throws(StoreFailure) in try record(from: &row) }
    }

    static func jobs(
        named names: some Sequence<String>, in database: Database
    ) throws(StoreFailure) -> [JobRecord] {
        let statement = try Prepared(query + " WHERE name = ?", in: database)
        var jobs: [JobRecord] = []
        for name in names {
            let job = try statement.first({ $0.put(name) }) { row throws(StoreFailure) in
                try record(from: &row)
            }
            if let job { jobs.append(job) }
        }
        return jobs
    }

    static func job(named name: String, in database: Database) throws(StoreFailure) -> JobRecord? {
        try jobs(named: [name], in: database).first
    }

    static func spec(of job: String, revision: Int, in database: Database) throws(StoreFailure) -> JobSpec? {
        try Prepared(specQuery, in: database).first({
            $0.put(job)
            $0.put(revision)
        }) { row throws(StoreFailure) in try JSONText.decode(row.text()) }
    }

    /// Whether there was a job of that name, and is none now.
    static func isRemoved(_ name: String, in database: Database) throws(StoreFailure) -> Bool {
        guard try job(named: name, in: database) == nil else { return false }
        return try lastRevision(of: name, in: database) > 0
    }

    /// The same, or nil where it does not ask for certain news of its runs.
    ///
    /// Most specs do not: the library looks into the text, and it is not decoded.
    static func spec(
        of job: String, revision: Int, onlyWish: Bool, in database: Database
    ) throws(StoreFailure) -> JobSpec? {
        guard onlyWish else { return try spec(of: job, revision: revision, in: database) }
        return try Prepared(specQuery + isWished, in: database).first({
            $0.put(job)
            $0.put(revision)
        }) { row throws(StoreFailure) in try JSONText.decode(row.text()) }
    }

    /// The current spec of a job that asks for certain news; nil: it does not.
    static func spec(wishedBy job: String, in database: Database) throws(StoreFailure) -> JobSpec? {
        let query = """
            SELECT spec FROM job
            JOIN revision ON revision.job = job.name AND revision.revision = job.revision WHERE name = ?
            """
        return try Prepared(query + isWished, in: database)
            .first({ $0.put(job) }) { row throws(StoreFailure) in try JSONText.decode(row.text()) }
    }

    static func lastRevision(of job: String, in database: Database) throws(StoreFailure) -> Int {
        try Prepared("SELECT max(revision) FROM revision WHERE job = ?", in: database)
            .first({ $0.put(job) }) { row in row.int() } ?? 0
    }

    static func fact(named name: String, in database: Database) throws(StoreFailure) -> String? {
        try Prepared("SELECT value FROM fact WHERE name = ?", in: database)
            .first({ $0.put(name) }) { row in row.text() }
    }

    private static func record(from row: inout Columns) throws(StoreFailure) -> JobRecord {
        var job = JobRecord(
            spec: try JSONText.decode(row.text()), origin: try row.word(), place: row.optionalText(),
            revision: row.int(), since: row.moment())
        let since = row.optionalMoment()
        let note = row.optionalText()
        job.pause = since.map { Pause(since: $0, note: note) }
        return job
    }
}
