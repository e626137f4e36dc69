import Prompting
import Testing

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
}
