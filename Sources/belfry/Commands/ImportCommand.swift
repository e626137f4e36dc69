import API
import ArgumentParser
import Cron
import Host

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Imports jobs from other schedulers.",
        subcommands: [
            ImportCrontabCommand.self, ImportSystemdCommand.self, ImportClaudeCommand.self,
            ImportOpenClawCommand.self,
        ])
}

struct ImportCrontabCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crontab",
        abstract:
            "Shows a crontab's jobs, and where Belfry would start them at other times than Debian's cron.",
        discussion: """
            Jobs keep cron's own rules: missed times stay missed, and runs may overlap.

              crontab -l | belfry import crontab -
              belfry import crontab /etc/cron.d/backup --apply
            """)

    @Argument(help: ArgumentHelp("The file, or - for standard input.", valueName: "file"))
    var file: String
    @Flag(help: "The lines have no user column, as in crontab -l.")
    var userForm = false
    @Flag(help: "The lines have a user column, as in /etc/crontab.")
    var systemForm = false
    @OptionGroup var options: ImportOptions

    func validate() throws {
        if userForm && systemForm {
            throw ValidationError("--user-form and --system-form exclude each other")
        }
    }

    func run() throws {
        let text = try text()
        let form = form(of: text)
        var maker = CrontabImport(
            file: file, start: try options.start(), rights: options.rights(),
            mailChannel: options.mailChannel())
        let jobs = maker.jobs(Crontab(text, form: form))
        if !userForm && !systemForm && !options.common.json && !jobs.isEmpty {
            StandardError.print(
                prose: form == .user
                    ? "note: read without a user column; if the lines have one, add --system-form"
                    : "note: read with a user column; if the lines have none, add --user-form")
        }
        try options.finish(jobs) { added in
            let lines = LineNumbers.text(added.compactMap(\.line))
            let how = file == "-" ? "with: crontab -e" : "of \(file)"
            return "Now disable line\(added.count == 1 ? "" : "s") \(lines) \(how) (put # in front): "
                + "a job in both places runs twice."
        }
    }

    private func text() throws(APIError) -> String {
        if file == "-" { return try StandardInput.text(limit: Crontab.limit) }
        do throws(HostError) {
            return String(decoding: try SmallFile.readWaiting(file, limit: Crontab.limit), as: UTF8.self)
        } catch {
            throw APIError(.badValue, "\(file) can't be read: \(error)")
        }
    }

    private func form(of text: String) -> Crontab.Form {
        if userForm { return .user }
        if systemForm { return .system }
        let path = FilePath.resolved(file)
        if path == "/etc/crontab" || path.hasPrefix("/etc/cron.d/") { return .system }
        if path.hasPrefix("/var/spool/cron/") { return .user }
        return Crontab.form(of: text) { UserTable.entry($0) != nil }
    }
}

struct ImportSystemdCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "systemd",
        abstract: "Shows the jobs of systemd's timers.",
        discussion: """
            Without a name it reads your own timers in ~/.config/systemd/user.

              belfry import systemd
              belfry import systemd /etc/systemd/system/backup.timer --apply
            """)

    @Argument(help: ArgumentHelp("Timers, or folders of them.", valueName: "unit.timer|folder"))
    var places: [String] = []
    @OptionGroup var options: ImportOptions

    func run() throws {
        let start = try options.start()
        var maker = SystemdImport(start: start, rights: options.rights())
        var jobs: [ImportedJob] = []
        for timer in try timers() { jobs += maker.jobs(timerAt: timer) }
        try options.finish(jobs) { added in
            let places = added.map { String($0.place.prefix { $0 != ":" }) }
            let units = Set(places.compactMap { $0.split(separator: "/").last.map(String.init) }).sorted()
            let isOwn = places.contains { $0.contains("/systemd/user/") }
            return "Now disable the original: systemctl \(isOwn ? "--user " : "")disable --now "
                + "\(units.joined(separator: " ")): a job in both places runs twice."
        }
    }

    private func timers() throws(APIError) -> [String] {
        var found: [String] = []
        let home = UserTable.own?.home ?? ""
        for place in places.isEmpty ? [home + "/.config/systemd/user"] : places {
            guard !place.hasSuffix(".timer") else {
                found.append(place)
                continue
            }
            do throws(HostError) {
                let names = try Folder.names(in: place).filter { $0.hasSuffix(".timer") }
                found += names.sorted().map { place + "/" + $0 }
            } catch {
                // Whoever has no timers of their own often has no folder for them either.
                if places.isEmpty { continue }
                throw APIError(
                    .badValue, "\(place) can't be read: \(error)", hint: "Name a .timer or a folder of them.")
            }
        }
        return found
    }
}

struct ImportClaudeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claude",
        abstract: "Shows the tasks that Claude Code has scheduled, as prompts of a bot.",
        discussion: """
            Without a file it reads .claude/scheduled_tasks.json here, else in your home.
            A Stop hook gets the tasks of a session on standard input: pass them on with -.

              belfry import claude --bot cc --apply
              belfry import claude - --bot cc --apply
            """)

    @Argument(help: ArgumentHelp("The file, or - for the input of a Stop hook.", valueName: "file"))
    var file: String?
    @OptionGroup var options: ImportOptions

    func run() throws {
        let (place, text) = try source()
        var maker = ClaudeImport(place: place, start: try options.start())
        let jobs = try maker.jobs(text)
        if options.apply, options.bot == nil, !jobs.isEmpty {
            throw APIError(
                .badValue, "a prompt needs the bot that is asked",
                hint: "Name it with --bot; see: belfry bot list")
        }
        try options.finish(jobs) { _ in
            "Now delete the originals in Claude Code: a task in both places runs twice."
        }
    }

    private static let limit = 4 << 20

    private func source() throws(APIError) -> (place: String, text: String) {
        if file == "-" { return ("standard input", try StandardInput.text(limit: Self.limit)) }
        let name = "/.claude/scheduled_tasks.json"
        let places = file.map { [$0] } ?? [Machine.currentFolder + name, (UserTable.own?.home ?? "") + name]
        var last: HostError?
        for place in places {
            do throws(HostError) {
                let bytes = try SmallFile.readWaiting(place, limit: Self.limit)
                return (place, String(decoding: bytes, as: UTF8.self))
            } catch {
                last = error
            }
        }
        throw APIError(.badValue, "no scheduled tasks can be read: \(last.map { "\($0)" } ?? "")")
    }
}
