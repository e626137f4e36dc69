import API
import ArgumentParser
import Cron
import Host

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

    @OptionGroup var options: ImportOptions
    @Argument(help: ArgumentHelp("The file, or - for standard input.", valueName: "file"))
    var file: String
    @Flag(help: "The lines have no user column, as in crontab -l.")
    var userForm = false
    @Flag(help: "The lines have a user column, as in /etc/crontab.")
    var systemForm = false

    func validate() throws {
        if userForm && systemForm {
            throw ValidationError("--user-form and --system-form exclude each other")
        }
    }

    func run() throws {
        let text = try text()
        let form = form(of: text)
        if !userForm && !systemForm && !options.common.json {
            StandardError.print(
                "belfry: read with\(form == .user ? "out" : "") a user column; "
                    + "--\(form == .user ? "system" : "user")-form reads it otherwise")
        }
        var maker = CrontabImport(file: file, start: try options.start(), rights: options.rights())
        let jobs = maker.jobs(Crontab(text, form: form))
        try options.finish(jobs) { added in
            let lines = added.compactMap(\.line).map(String.init).joined(separator: ", ")
            let how = file == "-" ? "with: crontab -e" : "of \(file)"
            return "Now disable line\(added.count == 1 ? "" : "s") \(lines) \(how) (put # in front): "
                + "a job in both places runs twice."
        }
    }

    private func text() throws(APIError) -> String {
        if file == "-" { return try StandardInput.text(limit: Crontab.limit) }
        do throws(HostError) {
            return String(decoding: try SmallFile.read(file, limit: Crontab.limit), as: UTF8.self)
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
