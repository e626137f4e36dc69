import TestSupport
import Testing

/// Reports of other machines, by curl as healthchecks' users send them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a dead man's switch` {
    private func start() async throws -> (Belfry, base: String) {
        let belfry = try Belfry()
        try belfry.write(
            """
            zone: UTC
            channels:
              notes: { kind: command, command: [sh, -c, 'cat >>\(belfry.folder.file("notes"))'] }
            routes:
              - { when: [failed, expect], to: [notes] }
            listen: { address: 127.0.0.1:0, url: 'https://pings.example' }

            """, to: "belfry.yaml")
        try await belfry.start()
        let line = try await belfry.logged("serving the API over TCP")
        let port = try #require(line.firstMatch(of: /port="?([0-9]+)/).flatMap { Int($0.1) })
        return (belfry, "http://127.0.0.1:\(port)")
    }

    private func curl(_ belfry: Belfry, _ words: String) async throws -> String {
        try await belfry.shell("curl -s -w ' %{http_code}' \(words)").text
    }

    @Test func `takes reports at its address, and notifies of failures and recoveries`() async throws {
        let (belfry, base) = try await start()
        let made = try await belfry.run("expect", "nightly", "--every", "1d", "--grace", "1h")
        let path = try #require(made.lines.first?.trimmingPrefix("https://pings.example"), "\(made)")
        #expect(path.hasPrefix("/v1/ping/") && path.utf8.count == 41)
        #expect(try await belfry.json("expect").list.first?["state"].text == "new")
        let url = base + path
        #expect(try await curl(belfry, "\(url)/start") == "OK 200")
        #expect(try await belfry.json("expect").list.first?["state"].text == "started")
        #expect(try await curl(belfry, "-X POST -d 'at half' \(url)/log") == "OK 200")
        #expect(try await curl(belfry, "-I -o /dev/null \(url)") == " 200")
        #expect(try await belfry.json("expect").list.first?["state"].text == "up")
        #expect(
            try await curl(belfry, "--data-binary \"$(printf 'first line\\nno space left\\n')\" \(url)/3")
                == "OK 200")
        let late = try #require(try await belfry.json("expect", "list").list.first)
        #expect(late["state"].text == "late" && late["reason"].text == "failed")
        #expect(late["message"].text == "no space left")
        #expect(try await curl(belfry, "\(url)/0") == "OK 200")
        // Each is sent by itself: which comes first is not known.
        let notes = try await belfry.shell(
            "until grep -q expect.recovered notes && grep -q expect.late notes; do sleep 0.05; done; cat notes"
        )
        #expect(notes.text.contains("no space left") && notes.text.contains("reports again"))
    }

    @Test func `refuses other keys and words, and keeps its address until it is removed`() async throws {
        let (belfry, base) = try await start()
        let made = try await belfry.run("expect", "nightly", "--cron", "0 3 * * *", "--json")
        let url = try #require(try made.json()["url"].text).replacing("https://pings.example", with: base)
        let key = try #require(url.split(separator: "/").last)
        // Neither the ledger nor a log has the key.
        #expect(
            try await belfry.shell("grep -rlF '\(key)' '\(belfry.statePath)' || echo none").text == "none\n")
        for path in ["\(url.dropLast())", "\(url)/256", "\(url)/stop", "\(url)/1/2", "\(base)/v1/ping/"] {
            #expect(try await curl(belfry, "-o /dev/null '\(path)'") == " 404", "\(path)")
        }
        #expect(try await curl(belfry, "-o /dev/null -X DELETE \(url)") == " 405")
        let edited = try await belfry.run("expect", "nightly", "--every", "2d", "--json")
        #expect(try edited.json()["url"].text?.hasSuffix(key) == true)
        #expect(try await belfry.run("expect", "bad", "--cron", "0 25 * * *").code == 2)
        #expect(try await belfry.run("expect", "list", "--every", "1d").code == 2)
        #expect(try await belfry.run("expect", "rm", "nightly").code == 0)
        #expect(try await belfry.run("expect", "rm", "nightly").code == 4)
        #expect(try await curl(belfry, "-o /dev/null \(url)") == " 404")
    }
}
