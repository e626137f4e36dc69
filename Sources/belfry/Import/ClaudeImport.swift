import API
import Cron
import Ledger
import Timeline
import Tracking

/// Makes jobs of the tasks that Claude Code has scheduled: those of its file, or those that a Stop hook names.
///
/// Claude fires them only while a session is idle; their times are those of a crontab in local time.
///
/// - Source: Claude Code's pages of scheduled tasks and of hooks, Aug 2026; see wishes.md.
struct ClaudeImport {
    let start: Moment
    private let place: String
    private let local = Zones.local
    private var names = CommandNames(taken: JobName.taken)

    /// Keys of a task that need no word: its own, and what only Claude's scheduler remembers.
    private static let known: Set<String> = [
        "id", "cron", "schedule", "prompt", "recurring", "durable", "permanent", "createdAt", "lastFiredAt",
    ]

    /// Tasks of the file at `place`, or of standard input.
    init(place: String, start: Moment) {
        self.place = place
        self.start = start
    }

    /// The jobs in the order of the tasks.
    ///
    /// - Throws: ``APIError`` for a text that names no tasks.
    mutating func jobs(_ text: String) throws(APIError) -> [ImportedJob] {
        guard let json = JSON(parsing: Array(text.utf8)[...]) else {
            throw APIError(.badValue, "\(place) is not JSON")
        }
        let tasks: JSON? =
            if case .array = json { json } else { json["tasks"] ?? json["session_crons"] }
        guard let tasks, case .array(let list) = tasks else {
            throw APIError(
                .badValue, "\(place) names no scheduled tasks",
                hint: "Name .claude/scheduled_tasks.json, or pipe in what a Stop hook gets.")
        }
        return list.enumerated().map { job($0.element, number: $0.offset + 1) }
    }

    private mutating func job(_ task: JSON, number: Int) -> ImportedJob {
        let id = task["id"]?.text ?? "\(number)"
        let times = task["cron"]?.text ?? task["schedule"]?.text ?? ""
        var job = ImportedJob(
            name: names.name(for: "claude-\(id)"), place: "\(place)#\(number)",
            original: CleanText.line(times, limit: 100), zone: local)
        guard let prompt = task["prompt"]?.text, !prompt.isEmpty else {
            job.refusal = "it has no prompt"
            return job
        }
        job.prompt = prompt
        job.catchUp = "none"
        if case .members(let members) = task {
            for member in members where !Self.known.contains(member.name) {
                job.notes.append("its field \(CleanText.line(member.name, limit: 40)) is not imported")
            }
        }
        guard let expression = try? CronExpression(times), times.split(separator: " ").count == 5 else {
            job.refusal =
                times.isEmpty
                ? "it has no times" : "\"\(job.original)\" is no cron expression of five fields"
            return job
        }
        setTimes(of: &job, expression, repeats: task["recurring"] != .bool(false))
        if task["recurring"] != .bool(false), task["permanent"] != .bool(true) {
            job.notes.append("Claude deletes it 7 days after it was made; Belfry keeps it")
        }
        return job
    }

    private func setTimes(of job: inout ImportedJob, _ expression: CronExpression, repeats: Bool) {
        let schedule = Schedule.cron(expression, zone: local.name)
        let times = ImportedJob.compare(schedule, in: local, after: start, original: nil)
        guard !repeats else {
            (job.schedule, job.times) = (schedule, times)
            return
        }
        guard let first = times.first else {
            job.refusal = "its time never comes"
            return
        }
        (job.schedule, job.times) = (.at(first.moment), [first])
    }
}
