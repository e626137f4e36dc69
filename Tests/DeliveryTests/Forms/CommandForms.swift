import Delivery
import Grouping
import Testing
import Timeline
import Tracking

/// What a program gets, and what its end means.
@Suite struct `a program as a channel` {
    private func form(_ words: [String] = ["/opt/notify", "-q"], timeout: Duration? = nil) throws
        -> CommandForm
    {
        var values = FormValues()
        values["command"] = .words(words)
        values["timeout"] = timeout.map { .duration($0) }
        return try CommandForm(values)
    }

    private func call(_ bulletin: Bulletin) throws -> ProgramCall {
        let form = try form()
        return form.call(
            Parcel(
                id: "0190-a", type: bulletin.matter.type, timestamp: bulletin.at,
                body: form.render(bulletin), attempt: 2))
    }

    @Test func `reads the notice and what it is about as JSON`() throws {
        let call = try call(Sample.failure())
        #expect(call.command == ["/opt/notify", "-q"] && call.timeout == .seconds(30))
        #expect(call.input.last == 0x0A)
        let body = try #require(JSON(parsing: call.input.dropLast()[...]))
        #expect(body["type"]?.text == "run.failed" && body["timestamp"]?.text == Sample.noon.iso8601)
        let notice = try #require(body["data"]?["notice"])
        #expect(notice["title"]?.text == "backup failed" && notice["urgency"]?.text == "critical")
        #expect(notice["body"]?.text?.hasPrefix("no tape in the drive\nexit code 3") == true)
        #expect(notice["ring"] == .bool(true) && notice["bot"]?.text == "ops")
        #expect(body["data"]?["run"]?["name"]?.text == "backup#7")
        #expect(body["data"]?["reason"]?.text == "exitCode")
    }

    @Test func `has its words in the environment`() throws {
        let variables = try call(Sample.failure()).environment
        let body = try #require(variables["NOTICE_BODY"])
        #expect(body.hasPrefix("no tape in the drive\nexit code 3"))
        #expect(
            variables.filter { $0.key != "NOTICE_BODY" } == [
                "NOTICE_ID": "0190-a", "NOTICE_TYPE": "run.failed", "NOTICE_AT": Sample.noon.iso8601,
                "NOTICE_REASON": "exitCode", "NOTICE_TITLE": "backup failed", "NOTICE_URGENCY": "critical",
                "NOTICE_BOT": "ops", "NOTICE_JOB": "backup", "NOTICE_RUN": "backup#7",
            ])
        let thread = try call(Sample.messages(["Hello"])).environment
        #expect(
            thread["NOTICE_JOB"] == nil && thread["NOTICE_RUN"] == nil && thread["NOTICE_BODY"] == "Hello")
    }

    @Test func `gets hostile texts as data, within what a kernel accepts`() throws {
        let hostile = "a\u{0}b\u{1B}[31mred\nSubject: x\n$(reboot)"
        let variables = try call(Sample.texts(title: hostile, body: hostile)).environment
        let (title, body) = (variables["NOTICE_TITLE"] ?? "", variables["NOTICE_BODY"] ?? "")
        #expect(!title.contains("\n") && !title.contains("\u{1B}") && !title.contains("\u{0}"))
        #expect(!body.contains("\u{1B}") && !body.contains("\u{0}") && body.hasSuffix("$(reboot)"))
        let family = String(repeating: "👨‍👩‍👧‍👦", count: 2000)
        let long = try call(Sample.texts(body: family)).environment["NOTICE_BODY"] ?? ""
        #expect(long.utf8.count <= 16_384 && long.hasSuffix("👨‍👩‍👧‍👦…"))
    }

    @Test(arguments: [
        (
            ProgramEnd.exited(75), "later",
            DeliveryError.retry(.askedAgain, detail: "notify exited with code 75: later")
        ),
        (.exited(1), "", .giveUp(.rejected, detail: "notify exited with code 1")),
        (
            .exited(127), "sh: apprise: not found",
            .giveUp(.rejected, detail: "notify exited with code 127: sh: apprise: not found")
        ),
        (.signaled(11), "", .retry(.disconnected, detail: "notify was ended by SIGSEGV")),
        (
            .timedOut, "waiting",
            .retry(.timeout, detail: "notify took longer than 30 s and was ended: waiting")
        ),
        (
            .missing("no program \"notify\""), "",
            .unreachable(
                .noProgram, detail: "no program \"notify\"; install it, or correct command: of this channel")
        ),
        (
            .notStarted("too many processes"), "",
            .unreachable(.noProgram, detail: "notify could not be started: too many processes")
        ),
        (.lost, "", .retry(.disconnected, detail: "how notify ended is not known: its warden ended first")),
        (.abandoned, "", .unreachable(.stopping, detail: "stopped before notify ended")),
    ])
    func `is judged by its end`(end: ProgramEnd, line: String, error: DeliveryError) throws {
        #expect(try form().judge(ProgramAnswer(end, printed: Array(line.utf8))) == error)
    }

    @Test func `has delivered with exit code 0 alone`() throws {
        #expect(try form().judge(ProgramAnswer(.exited(0), printed: Array("error: none".utf8))) == nil)
    }

    @Test func `needs a command, and a timeout of at most ten minutes`() throws {
        #expect(throws: FormError.missing("command")) { try CommandForm(FormValues()) }
        #expect(try form(timeout: .seconds(600)).timeout == .seconds(600))
        for timeout in [Duration.zero, .seconds(601)] {
            #expect(throws: FormError.badTimeout(timeout, longest: .seconds(600))) {
                try form(timeout: timeout)
            }
        }
    }
}
