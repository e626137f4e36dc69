import API
import ArgumentParser
import Host

struct ImportSystemdCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "systemd",
        abstract: "Shows the jobs of systemd's timers.",
        discussion: """
            Without a name it reads your own timers in ~/.config/systemd/user.

              belfry import systemd
              belfry import systemd /etc/systemd/system/backup.timer --apply
            """)

    @OptionGroup var options: ImportOptions
    @Argument(help: ArgumentHelp("Timers, or folders of them.", valueName: "unit.timer|folder"))
    var places: [String] = []

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
