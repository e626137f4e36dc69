import Prompting
import TestSupport
import Testing
import Tracking

@Suite struct `the text of a page` {
    @Test(arguments: [
        ("<p>One</p><p>two  three\n</p>", "One\ntwo three"),
        ("a &lt; b &amp;amp; c&#33;&#x21;&bogus; &", "a < b &amp; c!!&bogus; &"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("<script>if (a < b) { '</p>' }</script>x<STYLE>p{}</Style>y", "xy"),
        ("<!-- <p>no</p> -->yes<!-- cut", "yes"),
        ("<a title=\"a > b\" href='x>y'>link</a>", "link"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "a b"),
        ("<script>never ends", ""), ("<", ""), ("<p", ""), ("", ""), ("&#27;[31m", " [31m"),
    ])
    func `is without its markup`(page: String, text: String) {
        #expect(PageText.text(of: page.utf8) == text)
    }

    @Test func `is read of any bytes`() {
        var seed: UInt64 = 7
        for _ in 0..<500 {
            let bytes = (0..<200).map { _ -> UInt8 in
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let letters = Array("<>/!-&;#x\"'script p".utf8)
                return seed >> 63 == 0
                    ? letters[Int(seed >> 33) % letters.count] : UInt8(truncatingIfNeeded: seed >> 40)
            }
            #expect(PageText.text(of: bytes).utf8.count <= 4 * bytes.count)
        }
    }
}

@Suite struct `a memory` {
    @Test func `grows at its end`() {
        #expect(MemoryText.appending("two\n", to: "one\n\n") == "one\ntwo\n")
        #expect(MemoryText.appending("one", to: "") == "one\n")
    }

    @Test(arguments: [
        ("", "## A\nx\n"), ("# A\nold\nold", "# A\nx\n"), ("# A\nold\n## sub\n# B\nb", "# A\nx\n\n# B\nb\n"),
        ("text", "text\n\n## A\nx\n"), ("##  A \nold\n\n### deep\n", "##  A \nx\n"),
        ("#A\n", "#A\n\n## A\nx\n"),
    ])
    func `has one section replaced`(before: String, after: String) {
        #expect(MemoryText.replacing("A", by: "x", in: before) == after)
    }
}

@Suite struct `a program's tools` {
    private static let server = ToolServer(
        command: ["/usr/bin/belfry", "mcp", "--bot", "cc"], environment: ["BELFRY_RUN_ID": "r"],
        tools: ["memory", "delegate"])

    @Test func `are named to Claude Code`() throws {
        let words = BotProgram(.claude, command: ["claude", "-p"]).call("Hi", home: nil, tools: Self.server)
            .words
        #expect(
            words == [
                "claude", "-p", "--mcp-config",
                #"{"mcpServers":{"belfry":{"type":"stdio","command":"/usr/bin/belfry","args":["mcp","--bot","cc"],"env":{"BELFRY_RUN_ID":"r"}}}}"#,
                "--allowedTools", "mcp__belfry__memory,mcp__belfry__delegate",
            ])
    }

    @Test func `are named to Codex, before the session that it resumes`() throws {
        let words = BotProgram(.codex, command: ["codex", "exec"]).call("Hi", home: nil, tools: Self.server)
            .words
        #expect(
            words == [
                "codex", "exec", "-c", #"mcp_servers.belfry.command="/usr/bin/belfry""#, "-c",
                #"mcp_servers.belfry.args=["mcp","--bot","cc"]"#, "-c",
                #"mcp_servers.belfry.env={ BELFRY_RUN_ID = "r" }"#,
            ])
    }

    /// Reads each word as TOML, as Codex does, and prints what all of them say as one line of JSON.
    private static let reader = """
        import json, sys, tomllib
        found = {}
        for word in sys.argv[1:]:
            found |= tomllib.loads(word)["mcp_servers"]["belfry"]
        print(json.dumps(found))
        """

    @Test(arguments: [
        "plain", "/home/o'neil/a \"quoted\" \\ folder", "Grüße 漢字 🔔", "a\tb\nc\rd\u{8}\u{c}\u{1}\u{1f}e",
        "{ x = 1 }, [y] # z", "a\u{7f}b",
    ])
    func `are named to Codex in words of TOML, whatever is in them`(text: String) async throws {
        let server = ToolServer(
            command: [text, "mcp", text], environment: ["BELFRY_SOCKET": text, "BELFRY_RUN_ID": "r"],
            tools: [])
        let words = BotProgram(.codex, command: ["codex", "exec"]).call("Hi", home: nil, tools: server).words
        let settings = words.indices.filter { $0 > 0 && words[$0 - 1] == "-c" }.map { words[$0] }
        #expect(settings.count == 3)
        let python = try ChildProcess(PythonTools.interpreter(), ["-c", Self.reader] + settings)
        var lines = python.lines.makeAsyncIterator()
        let line = await lines.next() ?? ""
        let read = try #require(JSON(parsing: Array(line.utf8)[...]), "no TOML: \(settings)")
        #expect(read["command"]?.text == text && read["args"]?.elements.map(\.text) == ["mcp", text])
        #expect(read["env"]?["BELFRY_SOCKET"]?.text == text && read["env"]?["BELFRY_RUN_ID"]?.text == "r")
    }
}

@Suite struct `what a wake script prints` {
    @Test(arguments: [
        ("", WakeAnswer.sleep(reason: nil)), (" \n\n", .sleep(reason: nil)),
        ("two new mails\n", .wake(data: "two new mails")),
        ("\n a\n\nb \n", .wake(data: "a\n\nb")),
        (#"{"wakeAgent": false}"#, .sleep(reason: nil)),
        ("log\n{\"wakeAgent\":false,\"reason\":\"no\\nmail\"}\n\n", .sleep(reason: "no mail")),
        ("log\n{\"wakeAgent\":true}\n", .wake(data: nil)),
        (#"{"wakeAgent":true,"data":null}"#, .wake(data: nil)),
        (#"{"wakeAgent":true,"data":"as it is"}"#, .wake(data: "as it is")),
        (
            #"{"wakeAgent":true,"data":{"a":[1,{"b":"<c>"}],"d":[]}}"#,
            .wake(
                data: """
                    {
                      "a": [
                        1,
                        {
                          "b": "<c>"
                        }
                      ],
                      "d": []
                    }
                    """)
        ),
        (#"{"wakeAgent":"yes"}"#, .unreadable("its last line must have \"wakeAgent\": true or false")),
        (#"{"count": 3}"#, .wake(data: #"{"count": 3}"#)),
        ("{broken", .wake(data: "{broken")),
    ])
    func `decides whether the bot is asked, and with what`(printed: String, answer: WakeAnswer) {
        #expect(WakeAnswer(Array(printed.utf8)) == answer)
    }

    @Test func `stands before what is to be done with it`() {
        #expect(
            WakeAnswer.prompt("Sum up.", data: "a\nb") == "Script output:\na\nb\n\nInstructions:\nSum up.")
        #expect(WakeAnswer.prompt("Sum up.", data: nil) == "Sum up.")
    }

    @Test func `may be any bytes`() {
        #expect(WakeAnswer([0xFF, 0x0A, 0xFE]) == .wake(data: "\u{FFFD}\n\u{FFFD}"))
    }
}
