import Foundation
import Testing
import Tracking

/// What real tools printed, recorded by `Corpus/record.sh`; the first line of each file is the command.
@Suite struct `the recorded output of` {
    private static let folder =
        String(#filePath.dropLast("RecordedTools.swift".count)) + "Corpus/"

    /// What is found in a tool's output, from the first report to the last.
    private func reports(of tool: String, cut: Int) throws -> [ProgressReport] {
        let text = try Data(contentsOf: URL(fileURLWithPath: Self.folder + tool + ".txt"))
        let lines = text.drop { $0 != 0x0A }
        var scanner = OutputScanner()
        var found: [ProgressReport] = []
        var (rest, tick) = (Array(lines)[...], 0)
        while !rest.isEmpty {
            found += scanner.receive(rest.prefix(cut), at: at(Double(tick) * 0.02 * Double(cut)))
            rest = rest.dropFirst(cut)
            tick += 1
        }
        found += scanner.finish()
        #expect(!scanner.hasGivenUp, "\(tool)")
        return found
    }

    @Test(
        arguments: [
            "rsync", "pv", "wget", "wget-dot", "curl", "curl-bar", "aria2c", "restic", "borg-check", "rclone",
            "ffmpeg", "git", "tqdm", "rich", "ninja", "cmake", "pytest", "7z", "apt", "tap",
        ], [1, 7, 512])
    func `a tool leads to its end, and never falls within a phase`(tool: String, cut: Int) throws {
        let reports = try reports(of: tool, cut: cut)
        let last = try #require(reports.last { $0.progress != nil }, "\(tool): nothing was found")
        #expect(try #require(last.progress) >= 0.75, "\(tool)")
        for (earlier, later) in zip(reports, reports.dropFirst()) where earlier.phase == later.phase {
            #expect(later.progress ?? 1 >= earlier.progress ?? 0, "\(tool)")
        }
    }

    @Test func `git names each stretch of its work`() throws {
        let phases = try reports(of: "git", cut: 16).compactMap(\.phase)
        #expect(phases.last == "Receiving objects" && phases.contains { $0.hasSuffix("Compressing objects") })
    }

    @Test(
        arguments: [
            "borg", "tar", "dd", "pip", "pv-n", "dpkg", "docker-pull",
        ])
    func `a tool without a total, or with bare numbers, is not taken for progress`(tool: String) throws {
        #expect(try reports(of: tool, cut: 64).isEmpty)
    }
}
