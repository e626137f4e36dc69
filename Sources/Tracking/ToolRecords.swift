/// What the records of one tool say, one after the other.
///
/// Each tool has its own parser; a record that it would not print says nothing.
struct ToolRecords: Sendable {
    /// So many names are remembered, each of at most so many bytes.
    static let mostNames = 10_000, longestName = 256
    /// The most steps that are read from Docker's older builder.
    private static let mostSteps = 1000.0

    private let tool: ProgressReading.Tool
    private let total: Double?
    private var shared = ToolReader()
    /// Packages or steps that are done, and those that were seen.
    private var done: Set<[UInt8]> = []
    private var seen: Set<[UInt8]> = []
    /// The layers of an image that are complete, and those that were seen; a build may pull an image within a step.
    private var pulled: Set<[UInt8]> = []
    private var layers: Set<[UInt8]> = []
    private var lines = 0.0
    /// The steps of each stage of a build.
    private var stages: [[UInt8]: Double] = [:]
    private var stageOfStep: [[UInt8]: [UInt8]] = [:]

    init(_ tool: ProgressReading.Tool, total: Double?) {
        self.tool = tool
        self.total = total.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Whether every record has to be counted, also those that are not reported.
    var counts: Bool {
        switch tool {
        case .count, .dpkg, .docker: true
        default: false
        }
    }

    /// Counts a record.
    mutating func count(_ record: ArraySlice<UInt8>) {
        switch tool {
        case .count: lines += 1
        case .dpkg: countPackage(record)
        case .docker: countStep(record)
        default: break
        }
    }

    /// The progress after a record, stripped of escape sequences; nil: it says nothing.
    mutating func report(_ record: [UInt8]) -> ProgressReport? {
        guard var report = found(record) else { return nil }
        if report.total != nil { report.unit = unit }
        return report
    }

    /// The unit of the tool's amounts; nil: it has no name.
    private var unit: String? {
        switch tool {
        case .borg, .restic, .rclone, .dd, .tar, .pv, .ytDlp: WorkAmount.bytes
        case .dpkg: "packages"
        case .docker: stages.isEmpty ? "layers" : "steps"
        case .ninja: "steps"
        case .cargo: "crates"
        case .tap: "tests"
        case .count: "lines"
        default: nil
        }
    }

    private mutating func found(_ record: [UInt8]) -> ProgressReport? {
        switch tool {
        case .none: nil
        case .apt, .curl, .rclone, .tap, .ffmpeg: sharedReport(record) ?? ffmpegReport(record)
        case .borg: borg(record)
        case .json: ProgressLine.report(record[...])
        case .restic: restic(record)
        case .ytDlp: ytDlp(record)
        case .count: total.flatMap { ReportNumber.amounts(min(lines, $0), of: $0) }
        case .dpkg: package
        case .docker: step
        case .dd: bytes(leading(record, " bytes "))
        case .tar: tar(record)
        case .pv: pv(record)
        case .pip: pip(record)
        case .unattendedUpgrades: upgrades(record)
        case .ninja: step(record, "[", "]")
        case .cargo: cargo(record)
        case .cmake: bracketed(record)
        case .git, .rsync, .wget, .aria2c, .pytest, .tqdm, .sevenZip, .percent: percent(record)
        }
    }

    // MARK: Shapes that the scanner knows, too

    private mutating func sharedReport(_ record: [UInt8]) -> ProgressReport? {
        guard let match = shared.match(record) else { return nil }
        let name = String(decoding: match.template, as: UTF8.self)
        let isOwn =
            switch tool {
            case .apt: name == "dlstatus" || name == "pmstatus"
            case .curl, .rclone, .tap, .ffmpeg: name == tool.rawValue
            case .borg: name.hasPrefix("borg")
            default: false
            }
        return isOwn ? Self.report(match) : nil
    }

    private static func report(_ match: ProgressMatch) -> ProgressReport {
        var report = match.amounts ?? ProgressReport()
        if match.amounts == nil {
            report.fraction = match.scale == .fraction ? match.value : match.value / 100
        }
        (report.phase, report.message) = (match.title, match.counting)
        return report
    }

    /// `N%` wherever it stands in the tool's line; git's titles are its phases.
    private func percent(_ record: [UInt8]) -> ProgressReport? {
        guard let match = ProgressMatch(record), match.scale == .percent else { return nil }
        var report = Self.report(match)
        if tool != .git { report.phase = nil }
        return report
    }

    /// `[ 42%] Building C object`.
    private func bracketed(_ record: [UInt8]) -> ProgressReport? {
        guard record.first == UInt8(ascii: "["), let end = record.firstIndex(of: UInt8(ascii: "]")) else {
            return nil
        }
        let inside = record[1..<end].drop { $0 == 0x20 }
        return inside.last == UInt8(ascii: "%") ? ReportNumber.percent(inside) : nil
    }

    /// `n/N` between two marks at the beginning.
    private func step(_ record: [UInt8], _ open: Character, _ close: Character) -> ProgressReport? {
        guard let first = open.asciiValue, let last = close.asciiValue, record.first == first,
            let end = record.firstIndex(of: last)
        else { return nil }
        let inside = record[1..<end]
        return inside.contains(UInt8(ascii: "/")) ? ReportNumber.progress(inside) : nil
    }

    /// `    Building [====>    ] 2/3: x(bin)`.
    private func cargo(_ record: [UInt8]) -> ProgressReport? {
        guard let bar = record.firstIndex(of: UInt8(ascii: "[")),
            let end = record[bar...].firstIndex(of: UInt8(ascii: "]"))
        else { return nil }
        let rest = record[(end + 1)...].drop { $0 == 0x20 }.prefix { $0 != 0x3A && $0 != 0x20 }
        return rest.contains(UInt8(ascii: "/")) ? ReportNumber.progress(rest) : nil
    }

    // MARK: Bytes of a known whole

    private func bytes(_ done: Double?) -> ProgressReport? {
        guard let done, let total else { return nil }
        return ReportNumber.amounts(min(done, total), of: total)
    }

    /// The number that a record begins with, where `word` follows it.
    private func leading(_ record: [UInt8], _ word: StaticString) -> Double? {
        let digits = record.prefix { Self.isDigit($0) }
        guard record[digits.count...].starts(with: Array(word.description.utf8)) else { return nil }
        return ReportNumber.decimal(digits)
    }

    /// `tar: Write checkpoint 200`: records of 10,240 bytes.
    private func tar(_ record: [UInt8]) -> ProgressReport? {
        for word in ["tar: Write checkpoint ", "tar: Read checkpoint "]
        where record.starts(with: Array(word.utf8)) {
            let digits = record[word.utf8.count...].prefix { Self.isDigit($0) }
            return bytes(ReportNumber.decimal(digits).map { $0 * 10_240 })
        }
        return nil
    }

    /// `62` of `pv -n`; `62914560` of `pv -nb` and `1.0056 62914560` of `pv -nbt` with a total; the bar's percent.
    private func pv(_ record: [UInt8]) -> ProgressReport? {
        let words = record.split(separator: 0x20)
        guard words.count <= 2, let last = words.last, let number = ReportNumber.decimal(last),
            words.allSatisfy({ ReportNumber.decimal($0) != nil })
        else { return percent(record) }
        return total == nil ? ReportNumber.percent(last) : bytes(number)
    }

    /// `1.3/2.6 MB 95.8 MB/s eta 0:00:01`, behind a bar.
    private func pip(_ record: [UInt8]) -> ProgressReport? {
        let words = record.split(separator: 0x20)
        guard let place = words.firstIndex(where: { $0.contains(UInt8(ascii: "/")) }),
            place + 1 < words.count,
            ["kB", "MB", "GB", "bytes"].contains(String(decoding: words[place + 1], as: UTF8.self)),
            let report = ReportNumber.progress(words[place])
        else { return nil }
        return report
    }

    // MARK: JSON

    /// A step's percentage, or the bytes read so far of a known whole.
    private mutating func borg(_ record: [UInt8]) -> ProgressReport? {
        if let report = sharedReport(record) { return report }
        guard let json = JSON(reported: record[...]), json["type"]?.text == "archive_progress" else {
            return nil
        }
        return bytes(json["original_size"]?.double)
    }

    private func restic(_ record: [UInt8]) -> ProgressReport? {
        guard let json = JSON(reported: record[...]), json["message_type"]?.text == "status" else {
            return nil
        }
        if let done = json["bytes_done"]?.double, let total = json["total_bytes"]?.double,
            let report = ReportNumber.amounts(done, of: total)
        {
            return report
        }
        guard let part = json["percent_done"]?.double, (0...1).contains(part) else { return nil }
        return ProgressReport(fraction: part)
    }

    /// `[download]  42.0% of 10.00MiB`, or the JSON of `--progress-template 'download:PROG %(progress)j'`.
    private func ytDlp(_ record: [UInt8]) -> ProgressReport? {
        if record.starts(with: Array("[download]".utf8)) { return percent(record) }
        guard let brace = record.firstIndex(of: UInt8(ascii: "{")),
            let json = JSON(reported: record[brace...])
        else {
            return nil
        }
        let whole = json["total_bytes"]?.double ?? json["total_bytes_estimate"]?.double
        return ReportNumber.amounts(json["downloaded_bytes"]?.double, of: whole)
    }

    // MARK: ffmpeg

    /// `out_time_us=40000` of `-progress`, of a whole in seconds.
    ///
    /// `out_time_ms` holds microseconds, too.
    private func ffmpegReport(_ record: [UInt8]) -> ProgressReport? {
        guard tool == .ffmpeg, let total else { return nil }
        for word in ["out_time_us=", "out_time_ms="] where record.starts(with: Array(word.utf8)) {
            let done = ReportNumber.decimal(record[word.utf8.count...]).map { $0 / 1_000_000 }
            return done.flatMap { ReportNumber.amounts(min($0, total), of: total) }
        }
        return nil
    }

    // MARK: Packages

    /// `status: hello: installed`: one of `total` packages, or of those that it named.
    private mutating func countPackage(_ record: ArraySlice<UInt8>) {
        let parts = record.split(separator: 0x3A, maxSplits: 1).map { $0.drop { $0 == 0x20 } }
        guard parts.count == 2 else { return }
        // The state stands last: a name may hold a colon (`libc6:i386`).
        guard parts[0].elementsEqual("status".utf8), let colon = parts[1].lastIndex(of: 0x3A) else { return }
        let name = Array(parts[1][..<colon])
        guard name.count <= Self.longestName else { return }
        let state = parts[1][(colon + 1)...].drop { $0 == 0x20 }
        Self.add(name, to: &seen)
        if state.elementsEqual("installed".utf8) { Self.add(name, to: &done) }
    }

    private var package: ProgressReport? {
        guard let total else { return nil }
        return ReportNumber.amounts(min(Double(done.count), total), of: total)
    }

    /// `Progress: 45.3 % (libc6)`.
    ///
    /// - Source: unattended-upgrades, `LogInstallProgress`.
    private func upgrades(_ record: [UInt8]) -> ProgressReport? {
        guard let start = record.firstRange(of: Array("Progress: ".utf8))?.upperBound else { return nil }
        let digits = record[start...].prefix { Self.isDigit($0) || $0 == 0x2E }
        let rest = record[digits.endIndex...].drop { $0 == 0x20 }
        guard rest.first == UInt8(ascii: "%"), var report = ReportNumber.percent(digits) else { return nil }
        if let open = rest.firstIndex(of: UInt8(ascii: "(")),
            let close = rest.lastIndex(of: UInt8(ascii: ")")), open < close
        {
            report.message = String(
                decoding: rest[(open + 1)..<close].prefix(Self.longestName), as: UTF8.self)
        }
        return report
    }

    // MARK: Builds

    /// `#7 [build 2/5] RUN make`, `#7 DONE 3.1s`, `#8 CACHED` of BuildKit; `Step 3/7 : RUN make` of the older builder;
    /// `a1b2c3d4e5f6: Pull complete` of a pull.
    private mutating func countStep(_ record: ArraySlice<UInt8>) {
        if record.first == UInt8(ascii: "#") { return countVertex(record) }
        if record.starts(with: Array("Step ".utf8)) { return countOldStep(record.dropFirst(5)) }
        if let steps = stages[[]], record.starts(with: Array("Successfully built ".utf8)) {
            for step in 1...Int(min(steps, Self.mostSteps)) { done.insert(Array("\(step)".utf8)) }
        }
        guard let colon = record.firstIndex(of: 0x3A),
            record.distance(from: record.startIndex, to: colon) == 12
        else { return }
        let layer = Array(record[..<colon])
        guard layer.allSatisfy({ Self.isDigit($0) || (0x61...0x66).contains($0) }) else { return }
        let state = String(decoding: record[(colon + 1)...].drop { $0 == 0x20 }.prefix(32), as: UTF8.self)
        Self.add(layer, to: &layers)
        if state.hasPrefix("Pull complete") || state.hasPrefix("Already exists") {
            Self.add(layer, to: &pulled)
        }
    }

    /// `3/7 : RUN make`: the third has begun, so two are done.
    private mutating func countOldStep(_ record: ArraySlice<UInt8>) {
        let parts = record.prefix { Self.isDigit($0) || $0 == UInt8(ascii: "/") }.split(
            separator: UInt8(ascii: "/"))
        guard parts.count == 2, let number = ReportNumber.decimal(parts[0]),
            let steps = ReportNumber.decimal(parts[1]),
            number >= 1, number <= steps, steps <= Self.mostSteps
        else { return }
        stages[[]] = steps
        for past in 1..<Int(number) { done.insert(Array("\(past)".utf8)) }
    }

    private mutating func countVertex(_ record: ArraySlice<UInt8>) {
        let words = record.split(separator: 0x20, maxSplits: 2)
        guard words.count >= 2, words[0].count <= 16 else { return }
        let id = Array(words[0])
        if words[1].elementsEqual("DONE".utf8) || words[1].elementsEqual("CACHED".utf8) {
            if stageOfStep[id] != nil { Self.add(id, to: &done) }
            return
        }
        guard words[1].first == UInt8(ascii: "["), let open = record.firstIndex(of: UInt8(ascii: "[")),
            let close = record[open...].firstIndex(of: UInt8(ascii: "]")), close - open <= Self.longestName
        else { return }
        let label = record[(open + 1)..<close]
        let parts = label.split(separator: 0x20)
        guard let number = parts.last, let slash = number.firstIndex(of: UInt8(ascii: "/")),
            let steps = ReportNumber.decimal(number[(slash + 1)...]), steps >= 1,
            stageOfStep.count < Self.mostNames
        else { return }
        let stage = Array(label.dropLast(number.count))
        stages[stage] = max(stages[stage] ?? 0, steps)
        stageOfStep[id] = stage
    }

    private var step: ProgressReport? {
        let whole = stages.values.reduce(0, +)
        if whole > 0 { return ReportNumber.amounts(min(Double(done.count), whole), of: whole) }
        guard !layers.isEmpty else { return nil }
        return ReportNumber.amounts(Double(pulled.count), of: Double(layers.count))
    }

    private static func add(_ name: [UInt8], to names: inout Set<[UInt8]>) {
        if names.count < mostNames { names.insert(name) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
