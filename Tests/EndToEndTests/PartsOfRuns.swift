import Foundation
import TestSupport
import Testing

/// What a job reports about the parts of its work.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `the parts of a run's work` {
    @Test func `are shown as a tree while it runs and after its end`() async throws {
        let belfry = try Belfry()
        let gate = belfry.folder.file("gate")
        try belfry.configure(
            """
            jobs:
              build:
                schedule: manual
                shell: |
                  report() { printf '%s\\n' "$1" > /proc/self/fd/$PROGRESS_FD; }
                  report '{"id":"build/linux","progress":0.5,"message":"linking"}'
                  report '{"id":"docs","state":"done"}'
                  until [ -e \(gate) ]; do sleep 0.05; done
            """)
        try await belfry.start()
        try await belfry.run("run", "build")
        while try await belfry.json("run", "show", "build#1")["live"]["tasks"].list.count < 2 {
            try Task.checkCancellation()
        }
        let tasks = try await belfry.json("run", "show", "build#1")["live"]["tasks"].list
        #expect(tasks.map { $0["id"].text } == ["build", "docs"])
        let linux = tasks[0]["tasks"].list.first
        #expect(linux?["id"].text == "build/linux" && linux?["progress"] == .number(0.5))
        let shown = try await belfry.run("run", "show", "build#1").text
        #expect(shown.contains("build\n") && shown.contains("  linux  50%  linking\n"))
        #expect(shown.contains("docs  100%  done\n"))
        try Data().write(to: URL(fileURLWithPath: gate))
        while try await belfry.json("run", "show", "build#1")["state"].text != "completed" {
            try Task.checkCancellation()
        }
        // Its live state ends a moment after the run does.
        try await belfry.until {
            let ended = try await belfry.json("run", "show", "build#1")["live"]["tasks"].list
            return ended.first?["tasks"].list.first?["state"].text == "done"
        }
    }
}
