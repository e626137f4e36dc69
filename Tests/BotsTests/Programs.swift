import Bots
import Delivery
import Glibc
import Host
import Performing
import Prompting
import Synchronization
import TestSupport
import Testing
import Timeline
import Tracking
import WardenProtocol

@Suite(.timeLimit(.minutes(5))) struct `a bot that is a program of this machine` {
    private static let claude = """
        echo '{"type":"system","subtype":"init","session_id":"s"}'
        echo 'a warning' >&2
        echo '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}'
        printf '{"type":"assistant","message":{"content":[{"type":"text","text":"You said %s."}]}}\\n' "$(cat)"
        echo '{"type":"result","subtype":"success","is_error":false,"usage":{"output_tokens":7},"result":"x"}'
        """

    @Test func `reads the prompt and replies with what it prints`() async throws {
        let scene = try await ProgramScene(.claude, Self.claude)
        let record = try await scene.reply(to: "hello")
        #expect(record.reply == "You said hello." && record.exitCode == 0 && record.fault == nil)
        #expect(try scene.log() == "You said hello.")
        #expect(
            record.outputBytes == 15
                && String(decoding: record.outputTail, as: UTF8.self) == "You said hello.")
        #expect(scene.phases.last == "writing")
        #expect(scene.words == "3 words")
    }

    @Test
    func `leaves what it printed until its reply is in the ledger, its errors until the run is removed`()
        async throws
    {
        let scene = try await ProgramScene(
            .claude, "head -c 20000000 /dev/zero | tr '\\0' x >&2; echo last >&2\n" + Self.claude)
        _ = try await scene.reply()
        let files = [".raw", ".err"].map { scene.output + $0 }
        #expect(files.map { PathContent(at: $0) } == [.file, .file])
        scene.performer.acknowledge(scene.key)
        #expect(files.map { PathContent(at: $0) } == [.nothing, .file])
        let errors = try SmallFile.read(files[1], limit: 1 << 30)
        #expect(errors.count == 64 << 10)
        #expect(String(decoding: errors, as: UTF8.self).hasSuffix("xlast\na warning\n"))
        #expect(PathContent(at: files[1] + ".d") == .nothing)
        ReplyFiles.remove(besides: scene.output)
        #expect(files.map { PathContent(at: $0) } == [.nothing, .nothing])
        #expect(PathContent(at: scene.output) == .file)
    }

    @Test func `may take the prompt as an argument`() async throws {
        var contact = BotInUse(nil)
        contact.program = BotProgram(.text, command: ["printf", "%s|%s", "--", BotProgram.promptWord])
        let scene = try await ProgramScene(contact)
        #expect(try await scene.reply(to: "a b; $HOME").reply == "--|a b; $HOME")
    }

    @Test func `is read again from its beginning by the next daemon, and says nothing twice`() async throws {
        let scene = try await ProgramScene(
            .text, "echo one; echo two; until [ -e go ]; do sleep 0.01; done; echo three")
        scene.start()
        try await scene.until {
            if case .progress(_, let report) = $0 { report.phase == "writing" } else { false }
        }
        try await scene.restart()
        #expect(scene.performer.holds(scene.key))
        try await scene.until {
            if case .progress(_, let report) = $0 { report.phase == "writing" } else { false }
        }
        try SmallFile.replace(scene.folder.file("go"), with: [])
        let record = try await scene.end()
        #expect(record.reply == "one\ntwo\nthree")
        #expect(try scene.log() == "one\ntwo\nthree")
    }

    @Test func `that ended while no daemon was there still has its reply, until that is in the ledger`()
        async throws
    {
        let scene = try await ProgramScene(
            .text, "until [ -e go ]; do sleep 0.01; done; echo done; touch over")
        scene.start()
        try await scene.until { if case .started = $0 { true } else { false } }
        try SmallFile.replace(scene.folder.file("go"), with: [])
        #expect(try await Shell.run("until [ -e over ]; do sleep 0.01; done", in: scene.folder.path) == 0)
        for _ in 0..<2 {
            try await scene.restart()
            #expect(try await scene.end().reply == "done")
        }
        scene.performer.acknowledge(scene.key)
        #expect(!scene.performer.holds(scene.key))
        try await scene.restart()
        #expect(!scene.performer.holds(scene.key))
        #expect(try Folder.names(in: scene.folder.file("state/replies")).isEmpty)
    }

    /// What becomes of the note of an attempt: another content, or a folder in its place.
    @Test(arguments: ["{}", nil]) func `fails where nobody knows any more how to read its reply`(
        content: String?
    ) async throws {
        let scene = try await ProgramScene(
            .text, "echo one; echo two; until [ -e go ]; do sleep 0.01; done; echo three")
        scene.start()
        try await scene.until {
            if case .progress(_, let report) = $0 { report.phase == "writing" } else { false }
        }
        let note = scene.folder.file("state/replies/\(scene.key)")
        try await scene.restart {
            unsafe unlink(note)
            if let content {
                try SmallFile.replace(note, with: Array(content.utf8))
            } else {
                try PrivateFolder.make(note)
            }
        }
        #expect(scene.performer.holds(scene.key) && scene.performer.unreadable[scene.key] != nil)
        try SmallFile.replace(scene.folder.file("go"), with: [])
        let record = try await scene.end()
        #expect(record.fault?.reason == .malformed && record.reply == nil)
        #expect(record.fault?.text.hasPrefix("the reply cannot be read: ") == true)
        #expect(record.fault?.text.contains(note) == true)
        scene.performer.acknowledge(scene.key)
        #expect(!scene.performer.holds(scene.key))
    }

    @Test func `gets the variables that concern it, and no others`() async throws {
        var contact = BotInUse(nil, secrets: FormSecrets([BotInUse.key: ["sk-1"]]))
        contact.program = BotProgram(
            .claude, command: ["/bin/sh", "-c", "env >&2; echo ${#ANTHROPIC_API_KEY} long >&2; exit 3"],
            inherited: ["ASKED_*"])
        let scene = try await ProgramScene(
            contact, variables: "OTHER_TOKEN=secret ANTHROPIC_BASE_URL=http://x ASKED_FOR=yes")
        scene.start(environment: ["BELFRY_RUN": "news#1"])
        let record = try await scene.end()
        let lines = Set(
            String(decoding: record.errorTail, as: UTF8.self).split(separator: "\n").map(String.init))
        #expect(
            lines.isSuperset(of: [
                "ANTHROPIC_BASE_URL=http://x", "ASKED_FOR=yes", "ANTHROPIC_API_KEY=***", "4 long",
                "BELFRY_RUN=news#1",
            ]))
        #expect(!lines.contains { $0.hasPrefix("OTHER_TOKEN") })
        #expect(record.fault?.text.contains("sk-1") == false)
    }

    private static let key = "sk-hunter-2222"

    /// Scripts that print the key, whole and in pieces, with and without a reply.
    @Test(arguments: [
        (ProgramDialect.text, "echo the key is sk-hunter-2222; echo sk-hunter-2222 >&2"),
        (.text, #"echo sk-hunter-2222; echo '{"notify":true,"text":"x","title":"sk-hunter-2222"}'"#),
        (.text, "echo sk-hunter-2222; echo no sk-hunter-2222 >&2; exit 5"),
        (.text, "printf 'sk-hunter\\033[1m-2222\\n'"),
        (.claude, "echo sk-hunter-2222"),
        (
            .codex,
            #"for piece in sk-hun ter-2222; do "#
                + #"echo '{"type":"item.completed","item":{"type":"agent_message","text":"'$piece'"}}'; done; "#
                + #"echo '{"type":"error","message":"sk-hunter-2222 is spent"}'"#
        ),
        (
            .gemini,
            #"for piece in sk-hun ter-2222; do "#
                + #"echo '{"type":"message","role":"assistant","delta":true,"content":"'$piece'"}'; done; "#
                + #"echo '{"type":"result","status":"success"}'"#
        ),
    ])
    func `shows its key nowhere, whatever it prints`(dialect: ProgramDialect, script: String) async throws {
        var contact = BotInUse(nil, secrets: FormSecrets([BotInUse.key: [Self.key]]))
        contact.program = BotProgram(dialect, command: ["/bin/sh", "-c", script])
        let scene = try await ProgramScene(contact)
        let record = try await scene.reply()
        let log = try scene.log()
        for text in [
            record.reply, record.partialReply, record.replyTitle, record.fault?.text, log,
            String(decoding: record.outputTail, as: UTF8.self),
            String(decoding: record.errorTail, as: UTF8.self),
        ] {
            let plain = (text ?? "").replacing("\u{1B}[1m", with: "")
            #expect(!plain.contains("hunter-2222"), "\(script): \(text ?? "")")
        }
        #expect(dialect == .codex || log.contains("***"), "\(script): \(log)")
    }

    /// A script, the reason, the sentence, and what its output ends with.
    private static let failures: [(ProgramDialect, String, RunReason, String, String)] = [
        (
            .claude, "echo Hello; echo world", .malformed,
            "sage: sh sent an answer that cannot be read: a line is not JSON: Hello; "
                + "check the command and the output of bots.sage.backend", "Hello\nworld\n"
        ),
        (
            .text, "echo working; echo one >&2; echo 'no such account' >&2; exit 4", .exitCode,
            "sage: sh ended with exit code 4: no such account", "working\none\nno such account\n"
        ),
        (.text, "echo 'out of luck'; exit 5", .exitCode, "sage: sh ended with exit code 5: out of luck", ""),
        (.text, "kill -9 $$", .signal, "sage: sh was ended by a signal", ""),
        (
            .claude,
            #"echo '{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key"}'; exit 1"#,
            .auth, "sage: sh refused the key; log in with sh, or set bots.sage.key", ""
        ),
        (
            .claude, #"echo '{"type":"system"}'; echo 'lost the network' >&2"#, .truncated,
            "sage: sh ended the reply in the middle: lost the network", "lost the network\n"
        ),
        (
            .claude,
            #"echo '{"type":"result","subtype":"success","is_error":false,"result":"ok"}'; echo bad >&2; exit 1"#,
            .exitCode, "sage: sh ended with exit code 1: bad", "ok\nbad\n"
        ),
    ]

    @Test(arguments: failures.indices) func `fails with what the program itself says`(index: Int) async throws
    {
        let (dialect, script, reason, sentence, end) = Self.failures[index]
        let scene = try await ProgramScene(dialect, script)
        let record = try await scene.reply()
        #expect(record.fault?.reason == reason && record.reply == nil)
        #expect(record.fault?.text == sentence)
        // A stream that was cut before it said anything may be asked for again.
        #expect(record.fault?.mayPass == (reason == .truncated))
        let log = try scene.log()
        #expect(log.hasSuffix(end), "\(log)")
        // Events for programs are no words for a person.
        let tail = String(decoding: record.outputTail, as: UTF8.self)
        #expect(!tail.contains(#""type""#), "\(tail)")
    }

    @Test func `is not run when it must not be asked, and runs again once it may be`() async throws {
        let isSpent = Mutex(true)
        var contact = BotInUse(nil)
        contact.program = BotProgram(.text, command: ["/bin/sh", "-c", "echo run >> runs; echo done"])
        let scene = try await ProgramScene(contact) { name throws(AttemptFault) in
            if isSpent.withLock(\.self) {
                throw AttemptFault(.budget, "\(name): its budget is used up", wasTried: false)
            }
        }
        let refused = try await scene.reply()
        #expect(refused.fault?.reason == .budget && refused.fault?.wasTried == false)
        #expect(PathContent(at: scene.folder.file("runs")) == .nothing)
        scene.performer.acknowledge(scene.key)
        isSpent.withLock { $0 = false }
        try await scene.restart()
        #expect(try await scene.reply().reply == "done")
    }

    @Test func `is not run in a sandbox whose paths lead elsewhere`() async throws {
        let target = try TemporaryFolder()
        var contact = BotInUse(nil)
        contact.program = BotProgram(.text, command: ["/bin/sh", "-c", "echo done"])
        try PrivateFolder.make(target.file("project"))
        try PrivateFolder.make(target.file(".ssh/hooks"))
        unsafe symlink(target.file(".ssh"), target.file("project/.git"))
        unsafe symlink("other", target.file("link"))
        for (path, link) in [("project/.git/hooks", "project/.git"), ("link", "link")] {
            contact.program?.sandbox = Sandbox(read: [target.file(path)])
            let scene = try await ProgramScene(contact)
            let record = try await scene.reply()
            #expect(record.fault?.reason == .botUnavailable && record.fault?.mayPass == false)
            #expect(
                record.fault?.text.hasPrefix("sage: \(target.file(link))") == true
                    && record.fault?.text.contains("is a symbolic link") == true,
                "\(record.fault?.text ?? "")")
        }
    }

    @Test func `that is canceled while it is looked up is never run`() async throws {
        let (gate, opens) = AsyncStream<Void>.makeStream()
        var contact = BotInUse(nil)
        contact.program = BotProgram(.text, command: ["/bin/sh", "-c", "touch ran"])
        let scene = try await ProgramScene(contact) { _ throws(AttemptFault) in
            for await _ in gate { return }
        }
        scene.start()
        scene.performer.cancel(scene.key, reason: "requested")
        // Not answered before it is known what becomes of it.
        scene.performer.ask(scene.key)
        opens.yield()
        let record = try await scene.end()
        #expect(record.cause == .canceled && record.cancelReason == "requested")
        #expect(PathContent(at: scene.folder.file("ran")) == .nothing)
    }

    @Test func `resumes its session, and reports what resumes the next one`() async throws {
        let scene = try await ProgramScene(
            .codex,
            #"echo '{"type":"thread.started","thread_id":"th-2"}'"# + "\n"
                + #"echo "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"$*\"}}""#
                + "\n"
                + #"echo '{"type":"turn.completed","usage":{"input_tokens":30,"output_tokens":9}}'"#
        ) { program, _ in program.price = TokenPrice(input: 1, output: 10) }
        scene.start(
            session: Continuation(
                provider: "codex", id: "th-1", used: BotUsage(inputTokens: 20, outputTokens: 4)))
        let record = try await scene.end()
        #expect(record.reply == "resume th-1 -")
        #expect(
            record.usage == BotUsage(inputTokens: 10, cachedTokens: 0, outputTokens: 5, costMicros: 60))
        let next = Continuation(
            provider: "codex", id: "th-2", used: BotUsage(inputTokens: 30, outputTokens: 9))
        #expect(record.session == .kept(next))
    }

    /// Puts a call off at first, and prints what it was called with and read.
    private static let deferring = """
        echo '{"type":"system","subtype":"init","session_id":"s-1"}'
        echo "{\\"type\\":\\"assistant\\",\\"message\\":{\\"content\\":[{\\"type\\":\\"text\\",\\"text\\":\\"$BELFRY_PARKS $* $(cat)\\"}]}}"
        [ $# -gt 0 ] || echo '{"type":"result","subtype":"success","stop_reason":"tool_deferred","deferred_tool_use":{"id":"t-1"}}'
        [ $# -eq 0 ] || echo '{"type":"result","subtype":"success","result":"x"}'
        """

    @Test func `waits for a person without a process, and goes on with its call alone`() async throws {
        let first = try await ProgramScene(.claude, Self.deferring) { program, _ in
            program.keepsSession = false
        }
        let parked = try await first.reply(to: "Hi")
        #expect(parked.parked == LiveState.Parked(session: "s-1", call: "t-1"))
        #expect(parked.reply == nil && parked.partialReply == nil && parked.fault == nil)
        #expect(try first.log() == "1  Hi")
        let next = try await ProgramScene(.claude, Self.deferring) { program, _ in
            program.keepsSession = false
        }
        next.start(session: Continuation(provider: "claude", id: "s-1"), goesOn: true)
        #expect(try await next.end().reply == "1 --resume s-1 ")
    }

    @Test func `of which a person reads the reply does not put calls off`() async throws {
        let scene = try await ProgramScene(.claude, Self.deferring)
        scene.start(isReadLive: true)
        let record = try await scene.end()
        #expect(record.parked == nil && record.fault?.reason == .malformed)
    }

    @Test func `reports no session where none is kept`() async throws {
        let scene = try await ProgramScene(.claude, Self.claude) { program, _ in program.keepsSession = false
        }
        scene.start(session: Continuation(provider: "claude", id: "s"))
        let record = try await scene.end()
        #expect(record.reply == "You said Hi." && record.session == nil)
    }

    @Test func `may be tried again without the session that it lost`() async throws {
        let scene = try await ProgramScene(
            .claude, "echo 'No conversation found with session ID: s-1' >&2; exit 1")
        scene.start(session: Continuation(provider: "claude", id: "s-1"))
        let record = try await scene.end()
        #expect(record.session == .lost && record.fault?.mayPass == true && record.reply == nil)
        // The same words without a session are a failure like others.
        let fresh = try await ProgramScene(
            .claude, "echo 'No conversation found with session ID: s-1' >&2; exit 1")
        let failed = try await fresh.reply()
        #expect(failed.session == nil && failed.fault?.mayPass == false)
    }

    @Test func `that exits with 75 may be tried again`() async throws {
        let scene = try await ProgramScene(.text, "echo 'not now' >&2; exit 75")
        #expect(try await scene.reply().fault?.mayPass == true)
    }

    @Test func `that fails shows none of its errors as the reply that a person reads`() async throws {
        let scene = try await ProgramScene(.text, "echo later >&2; exit 75")
        scene.start(isReadLive: true)
        let record = try await scene.end()
        #expect(record.fault?.text == "sage: sh ended with exit code 75: later")
        #expect(try scene.log() == "")
        #expect(String(decoding: record.outputTail, as: UTF8.self) == "later\n")
    }

    @Test func `that does not exist is refused with its name`() async throws {
        var contact = BotInUse(nil)
        contact.program = BotProgram(.claude, command: ["no-such-claude", "-p"])
        let scene = try await ProgramScene(contact)
        scene.start()
        try await scene.until { if case .refused = $0 { true } else { false } }
        let events = try await scene.until { _ in true }
        guard case .refused(_, let refusal, let text)? = events.last else { return }
        #expect(
            refusal == .notFound
                && text == "sage: no program \"no-such-claude\"; install it, or set bots.sage.command")
        #expect(!scene.performer.holds(scene.key))
    }

    @Test func `that is no program when its turn comes fails with that`() async throws {
        let scene = try await ProgramScene(BotInUse(nil))
        let record = try await scene.reply()
        #expect(record.fault?.reason == .botUnavailable && record.fault?.mayPass == true)
        scene.performer.acknowledge(scene.key)
    }

    @Test func `ends at its timeout, and when it is canceled, with what it wrote kept`() async throws {
        var written = ""
        // On a busy machine it may not have begun in time, and the next one has more.
        for timeout in [Duration.milliseconds(300), .seconds(3), .seconds(30)] where written.isEmpty {
            let slow = try await ProgramScene(.text, "echo begun; echo more; sleep 1000")
            slow.start(timeout: timeout)
            let late = try await slow.end()
            #expect(late.cause == .timeout && late.reply == nil)
            written = (try? slow.log()) ?? ""
        }
        #expect(written.hasPrefix("begun"))
        let scene = try await ProgramScene(.text, "echo begun; echo more; sleep 1000")
        scene.start()
        try await scene.until {
            if case .progress(_, let report) = $0 { report.phase == "writing" } else { false }
        }
        scene.performer.cancel(scene.key, reason: "requested")
        let record = try await scene.end()
        #expect(record.cause == .canceled && record.reply == nil && record.fault == nil)
    }
}
