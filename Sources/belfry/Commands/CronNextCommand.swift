import ArgumentParser

struct CronNextCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next", abstract: "Shows when an expression fires next.",
        discussion: #"""
              belfry cron next "30 2 * * *" --zone Europe/Berlin --from 2026-03-28 -n 3
              echo '{"id":1,"expr":"@daily","zone":"UTC"}' | belfry cron next --stdin
            """#)

    @OptionGroup var search: CronSearchFields

    func run() throws { try search.answer(.next) }
}
