import API
import Cron
import Host
import Ledger
import Timeline

/// Makes jobs of timer units and the services they start.
struct SystemdImport {
    let start: Moment
    private var names = CommandNames(taken: JobName.reserved)
    private let user = UserTable.own
    private let local = Zones.local

    /// Settings of a timer that no expression covers.
    private static let spans = [
        "OnActiveSec", "OnBootSec", "OnStartupSec", "OnUnitActiveSec", "OnUnitInactiveSec", "OnClockChange",
        "OnTimezoneChange",
    ]
    /// Settings of a service that change what is run and are not imported.
    private static let extras = [
        "ExecStartPre", "ExecStartPost", "ExecCondition", "EnvironmentFile", "RootDirectory", "DynamicUser",
    ]

    init(start: Moment) { self.start = start }

    /// The jobs of the timer at `path`: one for each of its events.
    mutating func jobs(timerAt path: String) -> [ImportedJob] {
        guard let timer = Self.unit(path) else {
            return [refused(path, "", "it can't be read")]
        }
        let draft = draft(timer, path)
        var jobs = timer.all("Timer", "OnCalendar").map { job(draft, $0, path) }
        for span in Self.spans {
            for setting in timer.all("Timer", span) where setting.value != "no" && setting.value != "false" {
                jobs.append(
                    refused(path, "\(span)=\(setting.value)", "\(span) is no time of a calendar"))
            }
        }
        return jobs.isEmpty ? [refused(path, "", "it has no OnCalendar")] : jobs
    }

    private mutating func refused(_ path: String, _ original: String, _ reason: String) -> ImportedJob {
        var job = ImportedJob(
            name: names.name(for: Self.stem(path)), place: path, original: original, zone: local)
        job.refusal = reason
        return job
    }

    /// What the jobs of all its events have in common.
    private func draft(_ timer: UnitFile, _ path: String) -> ImportedJob {
        var job = ImportedJob(name: "", place: path, original: "", zone: local)
        job.catchUp =
            ["yes", "true", "on", "1"].contains(timer.value("Timer", "Persistent")) ? "latest" : "none"
        for name in ["RandomizedDelaySec", "FixedRandomDelay"] {
            guard let value = timer.value("Timer", name), value != "0", value != "false" else { continue }
            job.notes.append("\(name)=\(value) is left out: it starts on time")
        }
        let service = timer.value("Timer", "Unit") ?? Self.stem(path) + ".service"
        setAction(of: &job, service, beside: path)
        return job
    }

    private mutating func job(
        _ draft: ImportedJob, _ event: UnitFile.Setting, _ path: String
    ) -> ImportedJob {
        var job = draft
        job.name = names.name(for: Self.stem(path))
        job.place = "\(path):\(event.line)"
        job.line = event.line
        job.original = event.value
        setTimes(of: &job, event.value)
        return job
    }

    private func setTimes(of job: inout ImportedJob, _ text: String) {
        do throws(CronError) {
            let event = try CalendarEvent(text)
            if let name = event.zoneName {
                guard let rules = Zones.rules(name) else {
                    job.refusal = "no zone \"\(name)\""
                    return
                }
                job.zone = rules
            }
            let expression = try CronExpression(event.fields)
            let schedule = Schedule.cron(expression, zone: job.zone.name)
            job.schedule = schedule
            job.times = ImportedJob.compare(schedule, in: job.zone, after: start, original: nil)
            if let warning = CronCheck(event.fields).clockChangeWarning(in: job.zone, after: start) {
                job.notes.append("\(warning.message); systemd runs nothing for a skipped time")
            }
        } catch {
            job.refusal = "OnCalendar: \(error)"
        }
    }

    private func setAction(of job: inout ImportedJob, _ service: String, beside path: String) {
        guard service.hasSuffix(".service") else {
            job.refusal = job.refusal ?? "it starts \(service), which is no service"
            return
        }
        guard let unit = Self.unit(Self.service(service, beside: path)) else {
            job.refusal = job.refusal ?? "\(service) is not beside it or can't be read"
            return
        }
        let commands = unit.all("Service", "ExecStart")
        let command = SystemdCommand(commands.last?.value ?? "", home: user?.home)
        job.command = command.words
        let directory = unit.value("Service", "WorkingDirectory")
        job.directory = directory == "~" ? user?.home : directory ?? user?.home
        var problem = command.problem
        for setting in unit.all("Service", "Environment") {
            let words = SystemdCommand(setting.value, home: user?.home)
            problem = problem ?? words.problem.map { "Environment: \($0)" }
            for word in words.words {
                guard let equals = word.firstIndex(of: "=") else { continue }
                job.environment[String(word[..<equals])] = String(word[word.index(after: equals)...])
            }
        }
        if commands.count > 1 { problem = "\(service) has \(commands.count) commands" }
        if let extra = Self.extras.first(where: { unit.value("Service", $0) != nil }) {
            problem = "\(extra) of \(service) can't be kept"
        }
        let type = unit.value("Service", "Type") ?? "simple"
        if !["simple", "exec", "oneshot"].contains(type) { problem = "\(service) is of type \(type)" }
        if let name = unit.value("Service", "User"), name != user?.name {
            problem = "it runs as \(name), and this daemon's jobs run as \(user?.name ?? "you")"
        }
        if job.directory?.hasPrefix("/") == false { problem = "its WorkingDirectory is no absolute path" }
        if let name = unit.settings.first(where: { $0.name.hasPrefix("Condition") })?.name {
            job.notes.append("\(name) is left out")
        }
        job.refusal = job.refusal ?? problem
    }

    /// The service's path: in the timer's folder; for a template's instance, the template.
    private static func service(_ name: String, beside path: String) -> String {
        SmallFile.parent(of: FilePath.resolved(path)) + "/" + name
    }

    private static func unit(_ path: String) -> UnitFile? {
        guard let bytes = try? SmallFile.read(path) else { return nil }
        return UnitFile(String(decoding: bytes, as: UTF8.self))
    }

    private static func stem(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return name.hasSuffix(".timer") ? String(name.dropLast(".timer".count)) : name
    }
}
