import Cron
import Host
import Ledger
import Timeline

/// Makes jobs of timer units and the services they start.
struct SystemdImport {
    let start: Moment
    private var names = CommandNames(taken: JobName.taken)
    private let rights: ImportRights
    private let local = Zones.local

    /// Settings of a timer that count from something else than a calendar.
    private static let spans = ["OnBootSec", "OnUnitActiveSec", "OnUnitInactiveSec"]
    /// Settings of a timer that nothing here stands for.
    private static let unknown = [
        "OnActiveSec": "it counts from the start of the timer unit, which a job does not have",
        "OnStartupSec": "it counts from the start of systemd, which a job does not know",
        "OnClockChange": "no schedule reacts to changes of the clock",
        "OnTimezoneChange": "no schedule reacts to changes of the time zone",
    ]
    /// Where the units of the system are, which run as root unless they name a user.
    private static let systemFolders = [
        "/etc/systemd/system/", "/lib/systemd/", "/usr/lib/systemd/", "/run/systemd/",
    ]
    /// Settings of a service that change what is run and are not imported.
    private static let extras = [
        "ExecStartPre", "ExecStartPost", "ExecCondition", "EnvironmentFile", "RootDirectory", "DynamicUser",
    ]

    init(start: Moment, rights: ImportRights) {
        self.start = start
        self.rights = rights
    }

    /// The jobs of the timer at `path`: one for each setting that starts it, but one for `OnBootSec` with
    /// `OnUnitActiveSec`.
    mutating func jobs(timerAt path: String) -> [ImportedJob] {
        guard let timer = Self.unit(path) else {
            return [refused(path, "", "it can't be read")]
        }
        let draft = draft(timer, path)
        var jobs = timer.all("Timer", "OnCalendar").map { job(draft, $0, path) }
        let settings = timer.settings.filter { $0.section == "Timer" && $0.value != "false" }
        let pair = ["OnBootSec", "OnUnitActiveSec"].map { name in settings.filter { $0.name == name } }
        let isPair = pair.allSatisfy { $0.count == 1 }
        if isPair { jobs.append(job(draft, pair[0][0], and: pair[1][0], path)) }
        for setting in settings {
            if isPair, pair.joined().contains(setting) { continue }
            if Self.spans.contains(setting.name) {
                jobs.append(job(draft, setting, path))
            } else if let reason = Self.unknown[setting.name], setting.value != "no" {
                jobs.append(refused(path, "\(setting.name)=\(setting.value)", "\(setting.name): \(reason)"))
            }
        }
        return jobs.isEmpty ? [refused(path, "", "nothing in it starts a job")] : jobs
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
        if let text = timer.value("Timer", "RandomizedDelaySec") {
            if let span = TimeSpan(text) {
                job.spread = span.duration > .zero ? span.duration : nil
            } else {
                job.refusal = "RandomizedDelaySec is not a time span: \(text)"
            }
        }
        let service = timer.value("Timer", "Unit") ?? Self.stem(path) + ".service"
        setAction(of: &job, service, beside: path)
        return job
    }

    /// One job at the times of two settings, or with the reason why one of them is refused.
    private mutating func job(
        _ draft: ImportedJob, _ first: UnitFile.Setting, and second: UnitFile.Setting, _ path: String
    ) -> ImportedJob {
        var job = job(draft, first, path)
        job.original += " \(second.name)=\(second.value)"
        var other = draft
        setSpan(of: &other, second)
        job.refusal = job.refusal ?? other.refusal
        guard let one = job.schedule, let two = other.schedule,
            let list = try? ScheduleList([one, two])
        else { return job }
        job.schedule = .several(list)
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
        guard event.name != "OnCalendar" else {
            setTimes(of: &job, event.value)
            return job
        }
        job.original = "\(event.name)=\(event.value)"
        setSpan(of: &job, event)
        return job
    }

    /// Sets when a job runs that counts from something else than a calendar.
    private func setSpan(of job: inout ImportedJob, _ event: UnitFile.Setting) {
        guard let span = TimeSpan(event.value)?.duration else {
            job.refusal = job.refusal ?? "\(event.name) is not a time span"
            return
        }
        // Persistent= is about OnCalendar= only.
        job.catchUp = "none"
        switch event.name {
        case "OnUnitActiveSec": job.schedule = .every(span, anchor: Moment(seconds: start.seconds))
        case "OnUnitInactiveSec": job.schedule = .after(span)
        default:
            job.schedule = .startup(delay: span < .seconds(1) ? .zero : span)
            return
        }
        if span < .seconds(1) { job.refusal = job.refusal ?? "\(event.name): an interval is at least 1s" }
    }

    private func setTimes(of job: inout ImportedJob, _ text: String) {
        do throws(CronError) {
            let event = try CalendarEvent(text)
            if let name = event.zoneName {
                guard let rules = Zones.rules(name) else {
                    job.refusal = "unknown time zone \"\(name)\""
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
            job.refusal = job.refusal ?? "it starts \(service), which is not a service"
            return
        }
        guard let unit = Self.unit(Self.service(service, beside: path)) else {
            job.refusal = job.refusal ?? "\(service) is not beside it or can't be read"
            return
        }
        let isSystem = Self.systemFolders.contains(where: FilePath.resolved(path).hasPrefix)
        let (user, strange) = rights.user(
            unit.value("Service", "User") ?? (isSystem ? "root" : rights.own?.name))
        job.user = user
        let home = rights.own?.home
        let commands = unit.all("Service", "ExecStart")
        let command = SystemdCommand(commands.last?.value ?? "", home: isSystem ? nil : home)
        job.command = command.words
        let directory = unit.value("Service", "WorkingDirectory")
        job.directory = directory == "~" ? home : directory ?? (isSystem ? "/" : home)
        var problem = command.problem
        for setting in unit.all("Service", "Environment") {
            let words = SystemdCommand(setting.value, home: isSystem ? nil : home)
            problem = problem ?? words.problem.map { "Environment: \($0)" }
            for word in words.words {
                guard let equals = word.firstIndex(of: "=") else { continue }
                job.environment[String(word[..<equals])] = String(word[word.index(after: equals)...])
            }
        }
        if commands.count > 1 { problem = "\(service) has \(commands.count) commands, a job has one" }
        if let extra = Self.extras.first(where: { unit.value("Service", $0) != nil }) {
            problem = "\(service) uses \(extra), which is not imported"
        }
        let type = unit.value("Service", "Type") ?? "simple"
        if !["simple", "exec", "oneshot"].contains(type) {
            problem = "\(service) has Type=\(type), which is not imported"
        }
        if let strange { problem = strange }
        if let text = unit.value("Service", "Nice") {
            job.nice = Int(text).flatMap { (-20...19).contains($0) ? $0 : nil }
            if job.nice == nil { problem = "Nice of \(service) is not a number from -20 to 19" }
        }
        if job.directory?.hasPrefix("/") == false { problem = "its WorkingDirectory is not an absolute path" }
        if let name = unit.settings.first(where: { $0.name.hasPrefix("Condition") })?.name {
            job.notes.append("\(name) is not imported")
        }
        job.refusal = job.refusal ?? problem
    }

    /// The service's path: in the timer's folder; for a template's instance, the template.
    private static func service(_ name: String, beside path: String) -> String {
        SmallFile.parent(of: FilePath.resolved(path)) + "/" + name
    }

    private static func unit(_ path: String) -> UnitFile? {
        guard let bytes = try? SmallFile.readWaiting(path) else { return nil }
        return UnitFile(String(decoding: bytes, as: UTF8.self))
    }

    private static func stem(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return name.hasSuffix(".timer") ? String(name.dropLast(".timer".count)) : name
    }
}

/// The command line of a unit's `ExecStart`, as far as it can be run without systemd.
///
/// - Source: systemd.service(5), "Command Lines".
struct SystemdCommand {
    private(set) var words: [String] = []
    /// Why it can't be run as it stands; nil when it can.
    private(set) var problem: String?

    /// Splits `text`, quotes and escapes resolved; `home` stands for `%h`.
    init(_ text: String, home: String?) {
        var rest = Array(text)[...]
        while let first = rest.first, "@-:+!".contains(first) {
            rest.removeFirst()
            if first == ":" { continue }
            problem = "the prefix \"\(first)\" of its command is not supported"
        }
        var word: String?
        var quote: Character?
        while let character = rest.popFirst() {
            switch character {
            case "'", "\"":
                if quote == nil {
                    (quote, word) = (character, word ?? "")
                } else if quote == character {
                    quote = nil
                } else {
                    word = (word ?? "") + String(character)
                }
            case " ",
                "\t" where quote == nil:
                if quote != nil { word?.append(character) } else { finish(&word) }
            case "\\": word = (word ?? "") + String(escape(rest.popFirst()))
            case "%": word = (word ?? "") + specifier(rest.popFirst(), home)
            case "$": word = (word ?? "") + dollar(&rest)
            default: word = (word ?? "") + String(character)
            }
        }
        if quote != nil { problem = "a quote of its command is not closed" }
        finish(&word)
        if words.contains(";") { problem = "it has several commands" }
        if words.isEmpty { problem = "it has no command" }
    }

    /// The word ends here; nil: none has begun.
    private mutating func finish(_ word: inout String?) {
        if let word { words.append(word) }
        word = nil
    }

    /// The second of two is dropped.
    private mutating func dollar(_ rest: inout ArraySlice<Character>) -> String {
        if rest.first == "$" {
            rest.removeFirst()
        } else {
            problem = "systemd would expand a $ in its command"
        }
        return "$"
    }

    private mutating func escape(_ character: Character?) -> Character {
        switch character {
        case "n": return "\n"
        case "t": return "\t"
        case "s": return " "
        case let character? where "\\\"'; ".contains(character): return character
        default:
            problem = "an escape sequence in its command is not supported"
            return "\\"
        }
    }

    private mutating func specifier(_ character: Character?, _ home: String?) -> String {
        if character == "%" { return "%" }
        if character == "h", let home { return home }
        problem = "%\(character.map(String.init) ?? "") in its command is not supported"
        return ""
    }
}
