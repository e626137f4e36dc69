import TestSupport
import Testing

/// Bots that are made on the command line.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a bot of the command line` {
    private static let reply =
        #"data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}"#
        + "\n\ndata: [DONE]\n\n"

    private func add(_ belfry: Belfry, _ server: ProviderServer, _ more: String = "") async throws -> Answer {
        try await belfry.shell(
            "printf 'sk-secret\n' | belfry --socket \(belfry.socketPath) bot add sage --backend openai "
                + "--url \(server.url("/v1")) --allow 127.0.0.1/32 --model small --key - \(more)")
    }

    @Test func `is asked with its key, which stays in a file for nobody else, also after a restart`()
        async throws
    {
        let server = try await ProviderServer(.init(Self.reply))
        let belfry = try await Belfry.start()
        let added = try await add(belfry, server, "--price-input 3 --price-output 15 --budget-usd 5")
        #expect(added.code == 0 && added.text == "Added sage. Try it: belfry bot test sage\n", "\(added)")
        let path = belfry.statePath + "/secrets/bot-sage.key"
        #expect(try await belfry.shell("stat -c %a \(path); cat \(path)").lines == ["600", "sk-secret"])
        #expect(try await belfry.shell("grep -c sk-secret \(belfry.statePath)/ledger.sqlite*").code == 1)
        #expect(try await belfry.run("job", "add", "news", "--bot", "sage", "--prompt", "Hi").code == 0)
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        #expect(try await server.request().headers["authorization"] == "Bearer sk-secret")
        try await belfry.restart()
        let bot = try await belfry.json("bot", "show", "sage")
        #expect(
            bot["origin"].text == "cli" && bot["model"].text == "small" && bot["budget"]["usd"].number == 5)
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        #expect(try await belfry.run("reload").code == 0)
        #expect(try await belfry.json("bot", "show", "sage")["status"].text == "online")
    }

    @Test func `is refused with each of its faults`() async throws {
        let server = try await ProviderServer(.init(Self.reply))
        let belfry = try await Belfry.start()
        let refused = try await add(belfry, server, "--price-input nan --price-output 15 --budget-usd inf")
        #expect(refused.code == 2)
        for fault in ["\"nan\" is not an amount in USD", "\"inf\" is not an amount in USD"] {
            #expect(refused.errors.contains(fault), "\(refused)")
        }
        #expect(!refused.errors.contains("schedule"), "\(refused)")
    }

    @Test func `is changed part by part, and removed when no job belongs to it`() async throws {
        let server = try await ProviderServer(.init(Self.reply))
        let belfry = try await Belfry.start()
        _ = try await add(belfry, server, "--price-input 3 --price-output 15 --budget-usd 5")
        #expect(
            try await belfry.run("bot", "edit", "sage", "--model", "large", "--budget-usd", "6").code == 0)
        let bot = try await belfry.json("bot", "show", "sage")
        #expect(bot["model"].text == "large" && bot["budget"]["usd"].number == 6)
        #expect(bot["url"].text == server.url())
        #expect(try await belfry.run("bot", "edit", "sage", "--budget-usd", "none").code == 0)
        #expect(try await belfry.json("bot", "show", "sage")["budget"] == nil)
        let refused = try await belfry.run("bot", "edit", "sage", "--budget-usd", "many")
        #expect(refused.code == 2 && refused.errors.contains("\"many\" is not an amount in USD"))
        #expect(try await belfry.run("bot", "edit", "sage").code == 2)
        #expect(try await belfry.run("job", "add", "news", "--bot", "sage", "--prompt", "Hi").code == 0)
        let kept = try await belfry.run("bot", "rm", "sage")
        #expect(kept.code == 5 && kept.errors.contains("jobs belong to bot \"sage\": news"))
        #expect(try await belfry.run("bot", "rm", "sage", "--force").code == 0)
        #expect(try await belfry.shell("ls \(belfry.statePath)/secrets").lines.isEmpty)
        #expect(try await belfry.run("bot", "edit", "sage", "--model", "x").code == 4)
        #expect(try await belfry.run("run", "news", "--follow").code == 1)
        #expect(try await belfry.json("run", "show", "news")["reason"].text == "botUnavailable")
    }

    @Test func `runs its program in a sandbox that its flags describe`() async throws {
        let belfry = try await Belfry.start()
        let folder = belfry.folder.path
        let added = try await belfry.run(
            "bot", "add", "cc", "--backend", "command", "--read", folder, "--network", "no", "--inherit",
            "AWS_*", "--command", "sh", "-c", "cat")
        #expect(added.code == 0, "\(added)")
        let text = try await belfry.run("bot", "show", "cc").text
        #expect(text.contains("sandbox   reads \(folder); no network\n"), "\(text)")
        #expect(text.contains("command   sh -c cat\n"), "\(text)")
        #expect(try await belfry.run("bot", "edit", "cc", "--read", "none").code == 0)
        #expect(try await belfry.run("bot", "show", "cc").text.contains("sandbox   no network\n"))
        #expect(try await belfry.run("bot", "edit", "cc", "--sandbox", "none").code == 0)
        #expect(try await belfry.json("bot", "show", "cc")["sandbox"] == nil)
    }

    @Test func `keeps its key when the ledger refuses the change`() async throws {
        let server = try await ProviderServer(.init(Self.reply))
        let belfry = try await Belfry.start()
        #expect(try await add(belfry, server).code == 0)
        let holder = try await LedgerHolder(.writer, of: belfry)
        let edit = "printf 'sk-other\n' | belfry --socket \(belfry.socketPath) bot edit sage --key -"
        let refused = try await belfry.shell(edit)
        #expect(refused.code == 1 && refused.errors.contains("held by another process"), "\(refused)")
        let secrets = belfry.statePath + "/secrets"
        #expect(
            try await belfry.shell("ls \(secrets); cat \(secrets)/*").lines == ["bot-sage.key", "sk-secret"])
        try await holder.release()
        #expect(try await belfry.shell(edit).code == 0)
        #expect(
            try await belfry.shell("ls \(secrets); cat \(secrets)/*").lines == ["bot-sage.key", "sk-other"])
    }

    @Test func `is removed though the file of its key can't be, and that is reported`() async throws {
        let server = try await ProviderServer(.init(Self.reply))
        let belfry = try await Belfry.start()
        #expect(try await add(belfry, server).code == 0)
        let path = belfry.statePath + "/secrets/bot-sage.key"
        #expect(try await belfry.shell("rm \(path) && mkdir \(path)").code == 0)
        let removed = try await belfry.run("bot", "rm", "sage")
        #expect(removed.code == 1, "\(removed)")
        let sentence = "removed, but its key file \(path) could not be deleted: "
        #expect(removed.errors.contains(sentence), "\(removed)")
        #expect(try await belfry.run("bot", "show", "sage").code == 4)
    }

    @Test func `may have jobs of the files, also after a restart`() async throws {
        let server = try await ProviderServer(.init(Self.reply))
        let belfry = try await Belfry.start()
        func job(of bot: String) -> String {
            "jobs:\n  news: { schedule: manual, bot: \(bot), prompt: Hi }"
        }
        try belfry.configure(job(of: "sage"))
        let early = try await belfry.run("reload")
        #expect(early.code == 2 && early.errors.contains("there is no bot \"sage\""))
        #expect(try await add(belfry, server).code == 0)
        #expect(try await belfry.run("config", "check", "--config", belfry.configPath).code == 0)
        #expect(try await belfry.run("reload").code == 0)
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        try await belfry.restart()
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        let kept = try await belfry.run("bot", "rm", "sage")
        #expect(kept.code == 5 && kept.errors.contains("jobs belong to bot \"sage\": news"))
        try await belfry.stop()
        try belfry.configure(job(of: "nobody"))
        await #expect(throws: Belfry.NotUp.self) { try await belfry.start() }
    }

    @Test func `is refused where its name is in use, and where its settings are wrong`() async throws {
        let server = try await ProviderServer(.init(Self.reply))
        let belfry = try await Belfry.start("bots:\n  ops: {}")
        let taken = try await belfry.run("bot", "add", "ops", "--backend", "command", "--command", "true")
        #expect(
            taken.code == 5
                && taken.errors.contains("there is a bot \"ops\" already, at \(belfry.configPath):"))
        #expect(try await belfry.run("bot", "rm", "ops").code == 5)
        for (key, fault) in [
            ("", "the key is empty"), ("two\nlines\n", "the key has several lines or words"),
        ] {
            let refused = try await belfry.shell(
                "printf '\(key)' | belfry --socket \(belfry.socketPath) bot add b6 --backend anthropic --model m --key -"
            )
            #expect(refused.code == 2 && refused.errors.contains(fault), "\(refused)")
        }
        let word = try await belfry.run("bot", "add", "sage", "--backend", "openai", "--model", "m")
        #expect(word.code == 2 && word.errors.contains("this bot has no url"))
        let shown = try await belfry.run("bot", "add", "sage", "--key", "sk-secret")
        #expect(
            shown.code == 2 && shown.errors.contains("can be seen by others")
                && !shown.errors.contains("sk-sec"))
        let missing = try await belfry.run(
            "bot", "add", "sage", "--backend", "anthropic", "--model", "m", "--key-file", "/none")
        #expect(missing.code == 2 && missing.errors.contains("can't be read from file /none"))
        let ring = try await belfry.run(
            "bot", "add", "sage", "--backend", "anthropic", "--model", "m", "--key-service", "sage")
        #expect(ring.code == 2 && ring.errors.contains("no keyring runs in the session; start one"))
        #expect(try await add(belfry, server).code == 0)
        #expect(try await add(belfry, server).code == 5)
        try belfry.configure("bots:\n  ops: {}\n  sage: {}")
        let reload = try await belfry.run("reload")
        #expect(reload.code == 2 && reload.errors.contains("`belfry bot add` made one of that name"))
    }
}
