import Foundation
import TestSupport
import Testing

/// What past runs show of how long the next one takes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a job with past runs` {
    /// How long a run takes that is not held.
    private let seconds = 20.0
    private let jobs = """
        jobs:
          nap:
            schedule: manual
            overlap: allow
            shell: if [ -e ~/hold ]; then sleep 1000; else sleep 20; fi
        """

    /// A home in which runs of `nap` wait for ever from now on.
    private func hold(_ belfry: Belfry) throws { try belfry.write("", to: "hold") }

    /// Runs `nap` so many times at once, to the end.
    private func nap(_ belfry: Belfry, times: Int) async throws {
        try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<times {
                group.addTask { try await belfry.run("run", "nap", "--follow", "--progress", "quiet").code }
            }
            for try await code in group { #expect(code == 0) }
        }
    }

    /// Checks a live state that shows when the run will be done, and what is said of it.
    private func check(_ live: JSON) throws {
        let left = try #require(live["timeRemaining"].number)
        #expect(left > 0 && left <= seconds + 10)
        // On a busy machine each takes a little longer.
        #expect(live["usualSeconds"].number.map { $0 >= seconds && $0 <= seconds + 10 } == true, "\(live)")
        #expect(live["etaLow"].text != nil && live["etaHigh"].text != nil)
    }

    @Test func `shows when a run will be done: from three runs on, also after a kill`() async throws {
        let belfry = try await Belfry.start(jobs)
        let watch = try belfry.feed("watch")
        try await nap(belfry, times: 2)
        try hold(belfry)
        try await belfry.run("run", "nap")
        // Its second change after the first state: it came under way, then it learned from the past runs.
        let early = try await watch.next {
            $0["run"].text == "nap#3" && ($0["seq"].integer ?? 0) % 1_000_000_000 >= 2
        }
        #expect(early["etaAt"] == nil && early["timeRemaining"] == nil && early["usualSeconds"] == nil)
        try await belfry.run("run", "cancel", "nap#3")

        try FileManager.default.removeItem(atPath: belfry.folder.file("hold"))
        try await nap(belfry, times: 4)
        try hold(belfry)
        try await belfry.run("run", "nap")
        let before = try await watch.next { $0["run"].text == "nap#8" && $0["etaAt"] != nil }
        try check(before)
        let shown = try await belfry.run("run", "show", "nap#8").lines
        #expect(shown.contains { $0.hasPrefix("finish    about ") && $0.hasSuffix(" s left") }, "\(shown)")
        let listed = try await belfry.run("runs", "nap").lines
        #expect(listed.contains { $0.contains("running, about ") && $0.contains(" s left") }, "\(listed)")

        try await belfry.kill()
        try await belfry.start()
        let after = try await watch.next { $0["run"].text == "nap#8" && $0["etaAt"] != nil }
        #expect(after["startedAt"] == before["startedAt"] && after["usualSeconds"] == before["usualSeconds"])
        try await belfry.run("run", "nap")
        try check(try await watch.next { $0["run"].text == "nap#9" && $0["etaAt"] != nil })
    }

    @Test func `has a history that names the phase which got slow`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              pack:
                schedule: manual
                shell: |
                  report() { printf '{"phase":"%s","progress":%s}\\n' "$1" "$2" > /proc/self/fd/$PROGRESS_FD; }
                  report copy 0; sleep 1; report copy 1; report archive 0; sleep $(cat ~/length); report archive 1
            """)
        try belfry.write("1", to: "length")
        for _ in 1...3 { try await belfry.run("run", "pack", "--follow", "--progress", "quiet") }
        let few = try await belfry.run("job", "history", "pack", "--profile").text
        #expect(few.hasPrefix("3 completed runs are known; 4 are needed"), "\(few)")
        try belfry.write("20", to: "length")
        try await belfry.run("run", "pack", "--follow", "--progress", "quiet")
        let profile = try await belfry.json("job", "history", "pack", "--profile")
        #expect(profile["parts"].list.map { $0["name"].text } == ["copy", "archive"], "\(profile)")
        #expect(profile["slow"].text == "archive" && profile["runs"].integer == 4, "\(profile)")
        let lines = try await belfry.run("job", "history", "pack", "--profile").lines
        let slow = lines.first { $0.hasPrefix("archive") }
        #expect(slow?.hasSuffix("times as long") == true, "\(lines)")
        #expect(lines.last?.hasPrefix("\"archive\" got slow: ") == true, "\(lines)")
    }
}
