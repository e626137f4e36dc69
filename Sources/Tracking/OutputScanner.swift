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
            // `Receiving objects` after `Counting objects` begins anew, and is no fall.
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
