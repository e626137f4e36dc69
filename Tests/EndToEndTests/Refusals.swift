import Glibc
import TestSupport
import Testing

/// Exit codes and sentences of commands that can't do what they were asked.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a refused command` {
    @Test(arguments: [
        ["status"], ["reload"], ["job", "list"], ["runs"], ["run", "x"],
        ["watch"], ["events"], ["notify", "x"], ["messages"], ["outbox"], ["channel", "list"],
        ["bot", "list"],
        ["config", "show"], ["job", "history", "x"], ["run", "logs", "x#1"],
    ])
    func `reports that no daemon answers`(words: [String]) async throws {
        let belfry = try Belfry()
        let answer = try await belfry.run("belfry", words)
        #expect(answer.code == 3)
        #expect(answer.bytes.isEmpty)
        #expect(
            answer.errors
                == "belfry: no daemon answers on \(belfry.socketPath). Start one with: belfryd\n")
    }

    @Test(arguments: ["0", "-1", "5s", "1.5", "soon", "86401", "99999999999999999999"])
    func `has a patience with the daemon that is no number of seconds`(value: String) async throws {
        let belfry = try Belfry()
        belfry.set("BELFRY_TIMEOUT", value)
        let answer = try await belfry.run("status")
        #expect(answer.code == 2)
        #expect(
            answer.errors == "belfry: BELFRY_TIMEOUT \"\(value)\" is no number of seconds from 1 to 86400. "
                + "Set it to a whole number such as 20, or unset it; the default is 5.\n")
    }

    @Test func `has waited for the daemon as long as it was told to`() async throws {
        let belfry = try await Belfry.start()
        belfry.set("BELFRY_TIMEOUT", "1")
        try belfry.process().signal(SIGSTOP)
        let answer = try await belfry.run("status")
        try belfry.process().signal(SIGCONT)
        #expect(answer.code == 3 && answer.errors.contains("did not answer within 1s."), "\(answer)")
    }

    @Test(arguments: [
        ["nonsense"], ["status", "--nonsense"], ["runs", "--limit", "0"], ["runs", "--limit", "ten"],
        ["run", "show", "x#"], ["run", "show", "x#0"], ["notify"], ["notify", "x", "--expire", "soon"],
        ["job", "add"], ["exec"], ["events", "--since", "-1"], ["exec", "--notify", "no", "--", "x"],
        ["cron", "next", "0 25 * * *"], ["status", "--socket", "x", "--system"], ["runs", "--state", "odd"],
    ])
    func `has a usage that is not understood`(words: [String]) async throws {
        let belfry = try Belfry()
        let answer = try await belfry.run("belfry", words)
        #expect(answer.code == 2)
        #expect(answer.bytes.isEmpty)
        #expect(answer.errors.hasPrefix("belfry: "))
    }

    @Test(
        arguments: [
            (["job", "show", "bakcup"], "job"), (["run", "bakcup"], "job"),
            (["job", "pause", "bakcup"], "job"),
            (["job", "rm", "bakcup"], "job"), (["job", "history", "bakcup"], "job"),
            (["runs", "bakcup"], "job"),
            (["job", "next", "bakcup"], "job"), (["bot", "show", "bakcup"], "bot"),
            (["run", "show", "backup#9"], nil), (["run", "logs", "bakcup#1"], nil),
            (["read", "01900000-0000-7000-8000-000000000000"], nil),
        ] as [([String], String?)])
    func `names what it did not find, and what was perhaps meant`(
        words: [String], kind: String?
    ) async throws {
        let belfry = try await Belfry.start(
            """
            bots: { backup: }
            jobs:
              backup: { bot: backup, schedule: manual, command: ["true"] }
            """)
        let answer = try await belfry.run("belfry", words)
        #expect(answer.code == 4)
        if let kind {
            #expect(answer.errors == "belfry: no \(kind) \"bakcup\". Did you mean \"backup\"?\n")
        }
        let error = try await JSON(belfry.run("belfry", words + ["--json"]).errors)["error"]
        #expect(error["kind"].text == "notFound")
        #expect(error["code"].text?.hasPrefix("E12") == true)
        #expect(error["message"] != nil)
    }

    @Test(arguments: [
        ["nodes"], ["drain", "a"], ["runs", "--node", "a"],
    ])
    func `belongs to a later version`(words: [String]) async throws {
        let belfry = try Belfry()
        let answer = try await belfry.run("belfry", words)
        #expect(answer.code == 2)
        #expect(answer.bytes.isEmpty)
        #expect(answer.errors.contains("not in this version"))
        // It is not shown to anybody before it exists.
        let help = try await belfry.run("belfry", [words[0], "--help"])
        if help.code == 0, let flag = words.first(where: { $0.hasPrefix("--") && $0 != "--" }) {
            #expect(!help.text.contains(flag.prefix { $0 != "=" } + " "))
        }
    }

    @Test(arguments: [
        (["job", "shwo", "x"], #"no command "job shwo". Did you mean "show"?"#),
        (["outbox", "lits"], #"no command "outbox lits". Did you mean "list"?"#),
        (["sttus"], #"no command "sttus". Did you mean "status"?"#),
        (["config", "zzz"], #"no command "config zzz". See: belfry config --help"#),
        (["cancel", "x"], #"no command "cancel". Did you mean "belfry run cancel"?"#),
        (["logs", "x"], #"no command "logs". Did you mean "belfry run logs"?"#),
        (["pause", "x"], #"no command "pause". Did you mean "belfry job pause" or "belfry run pause"?"#),
        (["stop", "x"], #"no command "stop". Did you mean "belfry run cancel"?"#),
        (["job", "logs", "x"], #"no command "job logs". Did you mean "belfry run logs"?"#),
        (["run", "lgos", "x"], #"no command "run lgos". Did you mean "logs"?"#),
        (["lgs"], #"no command "lgs". Did you mean "belfry run logs"?"#),
        (
            ["notify", "it's", "done"],
            #"the text is one argument; quote it: belfry notify 'it'\''s done'. See: belfry notify --help"#
        ),
    ])
    func `of a misspelt command shows which was meant`(words: [String], sentence: String) async throws {
        let answer = try await Belfry().run("belfry", words)
        #expect(answer.code == 2 && answer.errors == "belfry: \(sentence)\n")
    }

    @Test func `of belfryd ends with 2, too`() async throws {
        let belfry = try Belfry()
        for words in [
            ["--nonsense"], ["--drain", "--check"], ["--log-level", "loud"], ["listen", "--port", "70000"],
        ] {
            let answer = try await belfry.run("belfryd", words)
            #expect(answer.code == 2)
            #expect(!answer.errors.isEmpty)
        }
    }
}
