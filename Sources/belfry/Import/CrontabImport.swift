import Cron
import Ledger
import Timeline

/// A channel of the daemon that sends mail.
struct MailChannel {
    var name: String
    /// Whether a route leads failures there.
    var getsFailures: Bool
}

/// Makes jobs of the lines of a crontab.
struct CrontabImport {
    let file: String
    let start: Moment
    private var names = CommandNames(taken: JobName.taken)
    private let rights: ImportRights
    /// The daemon's channel for mail; nil: it has none, or does not answer.
    private let mailChannel: MailChannel?
    private let local = Zones.local
    /// What was made of times and a zone before: many lines have the same.
    private var known: [[String]: ImportedTimes] = [:]

    init(file: String, start: Moment, rights: ImportRights, mailChannel: MailChannel? = nil) {
        self.file = file
        self.start = start
        self.rights = rights
        self.mailChannel = mailChannel
    }

    /// The jobs in the order of their lines.
    mutating func jobs(_ crontab: Crontab) -> [ImportedJob] {
        crontab.lines.map { job($0) }
    }

    private mutating func job(_ line: CrontabLine) -> ImportedJob {
        var job = ImportedJob(
            name: names.name(for: line.command.isEmpty ? line.times : line.command),
            place: "\(file):\(line.number)", line: line.number, original: line.times, zone: local)
        if let problem = line.problem {
            job.refusal = problem
            return job
        }
        // As cron does: a time that is missed stays missed, and a run that goes on keeps no other from starting.
        job.catchUp = "none"
        job.overlap = "allow"
        setAction(of: &job, line)
        times(of: line).set(on: &job)
        let (user, refusal) = rights.user(line.user ?? rights.own?.name)
        job.user = user
        if let refusal {
            job.refusal = refusal
        } else if job.shell == nil && job.command == nil {
            job.refusal = "the text after % can't be passed to this command as standard input"
        }
        return job
    }

    private func setAction(of job: inout ImportedJob, _ line: CrontabLine) {
        var environment = line.environment
        // An empty one asks cron for no mail.
        if let address = environment.removeValue(forKey: "MAILTO"), !address.isEmpty {
            mail(to: address, of: &job)
        }
        environment["MAILFROM"] = nil
        environment["CRON_TZ"] = nil
        // cron sets it itself and lets nobody change it.
        environment["LOGNAME"] = nil
        let shell = environment["SHELL"] ?? "/bin/sh"
        let owner = line.user.flatMap(UserTable.entry) ?? rights.own
        job.directory = environment["HOME"] ?? owner?.home
        job.environment = environment
        job.written = line.command + (line.input == nil ? "" : " ...")
        guard let text = line.shellText else { return }
        if line.input != nil { job.notes.append("the text after % became a here-document") }
        if shell == "/bin/sh" { job.shell = text } else { job.command = [shell, "-c", text] }
    }

    /// What a job prints is mailed where there is a channel for that, as cron does; its failures go by the routes.
    private func mail(to address: String, of job: inout ImportedJob) {
        if let mailChannel {
            job.sendsOutput = true
            job.outputChannel = mailChannel.name
            job.notes.append("MAILTO: channel \(mailChannel.name) mails what it prints")
            if !mailChannel.getsFailures {
                job.notes.append(
                    "MAILTO: failures go to the channels of the routes, not to \(mailChannel.name), which no route "
                        + "names for failed")
            }
        } else {
            // The word is somebody's: it is repeated only where a shell reads it as it stands.
            let isPlain =
                address.contains("@") && !address.hasPrefix("-")
                && address.utf8.allSatisfy {
                    $0 > 0x20 && $0 < 0x7F && !"\"'`$&|;<>()*?[]{}!#~\\,".utf8.contains($0)
                }
            job.notes.append(
                "no mail is sent (MAILTO): first add a channel, belfry channel add "
                    + (isPlain ? "mailto:\(address)" : "mail")
                    + "; what it prints is kept: belfry run logs JOB")
        }
    }

    private mutating func times(of line: CrontabLine) -> ImportedTimes {
        let zone = line.environment["CRON_TZ"] ?? ""
        if let times = known[[line.times, zone]] { return times }
        let times = ImportedTimes(line.times, zone: zone, local: local, after: start)
        known[[line.times, zone]] = times
        return times
    }
}

/// What the times of a crontab's line become.
private struct ImportedTimes {
    private var schedule: Schedule?
    private var zone: ZoneRules
    private var hasOtherZone = false
    private var times: [ImportedJob.Time] = []
    private var notes: [String] = []
    private var refusal: String?

    /// The times in the zone that `name` names; in the machine's where it is empty.
    init(_ text: String, zone name: String, local: ZoneRules, after start: Moment) {
        zone = local
        guard text != "@reboot" else {
            schedule = .startup()
            notes.append("cron runs it whenever cron starts; Belfry runs it once after each boot")
            return
        }
        if !name.isEmpty {
            guard let rules = Zones.rules(name) else {
                refusal = "CRON_TZ: unknown time zone \"\(name)\""
                return
            }
            zone = rules
            hasOtherZone = rules.name != local.name
            notes.append("CRON_TZ=\(name) applies, as in cronie; Debian's cron ignores it")
        }
        guard let expression = try? CronExpression(text) else { return }
        let schedule = Schedule.cron(expression, zone: zone.name)
        self.schedule = schedule
        // Debian's cron reads every line in the zone of the machine.
        let debian = DebianClock(text)?.starts(after: start, in: local, count: 10)
        times = ImportedJob.compare(schedule, in: zone, after: start, original: debian)
        if debian == nil { notes.append("Debian's cron rejects these times") }
        if let warning = CronCheck(text).clockChangeWarning(in: zone, after: start) {
            notes.append(warning.message)
        }
    }

    func set(on job: inout ImportedJob) {
        job.schedule = schedule
        job.zone = zone
        job.hasOtherZone = hasOtherZone
        job.times = times
        job.notes += notes
        job.refusal = refusal
    }
}
