import Delivery
import Grouping
import Ledger
import LedgerSQLite
import Performing
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite struct `the output of a job as a message` {
    private func said(
        _ part: OutputMessage?, _ printed: String, hiding hidden: HiddenTexts? = HiddenTexts(),
        bytes: Int? = nil
    ) -> String? {
        let all = Array(printed.utf8)
        var run = RunRecord(
            id: "r", job: "report", bot: "ops", kind: .scheduled, cause: "slot:1", state: .running,
            queuedAt: at("10:00:00"), revision: 1)
        run.ordinal = 4
        var record = ExitRecord(
            key: RunKey(run: "r", attempt: 1), cause: .exited, exitCode: 0, startedAt: at("10:00:01"),
            endedAt: at("10:00:05"), outputBytes: bytes ?? all.count)
        record.outputTail = Array(all.suffix(ExitRecord.tailLimit))
        var spec = JobSpec.manual("report", "true")
        spec.outputMessage = part
        let outlook = Outlook(spec: spec, hidden: hidden, output: part == .all ? all : [])
        guard let post = OutputPost(run, record, outlook)?.record else { return nil }
        #expect(post.message.bot == "ops" && post.message.thread == "report" && post.run == "r")
        #expect(post.message.at == at("10:00:05") && post.message.run == "report#4")
        return post.message.text
    }

    @Test func `is its last line, its last lines, or all of it`() {
        let printed = "\n# Report\n\n  1 of 2\n\u{1B}[1mdone\u{1B}[0m \n\n"
        #expect(said(.lastLine, printed) == "done")
        #expect(said(.tail, printed) == "# Report\n1 of 2\ndone")
        #expect(said(.all, printed) == "# Report\n\n  1 of 2\ndone")
    }

    @Test(arguments: OutputMessage.allCases) func `is none where nothing was printed`(part: OutputMessage) {
        #expect(said(part, "") == nil)
        #expect(said(part, " \n\n") == nil)
    }

    @Test func `is none where nobody asks for it, or its secrets can't be read`() {
        #expect(said(nil, "done") == nil)
        for part in OutputMessage.allCases { #expect(said(part, "done", hiding: nil) == nil) }
    }

    @Test(arguments: OutputMessage.allCases) func `holds no secret`(part: OutputMessage) {
        #expect(said(part, "token hunter2", hiding: HiddenTexts(["hunter2"])) == "token ***")
    }

    @Test(arguments: OutputMessage.allCases, ["\u{1B}[1m", "\0", "\r", "\u{8}", "\u{202E}"])
    func `holds no secret with a control character inside it`(part: OutputMessage, inside: String) {
        let printed = "token hun\(inside)ter2 is bad"
        #expect(said(part, printed, hiding: HiddenTexts(["hunter2"])) == "token *** is bad")
    }

    @Test(arguments: ["", "\u{1B}[1m", "\0\0\0", "\r\u{8}"])
    func `holds no part of a secret that its limit cuts in two`(inside: String) {
        let secret = "hun\(inside)ter2"
        for kept in 1..<secret.utf8.count {
            let printed = String(decoding: Array("token \(secret)".utf8).prefix(6 + kept), as: UTF8.self)
            let text = said(.all, printed, hiding: HiddenTexts(["hunter2"]), bytes: 5000)
            #expect(text?.hasPrefix("token\n…") == true, "\(kept)")
        }
    }

    @Test func `is bounded, and says how much more there is`() throws {
        let long = String(repeating: "line\n", count: 10)
        let text = try #require(said(.all, long, bytes: 1050))
        #expect(text.hasSuffix("line\n… 1000 bytes more: belfry run logs report#4"))
    }

    @Test func `is posted with the run's end, once`() async throws {
        try await RunScene.run { scene in
            var spec = JobSpec.manual("report", "echo one; echo two")
            spec.bot = "ops"
            spec.outputMessage = .all
            let run = try await scene.end(of: scene.queue(spec))
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runCompleted, .messagePosted])
            let message = try #require(try await scene.ledger.message(id: run.id))
            #expect(message.message.text == "one\ntwo" && message.message.thread == "report")
            let failed = try await scene.end(of: scene.queue(spec.with { $0.shell = "echo one; exit 3" }))
            #expect(try await scene.eventTypes(of: failed) == [.runStarted, .runFailed])
            let long = try await scene.end(of: scene.queue(spec.with { $0.shell = "seq 100000" }))
            let text = try #require(try await scene.ledger.message(id: long.id)?.message.text)
            #expect(text.hasPrefix("1\n2\n") && text.utf8.count < OutputMessage.longest + 100)
            #expect(text.hasSuffix("bytes more: belfry run logs \(long.name)"))
        }
    }
}

@Suite struct `what a bot that is a program says` {
    private let outlook = Outlook(spec: JobSpec.manual("report", "true"), hidden: HiddenTexts(["hunter2"]))

    private func post(_ change: (inout ExitRecord) -> Void) -> Message? {
        let run = RunRecord(
            id: "r", job: "report", bot: "ops", kind: .scheduled, cause: "slot:1", state: .running,
            queuedAt: at("10:00:00"), revision: 1)
        var record = ExitRecord(
            key: RunKey(run: "r", attempt: 1), cause: .exited, exitCode: 0, startedAt: at("10:00:01"),
            endedAt: at("10:00:05"))
        change(&record)
        return OutputPost(run, record, outlook)?.record.message
    }

    @Test func `is its reply, with the title and the priority it asks for, and without a secret`() {
        let message = post {
            ($0.reply, $0.replyTitle, $0.replyPriority) = ("it is hunter2", "on hunter2", "critical")
        }
        #expect(message?.text == "it is ***" && message?.title == "on ***" && message?.urgency == .critical)
        let plain = post { ($0.reply, $0.replyPriority) = ("done", "louder") }
        #expect(plain?.title == nil && plain?.urgency == .normal)
    }

    @Test func `holds no secret where it explains a failure`() {
        let fault = AttemptFault(.exitCode, "ops: x ended with exit code 1: no account hunter2")
        #expect(fault.shown(outlook) == "ops: x ended with exit code 1: no account ***")
        var blind = outlook
        blind.hidden = nil
        #expect(!fault.shown(blind).contains("hunter2"))
    }
}
