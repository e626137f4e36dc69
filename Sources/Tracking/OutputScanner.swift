public import Timeline

/// Looks for progress in what a job prints, and is hard to convince.
///
/// Believes `N%`, `n/N`, `n of N`, the JSON members `percent_done`, `percentage` and `progress`, and the shapes of curl,
/// apt, rclone, borg, ffmpeg and TAP, but only once
/// the same template has risen three times; a template that is believed and then falls twice ends the
/// search for the whole run. Most numbers in a log are not progress.
public struct OutputScanner: Sendable {
    /// Whether the output fell twice and is no longer scanned.
    public private(set) var hasGivenUp = false

    private var splitter = RecordSplitter()
    private var limiter = RecordLimiter()
    private var tools = ToolReader()
    private var candidates: [Candidate] = []
    private var believed: Candidate?
    private var falls = 0

    /// A scanner that has seen nothing.
    public init() {}

    /// A scanner that goes on with what an earlier one believed of the same output; nil: that was nothing.
    public init(resuming belief: Belief?) { believed = belief.map(Candidate.init) }

    /// What it believes; nil: nothing yet, or nothing any more.
    public var belief: Belief? {
        hasGivenUp
            ? nil
            : believed.map {
                Belief(
                    template: String(decoding: $0.template, as: UTF8.self), last: $0.last,
                    isPercent: $0.isPercent
                )
            }
    }

    /// When to call ``receive(_:at:)`` again, even with no bytes, for a record held back; `nil` for none.
    public var heldUntil: Moment? { limiter.heldUntil }

    /// Takes the next bytes of one stream and gives the progress found in them, in order.
    ///
    /// A record ends at a line feed or carriage return and is cut at 8 KiB. At most 50 records a second
    /// are read, by the moments given; of the others only the newest. When the output is given up, the
    /// last report is a withdrawal (``ProgressReport/isWithdrawal``).
    public mutating func receive(_ piece: ArraySlice<UInt8>, at now: Moment) -> [ProgressReport] {
        guard !hasGivenUp else { return [] }
        var records: [[UInt8]] = []
        if let record = limiter.takeHeld(at: now) { records.append(record) }
        // 7z takes back what it printed, and never ends a line.
        let piece = piece.contains(0x08) ? ArraySlice(piece.map { $0 == 0x08 ? 0x0D : $0 }) : piece
        splitter.split(piece) { record in
            if limiter.admit(record, at: now) { records.append(Array(record)) }
        }
        return records.compactMap { read($0) }
    }

    /// Ends the stream and gives what was still held back or not ended by a separator.
    public mutating func finish() -> [ProgressReport] {
        guard !hasGivenUp else { return [] }
        var last = limiter.takeHeld()
        splitter.finish { last = Array($0) }
        return last.flatMap { read($0) }.map { [$0] } ?? []
    }

    private mutating func read(_ record: [UInt8]) -> ProgressReport? {
        guard !hasGivenUp else { return nil }
        let text = EscapeStripper.strip(record[...])
        guard !ToolReader.isStatistics(text) else { return nil }
        guard let match = tools.match(text) ?? ProgressMatch(text) else { return nil }
        if believed?.template == match.template {
            // While the template that is believed speaks, no other gets near it.
            candidates.removeAll()
            return follow(match)
        }
        guard consider(match) else { return nil }
        falls = 0
        return believed?.report(match)
    }

    private mutating func follow(_ match: ProgressMatch) -> ProgressReport? {
        guard var candidate = believed else { return nil }
        defer { believed = candidate }
        if candidate.follows(match) { return candidate.report(match) }
        falls += 1
        guard falls >= 2 else {
            candidate.last = match.value
            return nil
        }
        hasGivenUp = true
        candidates = []
        return ProgressReport(isWithdrawal: true)
    }

    /// Counts a match for its template, and returns whether that made it believed.
    private mutating func consider(_ match: ProgressMatch) -> Bool {
        let index = candidates.firstIndex { $0.template == match.template }
        var candidate = index.map { candidates.remove(at: $0) } ?? Candidate(match)
        if index != nil { candidate.count(match) }
        if candidate.rises >= Candidate.risesToBelieve {
            believed = candidate
            candidates.removeAll()
            return true
        }
        candidates.append(candidate)
        if candidates.count > Candidate.most { candidates.removeFirst() }
        return false
    }
}

extension OutputScanner {
    /// The numbers that were found to be progress, as they are kept for the next daemon.
    public struct Belief: Hashable, Sendable, Codable {
        /// What stays the same from one record to the next.
        var template: String
        /// The newest value, as printed.
        var last: Double
        /// Whether a JSON member is a percentage.
        var isPercent: Bool
    }

    /// A template, and how far its values can be believed.
    private struct Candidate {
        static let risesToBelieve = 3
        /// Templates watched at a time; the one not seen for longest makes room.
        static let most = 8

        let template: [UInt8]
        var last: Double
        /// Values seen in a row, each above the one before.
        var rises = 1
        /// Whether `progress` in JSON was seen above 1, and so is a percentage.
        var isPercent: Bool
        /// What the last record did, and whether the one before it did the same: tools that build take turns.
        private var activity: String?
        private var isSteady = false
        /// The title of the last record, and whether the one before it had it, too: it names a stretch of work then.
        private var title: String?
        private var hasSteadyTitle = false

        init(_ belief: Belief) {
            (template, last, isPercent) = (Array(belief.template.utf8), belief.last, belief.isPercent)
        }

        init(_ match: ProgressMatch) {
            template = match.template
            last = match.value
            isPercent = match.value > 1
            (activity, title) = (match.activity, match.title)
        }

        mutating func count(_ match: ProgressMatch) {
            note(match)
            if match.value > last {
                rises += 1
            } else if match.value < last {
                rises = 1
            }
            last = match.value
            isPercent = isPercent || match.value > 1
        }

        private mutating func note(_ match: ProgressMatch) {
            (isSteady, activity) = (match.activity == activity, match.activity)
            (hasSteadyTitle, title) = (match.title == title, match.title)
        }

        /// Whether `match` is no fall, and means the same as the values before it.
        mutating func follows(_ match: ProgressMatch) -> Bool {
            // `Receiving objects` after `Counting objects` begins again, and is no fall.
            let isNext = hasSteadyTitle && match.title != nil && match.title != title
            note(match)
            guard match.value >= last || isNext, match.scale != .either || isPercent || match.value <= 1
            else {
                return false
            }
            last = match.value
            return true
        }

        func report(_ match: ProgressMatch) -> ProgressReport {
            var report = match.amounts ?? ProgressReport()
            switch match.scale {
            case .amounts: break
            case .percent: report.fraction = match.value / 100
            case .fraction: report.fraction = match.value
            case .either: report.fraction = isPercent ? match.value / 100 : match.value
            }
            report.phase = match.title ?? (isSteady ? match.activity : nil)
            report.message = match.counting
            return report
        }
    }
}

/// The words beside a number that name the stretch of work it is about.
package enum ProgressTitle {
    /// What a number counts: beside it these are no phase.
    private static let units: Set<String> = [
        "step", "steps", "file", "files", "item", "items", "part", "parts", "page", "pages", "chunk",
        "chunks",
        "block", "blocks", "batch", "batches", "row", "rows", "record", "records", "task", "tasks", "test",
        "tests",
        "number", "no",
    ]
    /// Those of ``units`` that are things, of which there may be a number.
    private static let things = units.subtracting(["number", "no"])

    /// The words before the number when they are nothing but words, ended by a colon, a bar or nothing.
    ///
    /// What is counted is left out: `packing file 6 of 12` is about packing.
    static func before(_ words: ArraySlice<UInt8>) -> String? {
        guard var trimmed = plain(words) else { return nil }
        let last = trimmed.split(separator: " ").last ?? ""
        guard units.contains(last.lowercased()) else { return trimmed }
        trimmed.removeLast(last.count)
        while trimmed.last == " " { trimmed.removeLast() }
        return trimmed.isEmpty ? nil : trimmed
    }

    /// The whole of a count that names what it counts: `packing file 6 of 12`, `1/12 files`; nil: it names nothing.
    static func counting(_ words: ArraySlice<UInt8>, _ count: ArraySlice<UInt8>, _ rest: ArraySlice<UInt8>)
        -> String?
    {
        let count = String(decoding: count, as: UTF8.self)
        if let text = plain(words), let last = text.split(separator: " ").last,
            units.contains(last.lowercased())
        {
            return "\(text) \(count)"
        }
        guard rest.first == 0x20, words.allSatisfy({ $0 == 0x20 }) || plain(words) != nil else { return nil }
        let next = rest.dropFirst().prefix { (0x61...0x7A).contains($0 | 0x20) }
        let unit = String(decoding: next, as: UTF8.self)
        guard units.contains(unit.lowercased()) else { return nil }
        return [plain(words), count, unit].compactMap(\.self).joined(separator: " ")
    }

    /// What is left to say of a run's last words when it has completed: `12 files` of `packing file 12 of 12`, nothing of a
    /// count that did not get to its end, and other words as they are.
    package static func result(of text: String) -> String? {
        let words = text.replacing("/", with: " of ").split(separator: " ")
        guard let place = words.lastIndex(of: "of"), place > 0, place + 1 < words.count,
            [words[place - 1], words[place + 1]].allSatisfy({
                $0.utf8.allSatisfy { (0x30...0x39).contains($0) }
            })
        else { return text }
        let around = [place + 2 < words.count ? words[place + 2] : nil, place > 1 ? words[place - 2] : nil]
        guard let unit = around.compactMap(\.self).first(where: { things.contains($0.lowercased()) }) else {
            return text
        }
        guard words[place - 1] == words[place + 1] else { return nil }
        return "\(words[place + 1]) \(plural(unit.lowercased()))"
    }

    private static func plural(_ unit: String) -> String {
        if unit.hasSuffix("s") { return unit }
        return unit == "batch" ? "batches" : unit + "s"
    }

    /// Words, and nothing but words, without the bar, the colon and the spaces around them.
    private static func plain(_ words: ArraySlice<UInt8>) -> String? {
        var words = words
        trimBar(&words)
        let text = String(decoding: words, as: UTF8.self)
        var trimmed = text[...]
        while trimmed.last == " " || trimmed.last == ":" { trimmed.removeLast() }
        while trimmed.first == " " { trimmed.removeFirst() }
        guard trimmed.contains(where: \.isLetter), trimmed.utf8.count <= 64,
            trimmed.allSatisfy({ $0.isLetter || $0 == " " || $0 == ":" || $0 == "-" })
        else { return nil }
        return String(trimmed)
    }

    /// The word after a number in brackets that begins the record, when it names an activity: `[ 37%] Building a.o`.
    static func after(_ words: ArraySlice<UInt8>, _ rest: ArraySlice<UInt8>) -> String? {
        guard let open = words.first(where: { $0 != 0x20 }), words.filter({ $0 != 0x20 }).count == 1,
            let close = [UInt8(ascii: "["): UInt8(ascii: "]"), UInt8(ascii: "("): UInt8(ascii: ")")][open],
            rest.first == close
        else { return nil }
        let text = String(decoding: rest.dropFirst(), as: UTF8.self)
        guard let word = text.split(separator: " ").first, word.count >= 5, word.hasSuffix("ing"),
            word.allSatisfy(\.isLetter), word.utf8.count <= 64
        else { return nil }
        return String(word)
    }

    /// Takes a bar in brackets off the end: `Building [==>   ] `.
    private static func trimBar(_ words: inout ArraySlice<UInt8>) {
        var rest = words
        while rest.last == 0x20 { rest.removeLast() }
        guard rest.last == UInt8(ascii: "]"), let open = rest.lastIndex(of: UInt8(ascii: "[")) else { return }
        let bar = rest[(open + 1)...].dropLast()
        guard !bar.isEmpty, bar.allSatisfy({ $0 >= 0x80 || " =#>-.*_~".utf8.contains($0) }) else { return }
        words = rest[..<open]
    }
}
