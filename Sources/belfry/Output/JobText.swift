import API
import APIClient
import Host
import TerminalView
import Timeline
import Tracking

/// Jobs in words.
enum JobText {
    /// `30 2 * * * Europe/Berlin`, `manual`; without the zone where that is `local`.
    static func schedule(_ schedule: WireSchedule, local: String? = nil) -> String {
        let zone = schedule.zone == local ? nil : schedule.zone
        return describe(schedule, in: zone, local)
    }

    private static func describe(_ schedule: WireSchedule, in zone: String?, _ local: String?) -> String {
        switch schedule.kind {
        case "manual": "manual"
        case "startup": "startup"
        case "calendar": "every " + [schedule.text, zone].compactMap { $0 }.joined(separator: " ")
        case "cron": [schedule.text, zone].compactMap { $0 }.joined(separator: " ")
        case "several":
            (schedule.members ?? []).map { Self.schedule($0, local: local) }.joined(separator: "; ")
        default: "\(schedule.kind) \(schedule.text)"
        }
    }

    /// The command as a shell would take it, the shell text, the prompt, or the request.
    static func action(_ job: WireJob) -> String {
        if let shell = job.shell { return shell }
        if let prompt = job.prompt { return "asks \(job.bot): \(prompt)" }
        if let url = job.url { return "\(job.method ?? "GET") \(url)" }
        return (job.command ?? []).map(quoted).joined(separator: " ")
    }

    /// Prints a job that was added or changed: JSON, or one line with its next slot.
    static func confirm(_ verb: String, _ job: WireJob, _ common: CommonOptions) throws {
        if common.json { return try StandardOutput.print(json: job) }
        let screen = common.screen
        let next = job.nextAt.map { "next at \(screen.fullTime($0, of: job)), \(screen.distance($0))" }
        let other =
            job.schedule.kind == "manual" ? nil : job.schedule.words.map { "runs \($0.lowercasedFirst)" }
        let when =
            job.paused.isPaused
            ? "its slots are skipped until belfry job resume \(job.name)"
            : next ?? other ?? "no schedule; start it with: belfry run \(job.name)"
        screen.print("\(verb) \(job.name) (revision \(job.revision)): \(when).")
        for note in [job.schedule.note, job.schedule.clockChanges].compactMap(\.self) {
            StandardOutput.print(prose: "note: \(note)")
        }
        for warning in job.warnings ?? [] { StandardError.print(prose: "belfry: warning: \(warning)") }
    }

    /// Prints every job.
    static func list(_ common: CommonOptions) throws {
        let jobs = try common.client().ask(Endpoints.jobs())
        try common.screen.list(jobs, asJSON: common.json) { screen in
            screen.print(
                table(jobs, screen), empty: "No jobs. Add one: belfry job add NAME --cron EXPR -- CMD")
        }
    }

    static func table(_ jobs: [WireJob], _ screen: Screen) -> TextTable {
        var table = TextTable(["JOB", "SCHEDULE", "NEXT", "LAST", "BOT"], times: [2])
        for job in jobs {
            let next: TextTable.Cell =
                job.paused.isPaused ? .init("paused", .yellow) : "\(screen.time(job.nextAt, of: job))"
            let last = job.lastRun.map { TextTable.Cell(RunText.state($0), StateMark($0.state).color) }
            let schedule = schedule(job.schedule, local: screen.zone.name)
            table.add(["\(job.name)", "\(schedule)", next, last ?? "-", "\(job.bot)"])
        }
        return table
    }

    /// `word` as a shell would have to be given it.
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "_-./=:,@%+".utf8.contains(byte)
                }
            }
        return isPlain
            ? word
            : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
                + "'"
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
