import Foundation
import TestSupport
import Testing

/// Calls of tools as a confused or an attacked bot makes them: each gets a sentence, and nothing outside is touched.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a hostile call of a tool` {
    /// A tool, its arguments, and what the answer must say.
    typealias Row = (tool: String, arguments: String, answer: String)

    private static let arguments: [Row] = [
        ("rm_rf", "{}", "there is no tool \"rm_rf\""),
        ("send_mesage", #"{"text":"x"}"#, "Did you mean \"send_message\"?"),
        ("", "{}", "there is no tool \"\""),
        ("send_message\\u0000", "{}", "there is no tool"),
        ("all_tasks", "{}", "there is no tool \"all_tasks\""),
        ("delegate", #"{"tasks":[{"bot":"sage","prompt":"x"}]}"#, "delegate is not allowed to this bot"),
        ("send_message", "[]", "the arguments are not an object"),
        ("send_message", "5", "the arguments are not an object"),
        ("send_message", "{}", "text: is missing"),
        ("send_message", #"{"text":null}"#, "text: is missing"),
        ("send_message", #"{"text":7}"#, "text: is not a text"),
        ("send_message", #"{"text":["a"]}"#, "text: is not a text"),
        ("send_message", #"{"text":" \n\t "}"#, "text: is empty"),
        ("send_message", #"{"text":"a\u0000b"}"#, "text: holds a zero byte"),
        ("send_message", #"{"text":"x","bot":"belfry"}"#, "there is no argument \"bot\""),
        ("send_message", #"{"text":"x","urgency":"panic"}"#, "urgency: is none of: low, normal, critical"),
        ("send_message", #"{"text":"x","__proto__":{}}"#, "there is no argument \"__proto__\""),
        ("report_progress", #"{"progress":0.5}"#, "only while a run of yours is under way"),
        ("report_progress", #"{"progress":2}"#, "progress: is not a number from 0.0 to 1.0"),
        ("report_progress", #"{"progress":"half"}"#, "progress: is not a number"),
        ("ask_person", #"{"question":"May I?"}"#, "only while a run of yours is under way"),
        ("ask_person", #"{"question":"May I?","choices":[]}"#, "choices: is not a list of 1 to 10"),
        ("ask_person", #"{"question":"May I?","choices":["yes",7]}"#, "choices: number 2: is not a text"),
        (
            "ask_person", #"{"question":"May I?","minutes":1000000}"#,
            "minutes: is not a whole number from 1 to 1440"
        ),
    ]

    private static let tasks: [Row] = [
        ("schedule_task", #"{"prompt":"x"}"#, "the task has no time. Give one of cron, words and at."),
        ("schedule_task", #"{"prompt":"x","cron":"* * * * *","at":"2031-01-01"}"#, "cron and at are given"),
        ("schedule_task", #"{"prompt":"x","cron":"0 0 31 2 *"}"#, "never"),
        ("schedule_task", #"{"prompt":"x","cron":"61 * * * *"}"#, "61"),
        ("schedule_task", #"{"prompt":"x","cron":"* * * *"}"#, "field"),
        ("schedule_task", #"{"prompt":"x","at":"1999-01-01T00:00"}"#, "is in the past"),
        ("schedule_task", #"{"prompt":"x","words":"when pigs fly"}"#, "pigs"),
        ("schedule_task", #"{"prompt":"x","cron":"0 9 * * *","zone":"Mars/Olympus"}"#, "Mars/Olympus"),
        ("schedule_task", #"{"prompt":"x","cron":"0 9 * * *","name":"../../etc"}"#, "../../etc"),
        ("schedule_task", #"{"prompt":"x","cron":"0 9 * * *","name":"ship"}"#, "ship"),
        (
            "schedule_task", #"{"prompt":"x","cron":"0 9 * * *","shell":"id"}"#,
            "there is no argument \"shell\""
        ),
        ("schedule_task", #"{"prompt":"x","cron":"0 9 * * *","bot":"root"}"#, "there is no argument \"bot\""),
        ("cancel_task", #"{"name":"ship"}"#, "you have no task \"ship\". See list_tasks."),
        ("pause_task", #"{"name":"other"}"#, "you have no task \"other\""),
        ("resume_task", #"{"name":"nothing"}"#, "you have no task \"nothing\""),
        ("update_task", #"{"name":"other","prompt":"obey"}"#, "you have no task \"other\""),
        ("update_task", #"{"name":"news"}"#, "there is nothing to change"),
        ("update_task", #"{"name":"news","prompt":"x"}"#, "belfry.yaml"),
        ("cancel_task", #"{"name":"news"}"#, "belfry.yaml"),
        ("run_job", #"{"name":"secret"}"#, "there is no job \"secret\" that you may run. You may run: ship."),
        ("run_job", #"{"name":"ship; id"}"#, "there is no job \"ship; id\""),
        ("run_job", #"{"name":"ship","wait":-1}"#, "wait: is not a whole number from 0 to 600"),
    ]

    private static func outside(_ home: String) -> [Row] {
        [
            ("read_file", #"{"path":"/etc/passwd"}"#, "is outside of the folders that you may read"),
            ("read_file", #"{"path":"\#(home)/docs/../secret.txt"}"#, "a path has no \"..\""),
            ("read_file", #"{"path":"../secret.txt"}"#, "a path has no \"..\""),
            ("read_file", #"{"path":"\#(home)/docs-other/a"}"#, "is outside of the folders"),
            ("read_file", #"{"path":"\#(home)/docs/link.txt"}"#, "is a symbolic link, which is not followed"),
            ("read_file", #"{"path":"way/secret.txt"}"#, "is a symbolic link, which is not followed"),
            ("read_file", #"{"path":"nothing.txt"}"#, "can't be read: No such file or directory"),
            ("read_file", #"{"path":"."}"#, "is a folder"),
            ("read_file", #"{"path":"pipe"}"#, "is not a regular file"),
            ("read_file", #"{"path":"blob"}"#, "is no text"),
            ("read_file", #"{"path":"plain.txt","from":9000}"#, "has only 6 bytes"),
            ("list_files", #"{"path":"/"}"#, "is outside of the folders"),
            ("list_files", #"{"path":"way"}"#, "is a symbolic link"),
            ("list_files", #"{"path":"plain.txt"}"#, "can't be read: Not a directory"),
            ("memory", #"{"action":"erase"}"#, "action: is none of: read, append, replace"),
            ("memory", #"{"action":"append"}"#, "append needs a text"),
            ("memory", #"{"action":"replace","section":"A\nB","text":"x"}"#, "replace needs a section"),
            (
                "memory", #"{"action":"append","text":"\#(String(repeating: "a", count: 65_536))"}"#,
                "your memory would have"
            ),
            ("fetch_url", #"{"url":"file:///etc/passwd"}"#, "the address is refused"),
            ("fetch_url", #"{"url":"https://127.0.0.1/"}"#, "the address is refused"),
            ("fetch_url", #"{"url":"http://169.254.169.254/latest/meta-data"}"#, "the address is refused"),
            ("fetch_url", #"{"url":"https://user:pass@example.org/"}"#, "the address is refused"),
            ("fetch_url", #"{"url":"https://[::1]/"}"#, "the address is refused"),
            ("fetch_url", #"{"url":"https://0x7f000001/"}"#, "refused"),
            ("web_search", #"{"query":"x"}"#, "no search is set up"),
        ]
    }

    private static func config(_ home: String, _ server: ProviderServer) -> String {
        """
        bots:
          sage:
            backend: { kind: openai, url: "\(server.url("/v1"))", allow: [127.0.0.1/32] }
            model: small
            memory: \(home)/memory.md
            sandbox: { read: [\(home)/docs] }
            tools: [send_message, schedule_task, list_tasks, pause_task, resume_task, cancel_task, update_task,
              report_progress, ask_person, fetch_url, web_search, memory, read_file, list_files, "run_job:ship"]
          else: { backend: { kind: openai, url: "\(server.url("/v1"))", allow: [127.0.0.1/32] }, model: small }
        jobs:
          news: { schedule: manual, bot: sage, prompt: "What is new?" }
          other: { schedule: manual, bot: else, prompt: "x" }
          ship: { schedule: manual, shell: "echo shipped" }
          secret: { schedule: manual, shell: "touch \(home)/ran" }
        """
    }

    @Test func `is answered with a sentence, and touches nothing outside`() async throws {
        let server = try await ProviderServer(.init("{}"))
        let folder = try TemporaryFolder()
        let home = folder.path
        let made = try await Shell.run(
            "cd \(home) && mkdir docs docs-other && echo plain > docs/plain.txt && echo s3cret > secret.txt && "
                + "cp secret.txt docs-other/a && ln -s ../secret.txt docs/link.txt && ln -s .. docs/way && "
                + "mkfifo docs/pipe && printf 'a\\0b' > docs/blob")
        #expect(made == 0)
        let belfry = try Belfry(Self.config(home, server), in: folder)
        try await belfry.start()
        let rows = Self.arguments + Self.tasks + Self.outside(home)
        #expect(rows.count >= 60)
        let calls = rows.map { "[\"\($0.tool)\",\($0.arguments)]" }.joined(separator: ",")
        let answer = try await belfry.tools("sage", "[\(calls)]")
        #expect(answer.count == rows.count)
        for (row, answer) in zip(rows, answer) {
            let text = answer["text"].text ?? ""
            #expect(answer["isError"] == .bool(true), "\(row.tool) \(row.arguments.prefix(200)): \(text)")
            #expect(text.contains(row.answer), "\(row.tool) \(row.arguments.prefix(200)): \(text)")
            #expect(!text.contains("s3cret"))
        }
        #expect(try await belfry.json("job", "list").list.count == 4)
        #expect(belfry.lines(of: "ran").isEmpty && belfry.lines(of: "memory.md").isEmpty)
        #expect(try await belfry.json("runs").list.isEmpty)
    }
}

extension Belfry {
    /// The answers to calls of tools as a bot, which are a JSON list of `[TOOL, ARGUMENTS]`.
    func tools(_ bot: String, _ calls: String) async throws -> [JSON] {
        try write(calls, to: "calls.json")
        let (python, script) = (try PythonTools.interpreter(), PythonTools.script("tool-calls.py"))
        let answer = try await shell(
            "\(python) \(script) $(command -v belfry) --socket \(socketPath) mcp --bot \(bot) < \(folder.file("calls.json"))"
        )
        guard answer.code == 0 else { throw CallsFailed(answer: answer) }
        return try JSON(answer.text).list
    }

    private struct CallsFailed: Error { let answer: Answer }
}
