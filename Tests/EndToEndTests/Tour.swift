import Foundation
import TestSupport
import Testing
import Timeline

/// The blocks under "Tour" in the README, pasted as a reader would.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `the tour of the readme` {
    /// The blocks, in their order.
    private static func blocks() throws -> [String] {
        let root = String(#filePath.dropLast("Tests/EndToEndTests/Tour.swift".count))
        let readme = try String(contentsOfFile: root + "README.md", encoding: .utf8)
        let tour = readme.components(separatedBy: "\n## ").first { $0.hasPrefix("Tour\n") } ?? ""
        // Every second part stands between two fences.
        return tour.components(separatedBy: "```\n").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    }

    /// A busy machine may need longer for a daemon than a reader's: its pauses wait for that.
    private static let patience = """
        sleep() { until belfry status >/dev/null 2>&1; do command sleep 0.1; done; command sleep "$1"; }

        """

    /// Seconds of the day at which it is pasted: just before an hour in which many jobs of other people run, at any one,
    /// and just before another day and month; nil: now.
    private static let times: [Int64?] =
        FakeClock.library == nil ? [nil] : [10_798, Int64.random(in: 0..<86_400), 86_398]

    @Test(arguments: times)
    func `works as it is pasted at any time of the day, and leaves nothing behind`(second: Int64?)
        async throws
    {
        let belfry = try Belfry(bus: try await PrivateBus.start())
        let port = String(try RefusingPort.makeFree())
        let programs = URL(fileURLWithPath: try BuiltProgram.path("belfry")).deletingLastPathComponent()
        let build = belfry.folder.file(".build")
        try FileManager.default.createDirectory(atPath: build, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: build + "/release", withDestinationPath: programs.path)
        let home = belfry.folder.file("t")
        let tour = try Self.blocks()
        #expect(tour.count == 8)
        let script = tour.map { $0.replacing("/tmp/belfry-tour", with: home).replacing("8737", with: port) }
            .enumerated().map { "echo \"--- \($0)\"\n\($1)" }.joined()
        try belfry.write(Self.patience + script, to: "tour.sh")
        belfry.set("TERM", "xterm")
        if let second {
            let midnight = try Moment(iso8601: "2026-11-30T00:00:00Z")
            let clock = try FakeClock(midnight + .seconds(second), in: belfry.folder)
            for (name, value) in clock.environment { belfry.set(name, value) }
        }
        let answer = try await belfry.shell("exec bash tour.sh")
        let parts = answer.text.components(separatedBy: "--- ").dropFirst().map { $0.dropFirst(2) }
        try #require(parts.count == 8, "\(answer)")
        for (part, words) in [
            (0, ["jobs     0"]), (1, ["2026-03-29T03:00:00+02:00", "30 9 * * 1-5"]),
            (2, ["Added count", "count#1", "completed", "10/10"]), (3, ["sums#1"]), (4, ["  -"]),
            (
                5,
                [
                    "verified  test", "good; 0 jobs", "delivered", "exit code 3", "verified  run.failed",
                    "ops: 5 new",
                ]
            ),
            (6, ["count#2", "completed"]), (7, []),
        ] {
            for word in words {
                #expect(parts[part].contains(word), "block \(part + 1) lacks \(word): \(answer)")
            }
        }
        for fault in ["No such file", "cannot remove", "command not found", "Usage:", "no daemon"] {
            #expect(!answer.errors.contains(fault), "\(answer)")
        }
        #expect(!parts[3].contains("progress  \n"))
        #expect(!FileManager.default.fileExists(atPath: home))
        #expect(Household.members(of: home, named: "belfryd").isEmpty)
    }
}
