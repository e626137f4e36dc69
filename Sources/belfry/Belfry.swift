import API
import ArgumentParser
import Host

/// The command `belfry`.
@main
struct Belfry: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "belfry",
        abstract: "Runs scheduled jobs, shows their progress, and notifies you.",
        discussion: """
            Examples:
              belfry status
              belfry job add backup --cron "30 2 * * *" -- restic backup /home
              belfry run backup --follow
              belfry watch

            Exit codes: 0 ok, 1 failed, 2 usage or a refused config, 3 no daemon,
            4 not found, 5 refused by policy, 6 timed out. Listings take --json.

            BELFRY_SOCKET names the daemon's socket; BELFRY_TIMEOUT is how many
            seconds to wait for a daemon that does not answer (5).
            """,
        version: Version.text,
        groupedSubcommands: [
            CommandGroup(
                name: "DAEMON",
                subcommands: [
                    StatusCommand.self, DoctorCommand.self, EventsCommand.self, ReloadCommand.self,
                    ConfigCommand.self,
                ]),
            CommandGroup(
                name: "JOB AND RUN",
                subcommands: [
                    JobCommand.self, JobsCommand.self, RunCommand.self, RunsCommand.self, ExecCommand.self,
                    WatchCommand.self, WidgetCommand.self, ShellHookCommand.self,
                    OutputRelayCommand.self, TerminalGuardCommand.self, ShellReportCommand.self,
                    AttachWaitCommand.self,
                ]),
            CommandGroup(
                name: "MESSAGE",
                subcommands: [
                    NotifyCommand.self, MessagesCommand.self, ReadCommand.self, PinCommand.self,
                    AskCommand.self, SendCommand.self, ChatCommand.self, ReactCommand.self, BotCommand.self,
                    MCPCommand.self,
                    ConfirmCommand.self, QuestionsCommand.self, AnswerCommand.self, HookCommand.self,
                ]),
            CommandGroup(
                name: "DELIVERY",
                subcommands: [
                    OutboxCommand.self, ChannelCommand.self, TokenCommand.self, WhyCommand.self,
                    ExpectCommand.self, SilenceCommand.self, DigestCommand.self, ReplayCommand.self,
                    AgentCommand.self,
                ]),
            CommandGroup(name: "OFFLINE", subcommands: [CronCommand.self, ImportCommand.self]),
        ])

    static func main() {
        Entry.run(Array(Machine.arguments.dropFirst()))
    }
}
