package import Timeline
import Tracking

/// Times of the day on the clocks of a zone, on some days of the week: `22:00-07:00`, `Mon-Fri 18:00-08:00`.
///
/// One that ends at an earlier time of the day, or at the same, ends on the next day; its day of the week is that of its
/// start.
package struct DailyHours: Sendable {
    /// One stretch of a day.
    private struct Stretch: Hashable {
        /// The days of the week on which it begins; 0 is Sunday.
        var days: Set<Int>
        /// Minutes of the day.
        var from: Int
        /// Minutes after the midnight before its start: above 1440 on the next day.
        var to: Int
    }

    /// As they are written.
    package let texts: [String]
    private let stretches: [Stretch]
    private let zone: ZoneRules

    /// Hours on the clocks of a zone.
    ///
    /// - Throws: what is wrong with them; hours that never end are refused.
    package init(_ texts: [String], in zone: ZoneRules) throws(DailyHoursError) {
        guard !texts.isEmpty else { throw .none }
        var stretches: [Stretch] = []
        for text in texts { stretches.append(try Self.read(text)) }
        (self.texts, self.stretches, self.zone) = (texts, stretches, zone)
        guard Self.leavesRoom(stretches) else { throw .endless }
    }

    /// When the hours that hold this moment end; nil: it is in none.
    package func end(at moment: Moment) -> Moment? {
        var end: Moment?
        // Hours that touch are one stretch; a week without an end was refused.
        for _ in 0..<64 {
            guard let next = stretchEnd(at: end ?? moment) else { return end }
            end = next
        }
        return end
    }

    /// Whether a moment is in them.
    package func contains(_ moment: Moment) -> Bool { stretchEnd(at: moment) != nil }

    private func stretchEnd(at moment: Moment) -> Moment? {
        let today = CivilTime(moment, in: zone).date.daysSinceEpoch
        var latest: Moment?
        for day in (today - 1)...today {
            let weekday = CivilDate(daysSinceEpoch: day).weekday
            for stretch in stretches where stretch.days.contains(weekday) {
                let (start, end) = (instant(day, stretch.from), instant(day, stretch.to))
                if start <= moment, moment < end { latest = max(latest ?? end, end) }
            }
        }
        return latest
    }

    private func instant(_ day: Int, _ minute: Int) -> Moment {
        zone.instants(of: Int64(day) * 86_400 + Int64(minute) * 60).first
    }

    /// Whether a minute of the week is outside of all of them.
    private static func leavesRoom(_ stretches: [Stretch]) -> Bool {
        let week = 7 * 1440
        var covered = [Bool](repeating: false, count: week)
        for stretch in stretches {
            for day in stretch.days {
                for minute in stretch.from..<stretch.to { covered[(day * 1440 + minute) % week] = true }
            }
        }
        return covered.contains(false)
    }
}

extension DailyHours: Hashable {
    /// Whether both name the same hours in the same zone.
    package static func == (one: DailyHours, other: DailyHours) -> Bool {
        one.stretches == other.stretches && one.zone == other.zone
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(stretches)
        hasher.combine(zone.name)
    }
}

// How they are written.

extension DailyHours {
    private static let names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

    private static func read(_ text: String) throws(DailyHoursError) -> Stretch {
        let words = text.split(separator: " ")
        guard let last = words.last, words.count <= 2 else { throw .notHours(text) }
        let times = last.split(separator: "-", omittingEmptySubsequences: false)
        guard times.count == 2, let from = minutes(times[0]), let to = minutes(times[1]), from < 1440 else {
            throw .notHours(text)
        }
        guard from != to else { throw .noLength(text) }
        let days = words.count == 2 ? try readDays(words[0], of: text) : Set(0...6)
        return Stretch(days: days, from: from, to: to > from ? to : to + 1440)
    }

    /// `22:00`, `7:30`, `24:00`.
    private static func minutes(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60,
            hour * 60 + minute <= 1440
        else { return nil }
        return hour * 60 + minute
    }

    /// `Mon-Fri`, `Sat,Sun`.
    private static func readDays(_ text: Substring, of whole: String) throws(DailyHoursError) -> Set<Int> {
        var days: Set<Int> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { word in
                names.firstIndex(of: word.lowercased())
            }
            switch ends.count {
            case 1:
                guard let day = ends[0] else { throw .notDays(whole) }
                days.insert(day)
            case 2:
                guard let first = ends[0], let last = ends[1] else { throw .notDays(whole) }
                let count = (last - first + 7) % 7
                for step in 0...count { days.insert((first + step) % 7) }
            default: throw .notDays(whole)
            }
        }
        return days
    }
}

/// Why hours are refused.
package enum DailyHoursError: Error, Hashable, Sendable {
    /// There are none.
    case none
    /// A text that names no hours.
    case notHours(String)
    /// The days of this text are no days of the week.
    case notDays(String)
    /// They end when they begin.
    case noLength(String)
    /// They never end.
    case endless
}

extension DailyHoursError: CustomStringConvertible {
    /// One sentence, with what to write.
    package var description: String {
        switch self {
        case .none: "no hours are named; write 22:00-07:00"
        case .notHours(let text):
            "\"\(CleanText.line(text, limit: 40))\" names no hours; write 22:00-07:00 or Mon-Fri 18:00-08:00"
        case .notDays(let text):
            "\"\(CleanText.line(text, limit: 40))\" names no days of the week; write Mon-Fri or Sat,Sun"
        case .noLength(let text):
            "\"\(CleanText.line(text, limit: 40))\" ends when it begins; a whole day is 00:00-24:00"
        case .endless: "these hours never end, so nothing would ever be shown"
        }
    }
}
