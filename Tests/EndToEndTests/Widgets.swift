import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `the widget of status bars` {
    private static let jobs = "jobs: { long: { schedule: manual, shell: 'echo 42%; sleep 1000' } }"

    @Test func `is empty while no run is active, and shows the one that is`() async throws {
        let belfry = try await Belfry.start(Self.jobs)
        let idle = try await belfry.json("widget")
        #expect(idle["text"].text == "" && idle["state"].text == "idle")
        try await belfry.run("run", "long")
        try await belfry.until {
            let shown = try await belfry.json("widget")
            return shown["text"].text?.contains("long") == true && shown["state"].text != "idle"
        }
        let line = try await belfry.run("widget", "--format", "waybar").json()
        #expect(line["class"].list.count == 1 && line["tooltip"].text?.hasPrefix("long#1") == true)
    }

    @Test func `prints a line at each change, and says so when the daemon is away`() async throws {
        let belfry = try await Belfry.start(Self.jobs)
        let feed = try belfry.feed("widget", "--watch")
        #expect(try await feed.next()["state"].text == "idle")
        try await belfry.run("run", "long")
        _ = try await feed.next { $0["state"].text == "running" }
        try await belfry.kill()
        _ = try await feed.next { $0["state"].text == "offline" }
        try await belfry.start()
        _ = try await feed.next { $0["state"].text == "running" }
    }

    @Test func `reads a file that the daemon keeps beside its socket, and of a dead daemon none`()
        async throws
    {
        let belfry = try await Belfry.start(Self.jobs)
        let path = belfry.folder.file("run/live.json")
        func snapshot() -> JSON? { try? JSON(String(contentsOfFile: path, encoding: .utf8)) }
        try await belfry.until { snapshot()?["tasks"].list.isEmpty == true }
        try await belfry.run("run", "long")
        try await belfry.until {
            snapshot()?["tasks"].list.first?["run"].text == "long#1" && snapshot()?["v"].number == 1
        }
        // A made up one is shown: the daemon was not asked. It may replace that before it is read.
        try await belfry.until {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try text.replacing("\"long\"", with: "\"other\"")
                .write(toFile: path, atomically: true, encoding: .utf8)
            return try await belfry.json("widget")["text"].text?.contains("other") == true
        }
        try await belfry.kill()
        #expect(FileManager.default.fileExists(atPath: path))
        let away = try await belfry.run("widget")
        #expect(away.code == 3 && away.text.isEmpty)
    }

    @Test func `shows bots with what is unread`() async throws {
        let belfry = try await Belfry.start("bots: { ops: { backend: { kind: command } } }")
        try await belfry.run("notify", "--bot", "ops", "Disk is full")
        try await belfry.until {
            let shown = try await belfry.json("widget", "--bots", "ops")
            return shown["text"].text?.hasSuffix("ops 1") == true && shown["state"].text == "unread"
                && shown["tooltip"].list.first?.text?.hasSuffix("Disk is full") == true
        }
        // Once it is in the daemon's file, that is what is read: a made up one is shown until it is replaced.
        let path = belfry.folder.file("run/live.json")
        try await belfry.until {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try text.replacing("Disk is full", with: "Disk is empty")
                .write(toFile: path, atomically: true, encoding: .utf8)
            return try await belfry.json("widget", "--bots", "ops")["tooltip"].list.first?.text?
                .hasSuffix("Disk is empty") == true
        }
        let message = try #require(try await belfry.json("messages", "ops").list.first?["id"].text)
        try await belfry.run("read", message)
        try await belfry.until {
            try await belfry.json("widget", "--bots", "ops")["state"].text == "idle"
        }
        let unknown = try await belfry.run("widget", "--bots", "opps")
        #expect(unknown.code == 4 && unknown.errors.contains("opps"))
    }

    @Test func `of i3bar is a stream alone`() async throws {
        let belfry = try await Belfry.start()
        let answer = try await belfry.run("widget", "--format", "i3bar")
        #expect(answer.code == 2 && answer.errors.contains("--watch"))
    }

    @Test func `opens a terminal with what was clicked on`() async throws {
        let belfry = try await Belfry.start(
            "bots: { ops: { backend: { kind: command } }, sage: { backend: { kind: command } } }")
        try await belfry.run("notify", "--bot", "sage", "Done")
        try belfry.write("#!/bin/sh\nshift 2; echo \"$@\" >>opened\n", to: "term")
        let answer = try await belfry.shell(
            """
            chmod +x term; export TERMINAL=./term
            belfry widget --open; until [ "$(cat opened 2>/dev/null)" = watch ]; do sleep 0.1; done
            # The one that has something to say.
            belfry widget --open --bots ops,sage; until grep -q 'chat sage' opened; do sleep 0.1; done
            printf '[\\n{"name":"belfry","instance":"ops","button":1}\\n,{"button":3,"instance":"none"}\\n' |
                belfry widget --format i3bar --bots ops,sage --watch >lines & bar=$!
            until grep -q 'chat ops' opened; do sleep 0.1; done
            kill $bar; cat opened
            """)
        #expect(answer.text == "watch\nchat sage\nchat ops\n", "\(answer)")
        #expect(belfry.lines(of: "lines").first == #"{"version":1,"click_events":true}"#)
    }
}
