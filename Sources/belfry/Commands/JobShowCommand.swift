import API
import APIClient
import ArgumentParser
import TerminalView
import Timeline

struct JobShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a job.",
        discussion: """
              belfry job show backup
              belfry job show backup --json | jq .policies
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument

    func run() throws {
        let job = try common.client().ask(Endpoints.job(job.name))
        if common.json {
            StandardOutput.print(try WireCoding.text(job))
            return
        }
        let screen = common.screen
        func add(_ name: String, _ text: String?) {
            guard let text else { return }
            screen.print(screen.paint(name.padded(to: 10), .dim) + PlainText.oneLine(text))
        }
        add("job", job.name)
        add("bot", job.bot)
        add("does", JobText.action(job))
        add("in", job.cwd)
        add("env", job.env?.joined(separator: " "))
        add("schedule", JobText.schedule(job.schedule))
        add("phrase", job.schedule.phrase)
        add("", job.schedule.words)
        add("note", job.schedule.note)
        if case .since(let since, let note) = job.paused {
            add("paused", "since \(screen.time(since))" + (note.map { ": \($0)" } ?? ""))
        }
        add("next", job.nextAt.map { "\(screen.time($0, of: job)), \(screen.distance($0))" })
        add(
            "last",
            job.lastRun.map {
                "\($0.name ?? job.name) \(RunText.state($0)), \(screen.time($0.endedAt ?? $0.startedAt, of: job))"
            })
        add("policies", Self.policies(job.policies))
        add("origin", job.at ?? (job.origin == "import" ? "belfry import" : "belfry job add"))
        add("revision", "\(job.revision)")
    }

    private static func leftovers(_ policy: WireLeftovers) -> String? {
        guard let wait = policy.waitMs, let then = policy.then else { return nil }
        let text = Duration.milliseconds(wait).text
        return then == "fail"
            ? "fails after \(text) if processes are left" : "ends left processes after \(text)"
    }

    private static func policies(_ policies: WirePolicies) -> String {
        func text(_ milliseconds: Int64) -> String { Duration.milliseconds(milliseconds).text }
        let again = policies.attempts > 1 ? policies.backoffMs.map { ", backoff \(text($0))" } ?? "" : ""
        let limits = policies.limits?.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return [
            "overlap \(policies.overlap)",
            policies.catchUp.mode == "none"
                ? "no catch-up"
                : "catch up \(policies.catchUp.mode) within \(text(policies.catchUp.withinMs))"
                    + (policies.catchUp.burst.map { ", at most \($0)" } ?? ""),
            policies.spreadMs.map {
                "spread \(text($0)) (this job: \(text(policies.spreadOffsetMs ?? 0)))"
            },
            policies.timeoutMs.map { "timeout \(text($0))" } ?? "no timeout",
            "grace \(text(policies.graceMs))",
            "\(Plural.of(policies.attempts, "attempt"))\(again)",
            policies.onLost == true ? "also when lost" : nil,
            policies.attempts > 1 ? policies.leftovers.flatMap(Self.leftovers) : nil,
            policies.priority.flatMap { $0 == 0 ? nil : "priority \($0)" },
            policies.concurrency.map { "at most \($0.max) of key \($0.key)" },
            policies.user.map { "as \($0)" }, policies.umask.map { "umask \($0)" },
            policies.nice.map { "nice \($0)" }, policies.stdin.map { "reads a \($0)" },
            limits.map { "at most " + $0.joined(separator: ", ") },
        ].compactMap { $0 }.joined(separator: ", ")
    }
}
