import Glibc
import TestSupport
import Testing

/// Questions of scripts and jobs, asked and answered through the built programs.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a question to a person` {
    /// A `belfry confirm` at work.
    private struct Confirm {
        let process: ChildProcess
        let belfry: Belfry
        let output: String

        /// Its exit code and what it printed.
        func answer() async -> (code: Int32?, lines: [String]) {
            let code = await process.status()
            return (code, belfry.lines(of: output))
        }
    }

    private func confirm(_ words: String..., in belfry: Belfry) throws -> Confirm {
        let name = "confirm-\(words.joined().hashValue)"
        let process = try ChildProcess(
            BuiltProgram.path("belfry"), ["confirm"] + words, environment: belfry.environment,
            streams: .files(
                output: belfry.folder.file(name), errors: belfry.folder.file(name + ".errors")))
        try process.closeInput()
        return Confirm(process: process, belfry: belfry, output: name)
    }

    /// The id of the next question that is asked.
    private func asked(_ feed: Feed) async throws -> String {
        try await feed.event("question.asked")["subject"].text ?? ""
    }

    @Test func `is answered by a button, and leaves the screen`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let hook = try await Belfry.receiver()
        let belfry = try await Belfry.start(bus: bus, hook: hook)
        let deploy = try confirm("Deploy?", "--bot", "ops", in: belfry)
        let shown = try #require(try await server.next())
        #expect(shown.summary == "ops asks" && shown.body == "Deploy?")
        #expect(shown.actions == ["answer-1", "yes", "answer-2", "no"])
        // Before the answer: what was not sent by then is not asked there any more.
        let asked = try await hook.webhook { $0.type == "question.asked" }
        #expect(asked.data["question"]["state"].text == "open")
        try server.press("answer-1", of: shown.id)
        let answer = await deploy.answer()
        #expect(answer.code == 0 && answer.lines == ["yes"])
        #expect(try await server.next("CloseNotification")?.id == shown.id)
        let answered = try await hook.webhook { $0.type == "question.answered" }
        #expect(answered.data["question"]["state"].text == "answered")
        let all = try await belfry.json("questions", "--all").list
        #expect(all.first?["answeredBy"].text == "desk" && all.first?["answer"].text == "yes")
        #expect(try await belfry.run("questions").text == "No open questions.\n")
    }

    @Test func `is answered at a terminal by its short id, once`() async throws {
        let belfry = try await Belfry.start()
        let events = try belfry.events()
        let size = try confirm("Which?", "--choices", "small, medium,large", in: belfry)
        let id = try await asked(events)
        let listed = try await belfry.run("questions")
        #expect(listed.text.contains("Which?") && listed.text.contains("small, medium, large"))
        let short = String(id.suffix(8))
        let refused = try await belfry.run("answer", short, "huge")
        #expect(refused.code == 2 && refused.errors.contains("\"huge\" is not one of the choices"))
        #expect(try await belfry.run("answer", short, "Medium").text == "Answered: medium\n")
        let answer = await size.answer()
        #expect(answer.code == 1 && answer.lines == ["medium"])
        let late = try await belfry.run("answer", short, "large")
        #expect(late.code == 5 && late.errors.contains("the question was answered \"medium\" by cli at"))
        #expect(try await belfry.run("questions", "show", id).text.contains("medium (cli)"))
    }

    @Test func `outlives a daemon that is killed, and is asked once`() async throws {
        let belfry = try await Belfry.start()
        let events = try belfry.events()
        let name = try confirm("What name?", "--reply", in: belfry)
        let id = try await asked(events)
        try await belfry.kill()
        try await belfry.start()
        #expect(try await belfry.json("questions").list.first?["id"].text == id)
        #expect(try await belfry.stop() == 0)
        try await belfry.start()
        #expect(try await belfry.run("answer", id, "the tower").code == 0)
        let answer = await name.answer()
        #expect(answer.code == 0 && answer.lines == ["the tower"])
        #expect(try await belfry.json("questions", "--all").list.count == 1)
    }

    @Test func `is withdrawn when who asked it dies`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try await Belfry.start(bus: bus)
        let events = try belfry.events()
        let deploy = try confirm("Deploy?", in: belfry)
        let id = try await asked(events)
        let shown = try #require(try await server.next())
        deploy.process.signal(SIGKILL)
        #expect(try await events.event("question.withdrawn")["subject"].text == id)
        #expect(try await server.next("CloseNotification")?.id == shown.id)
        let late = try await belfry.run("answer", id, "yes")
        #expect(late.code == 5 && late.errors.contains("the question was withdrawn at"))
    }

    @Test func `has the buttons of a notification, whose keys are printed`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try await Belfry.start(bus: bus)
        let process = try ChildProcess(
            BuiltProgram.path("belfry"),
            ["notify", "Disk is full", "--action", "clean=Clean up", "--action", "no=Ignore", "--wait"],
            environment: belfry.environment,
            streams: .files(output: belfry.folder.file("key"), errors: belfry.folder.file("key.errors")))
        try process.closeInput()
        let shown = try #require(try await server.next())
        #expect(shown.actions == ["answer-1", "Clean up", "answer-2", "Ignore"])
        try server.press("answer-2", of: shown.id)
        #expect(await process.status() == 0 && belfry.lines(of: "key") == ["no"])
        let late = try await belfry.run("notify", "x", "--action", "a=A", "--wait", "--expire", "200ms")
        #expect(late.code == 6 && late.text.isEmpty && late.errors.isEmpty)
        let alone = try await belfry.run("notify", "x", "--action", "a=A")
        #expect(alone.code == 2 && alone.errors.contains("--action needs --wait"))
    }

    @Test func `is asked on other channels after its grace, and not when it was answered before`()
        async throws
    {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let hook = try await Belfry.receiver()
        let belfry = try await Belfry.start(bus: bus, hook: hook)
        let first = try confirm("First?", "--grace", "1h", in: belfry)
        let shown = try #require(try await server.next())
        try server.press("answer-1", of: shown.id)
        #expect(await first.answer().code == 0)
        let second = try confirm("Second?", "--grace", "1ms", in: belfry)
        let sent = try await hook.webhook()
        #expect(sent.type == "question.asked" && sent.data?["question"]?["text"]?.text == "Second?")
        try await belfry.run("answer", sent.data?["question"]?["id"]?.text ?? "", "no")
        #expect(await second.answer().code == 1)
        let entries = try await belfry.json("outbox", "--limit", "9").list.filter {
            $0["channel"].text == "hook"
        }
        #expect(entries.filter { $0["state"].text == "superseded" }.count == 1)
    }

    @Test func `that nobody answers ends at its deadline, by its default alone`() async throws {
        let belfry = try await Belfry.start()
        let silent = try await belfry.run("confirm", "Deploy?", "--after", "200ms")
        #expect(silent.code == 6 && silent.text.isEmpty)
        #expect(silent.errors.contains("nobody answered in time"))
        let other = try await belfry.run("confirm", "Deploy?", "--after", "200ms", "--default", "no")
        #expect(other.code == 1 && other.text == "no\n")
        let first = try await belfry.run(
            "confirm", "Deploy?", "--after", "200ms", "--default", "yes", "--json")
        #expect(first.code == 0)
        let object = try first.json()
        #expect(object["answeredBy"].text == "default" && object["state"].text == "answered")
    }

    @Test func `of a run shows that it waits, until the answer`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              release: { schedule: manual, shell: "\(try BuiltProgram.path("belfry")) confirm 'Release it?'" }
            """)
        let events = try belfry.events()
        try await belfry.run("run", "release")
        let question = try await events.event("question.asked")
        #expect(question["data"]?["run"]?.text == "release#1")
        let live = try belfry.feed("watch", "release#1")
        _ = try await live.next { $0["state"].text == "blocked" && $0["blockedKind"].text == "question" }
        try await belfry.until { try await belfry.json("run", "show", "release")["state"].text == "blocked" }
        // A daemon that takes over the run leaves it as it is.
        try await belfry.restart()
        #expect(try await belfry.json("run", "show", "release")["state"].text == "blocked")
        try await belfry.run("answer", question["subject"].text ?? "", "yes")
        let end = try await belfry.events().event("run.completed")
        #expect(end["job"].text == "release")
        #expect(try await belfry.run("run", "logs", "release").text == "yes\n")
    }

    @Test(arguments: [
        (["confirm", "  "], 2, "there is nothing to ask"),
        (["confirm", "Go?", "--choices", "yes,YES"], 2, "the choice \"YES\" is listed twice"),
        (["confirm", "Go?", "--choices", "yes,,no"], 2, "a choice has 1 to 60 characters"),
        (["confirm", "Go?", "--default", "no"], 2, "--default needs --after"),
        (
            ["confirm", "Go?", "--default", "maybe", "--after", "1m"], 2,
            "the default \"maybe\" is not one of"
        ),
        (["confirm", "Go?", "--after", "0s"], 2, "after is a duration above zero"),
        (["confirm", "Go?", "now"], 2, "the question is one argument"),
        (["answer", "ffffffff", "yes"], 4, "no question \"ffffffff\""),
        (["answer", "ffffffff"], 2, "give an answer, or --withdraw"),
    ])
    func `is refused where it makes no sense`(words: [String], code: Int, text: String) async throws {
        let belfry = try await Belfry.start()
        let answer = try await belfry.run("belfry", words)
        #expect(answer.code == Int32(code) && answer.errors.contains(text), "\(answer)")
        #expect(try await belfry.json("questions", "--all").list.isEmpty)
    }
}
