import Foundation
import Testing
import Tracking

/// What the reader of a tool that a job names finds in recorded output; each row is read from the bytes by hand.
@Suite struct `the reader of a named tool` {
    private static let folder = String(#filePath.dropLast("NamedReaders.swift".count)) + "Corpus/"

    private func reports(_ bytes: [UInt8], _ reading: ProgressReading, cut: Int = 64, pause: Double = 1)
        -> [ProgressReport]
    {
        guard var reader = NamedReader(reading) else { return [] }
        var found: [ProgressReport] = []
        var (rest, tick) = (bytes[...], 0.0)
        while !rest.isEmpty {
            found += reader.receive(rest.prefix(cut), at: at(tick))
            rest = rest.dropFirst(cut)
            tick += pause
        }
        return found + reader.finish()
    }

    private func reports(of file: String, _ reading: ProgressReading, cut: Int = 64) throws
        -> [ProgressReport]
    {
        let text = try Data(contentsOf: URL(fileURLWithPath: Self.folder + file + ".txt"))
        return reports(Array(text.drop { $0 != 0x0A }), reading, cut: cut)
    }

    private func progress(_ lines: String..., by tool: ProgressReading.Tool, total: Int? = nil) -> [Double?] {
        reports(Array(lines.map { $0 + "\n" }.joined().utf8), ProgressReading(tool: tool, total: total)).map(
            \.progress)
    }

    @Test(
        arguments: [
            ("rsync", .rsync, nil, 0.99), ("pv", .pv, nil, 0.99), ("pv-n", .pv, nil, 0.99),
            ("wget", .wget, nil, 0.99),
            ("wget-dot", .wget, nil, 0.99), ("curl", .curl, nil, 0.99), ("curl-bar", .percent, nil, 0.99),
            ("aria2c", .aria2c, nil, 0.75), ("restic", .restic, nil, 0.75), ("borg-check", .borg, nil, 0.99),
            ("borg", .borg, 81_346_560, 0.75), ("rclone", .rclone, nil, 0.75), ("ffmpeg", .ffmpeg, nil, 0.75),
            ("git", .git, nil, 0.99), ("tqdm", .tqdm, nil, 0.99), ("ninja", .ninja, nil, 0.99),
            ("cmake", .cmake, nil, 0.99), ("pytest", .pytest, nil, 0.99), ("7z", .sevenZip, nil, 0.75),
            ("apt", .apt, nil, 0.75), ("tap", .tap, nil, 0.99), ("tar", .tar, 81_346_560, 0.75),
            ("dd", .dd, 62_914_560, 0.99), ("dpkg", .dpkg, 2, 0.99), ("pip", .pip, nil, 0.99),
            ("rich", .percent, nil, 0.99), ("docker-pull", .docker, nil, 0.99),
            ("docker-build", .docker, nil, 0.99), ("docker-buildkit", .docker, nil, 0.99),
            ("unattended-upgrades", .unattendedUpgrades, nil, 0.95),
        ] as [(String, ProgressReading.Tool, Int?, Double)], [7, 512])
    func `leads to the end of what it recorded`(
        _ row: (file: String, tool: ProgressReading.Tool, total: Int?, least: Double), cut: Int
    ) throws {
        let found = try reports(of: row.file, ProgressReading(tool: row.tool, total: row.total), cut: cut)
        let last = found.compactMap(\.progress).last ?? 0
        #expect(last >= row.least, "\(row.file): \(last)")
        #expect(found.allSatisfy { (0...1).contains($0.progress ?? 0) })
    }

    @Test func `is not led astray by the output of other tools`() throws {
        for tool in [
            ProgressReading.Tool.ninja, .tap, .restic, .tar, .dd, .cargo, .unattendedUpgrades, .none,
        ] {
            #expect(
                try reports(of: "git", ProgressReading(tool: tool, total: 100)).allSatisfy {
                    $0.progress == nil
                })
        }
        #expect(NamedReader(nil) == nil && NamedReader(ProgressReading(total: 3)) == nil)
    }

    @Test func `counts lines, though it does not report each`() {
        let lines = Array((1...300).map { "\($0) is done\n" }.joined().utf8)
        // All of them within one second.
        let found = reports(lines, ProgressReading(tool: .count, total: 300), cut: 100, pause: 0)
        #expect(found.count <= 51 && found.last?.progress == 1)
        #expect(progress("a", "b", by: .count) == [], "of no known whole")
    }

    // From published output: docs.docker.com on build progress.
    @Test func `counts the steps of a build, and the layers of a pull`() {
        #expect(
            progress(
                "#1 [internal] load build definition", "#5 [build 1/3] FROM golang",
                "#6 [stage-1 1/1] FROM scratch",
                "#5 CACHED", "#7 [build 2/3] COPY . .", "#7 DONE 0.1s", "#1 DONE 0.0s", by: .docker
            ).compactMap(\.self) == [0, 0, 0.25, 0.25, 0.5, 0.5])
        #expect(progress("Step 1/4 : FROM debian", "Step 3/4 : RUN make", by: .docker) == [0, 0.5])
        #expect(progress("Step 1/0 : x", "Step 0/-1 : x", by: .docker) == [])
        let huge = "#5 [1/\(String(repeating: "9", count: 40))] FROM x"
        #expect(progress(huge, "Successfully built x", by: .docker).allSatisfy { ($0 ?? 0) < 0.01 })
        #expect(
            progress(
                "a1b2c3d4e5f6: Pulling fs layer", "b1b2c3d4e5f6: Pulling fs layer",
                "a1b2c3d4e5f6: Pull complete",
                by: .docker) == [0, 0, 0.5])
    }

    @Test func `counts no layer that a build pulls as a step of it`() throws {
        let found = try reports(of: "docker-build", ProgressReading(tool: .docker), cut: 1)
        #expect(Set(found.compactMap(\.progress)) == [0, 1.0 / 3, 2.0 / 3, 1])
    }

    @Test func `knows what is counted`() throws {
        for (file, reading, unit) in [
            ("restic", ProgressReading(tool: .restic), "bytes"),
            ("docker-pull", .init(tool: .docker), "layers"),
            ("docker-build", .init(tool: .docker), "steps"),
            ("dd", .init(tool: .dd, total: 62_914_560), "bytes"),
            ("dpkg", .init(tool: .dpkg, total: 2), "packages"),
        ] {
            let found = try reports(of: file, reading).filter { $0.total != nil }
            #expect(!found.isEmpty && found.allSatisfy { $0.unit == unit }, "\(file)")
        }
    }

    @Test func `knows which package unattended-upgrades is at`() throws {
        let found = try reports(of: "unattended-upgrades", ProgressReading(tool: .unattendedUpgrades))
        #expect(found.compactMap(\.progress) == found.compactMap(\.progress).sorted())
        #expect(found.last?.message == "sample-four")
    }

    // From the published source of unattended-upgrades.
    @Test func `reads what unattended-upgrades writes`() {
        let found = reports(
            Array("Progress: 45.5 % (libc6:amd64)\nProgress: 101 % (x)\n".utf8),
            ProgressReading(tool: .unattendedUpgrades))
        #expect(found.map(\.progress) == [0.455] && found[0].message == "libc6:amd64")
    }

    @Test func `keeps names of packages bounded`() {
        let long = String(repeating: "n", count: 257)
        #expect(
            progress(
                "status: \(long): installed", "status: a:i386: installed", "status: a:i386: installed",
                by: .dpkg, total: 4)
                == [0, 0.25, 0.25])
    }

    @Test func `reads media time against a known length, JSON lines, and yt-dlp's own`() {
        #expect(
            progress("out_time_us=5000000", "out_time_ms=7500000", "progress=end", by: .ffmpeg, total: 10)
                == [0.5, 0.75])
        #expect(progress("{\"progress\":3,\"total\":12}", "[3/4]", by: .json) == [0.25])
        #expect(
            progress(
                "[download]  42.0% of 10.00MiB at 1.00MiB/s",
                "PROG {\"downloaded_bytes\":5,\"total_bytes_estimate\":10}",
                "[info] 99%", by: .ytDlp) == [0.42, 0.5])
        #expect(progress("   Building [====>   ] 2/4: x(bin)", "warning: 3/4", by: .cargo) == [0.5])
        #expect(progress("1.0056 31457280", "62", by: .pv, total: 62_914_560).first == 0.5)
    }

    @Test func `reads no amount below zero`() {
        let line = #"PROG {"downloaded_bytes":-5,"total_bytes":10}"#
        #expect(progress(line, by: .ytDlp) == [])
        #expect(progress(#"{"message_type":"status","bytes_done":-5,"total_bytes":10}"#, by: .restic) == [])
    }

    @Test func `survives whatever a job prints`() {
        var seed: UInt64 = 0x9E37_79B9_7F4A_7C15
        let words = [
            "#1 [", "/", "status: ", ": installed", "Step ", "%", "{", "\"progress\":", "1e308", "\r", "\n",
            "]", " ", "9",
        ]
        var bytes: [UInt8] = []
        for _ in 0..<20_000 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            if seed >> 62 == 0 { bytes.append(UInt8(truncatingIfNeeded: seed >> 32)) }
            bytes += Array(words[Int(seed >> 33) % words.count].utf8)
        }
        for tool in ProgressReading.Tool.allCases {
            let found = reports(bytes, ProgressReading(tool: tool, total: 10), cut: 997)
            #expect(found.allSatisfy { (0...1).contains($0.progress ?? 0) }, "\(tool)")
        }
    }
}
