import Grouping
import Tracking

/// A condition on what a matter is about: `host=db1`, `job=~backup-.*`, `urgency!=critical`.
///
/// The keys are `job`, `bot`, `channel`, `urgency`, `event` (a word of routes), and the names of labels. As in
/// Alertmanager what is missing equals the empty text, and a pattern matches the whole value.
package struct Matcher: Hashable, Sendable {
    /// How the value is compared.
    package enum Comparison: String, Hashable, Sendable, CaseIterable {
        case matches = "=~"
        case matchesNot = "!~"
        case differs = "!="
        case equals = "="
    }

    /// What is compared.
    package let key: String
    /// How.
    package let comparison: Comparison
    /// With what.
    package let value: String
    private let pattern: LinearPattern?

    /// The keys that are no labels.
    package static let keys = ["job", "bot", "channel", "urgency", "event"]

    /// A condition.
    ///
    /// - Throws: what is wrong with it.
    package init(_ key: String, _ comparison: Comparison, _ value: String) throws(MatcherError) {
        guard !key.isEmpty, key.utf8.count <= 63, key.allSatisfy(Self.isKeyCharacter) else {
            throw .badKey(key)
        }
        guard value.utf8.count <= 256 else { throw .tooLong(key) }
        (self.key, self.comparison, self.value) = (key, comparison, value)
        switch comparison {
        case .equals, .differs:
            pattern = nil
            try Self.check(value, of: key)
        case .matches, .matchesNot:
            do throws(LinearPattern.Fault) {
                pattern = try LinearPattern("^(" + value + ")$")
            } catch {
                throw .badPattern(value, error.message)
            }
        }
    }

    /// Reads its text form; quotes around the value are left out.
    ///
    /// - Throws: what is wrong with it.
    package init(_ text: String) throws(MatcherError) {
        guard let end = text.firstIndex(where: { "=!".contains($0) }),
            let comparison = Comparison.allCases.first(where: { text[end...].hasPrefix($0.rawValue) })
        else { throw .noComparison(text) }
        var value = text[end...].dropFirst(comparison.rawValue.count)
        if value.count > 1, value.first == "\"", value.last == "\"" { value = value.dropFirst().dropLast() }
        try self.init(String(text[..<end]), comparison, String(value))
    }

    /// The text form.
    package var text: String { key + comparison.rawValue + value }

    /// Whether it holds for a matter on a channel.
    package func matches(_ matter: Matter, on channel: String) -> Bool {
        matches(matter.topic, on: channel, event: RouteWord(eventType: matter.type)?.rawValue)
    }

    /// Whether it holds for what is about this, on a channel, as an event of that word.
    func matches(_ topic: Topic, on channel: String, event: String?) -> Bool {
        let found: String? =
            switch key {
            case "job": topic.job
            case "bot": topic.bot
            case "channel": channel
            case "urgency": topic.urgency.rawValue
            case "event": event
            default: topic.labels[key]
            }
        return holds(for: found ?? "")
    }

    /// Whether it asks for a label of the job.
    package var needsLabels: Bool { !Self.keys.contains(key) }

    /// Whether it holds for everything, or at least wherever the key is missing.
    var holdsForNothing: Bool {
        switch key {
        case "urgency": Urgency.allCases.allSatisfy { holds(for: $0.rawValue) }
        case "event": RouteWord.allCases.allSatisfy { holds(for: $0.rawValue) }
        default: holds(for: "")
        }
    }

    private func holds(for text: String) -> Bool {
        switch comparison {
        case .equals: text == value
        case .differs: text != value
        case .matches: pattern?.isFound(in: text) ?? false
        case .matchesNot: !(pattern?.isFound(in: text) ?? false)
        }
    }

    private static func isKeyCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "_-./".contains(character))
    }

    /// A word that nothing ever has is a mistake.
    private static func check(_ value: String, of key: String) throws(MatcherError) {
        switch key {
        case "urgency" where Urgency(rawValue: value) == nil:
            throw .unknownWord(value, of: key, known: Urgency.allCases.map(\.rawValue))
        case "event" where RouteWord(rawValue: value) == nil:
            throw .unknownWord(value, of: key, known: RouteWord.allCases.map(\.rawValue))
        default: return
        }
    }
}

/// Why a condition is refused.
package enum MatcherError: Error, Hashable, Sendable {
    /// It compares nothing.
    case noComparison(String)
    /// No key can have this name.
    case badKey(String)
    /// The value of this key is too long.
    case tooLong(String)
    /// The pattern can't be read, for this reason.
    case badPattern(String, String)
    /// Nothing ever has this value.
    case unknownWord(String, of: String, known: [String])
    /// There is none.
    case none
    /// All of them together hold for everything.
    case everything
}

extension MatcherError: CustomStringConvertible {
    /// One sentence.
    package var description: String {
        switch self {
        case .noComparison(let text):
            "\"\(CleanText.line(text, limit: 60))\" is no matcher: it compares nothing"
        case .badKey(let key):
            "\"\(CleanText.line(key, limit: 60))\" is no key of a matcher: a key has letters, digits, . _ and -"
        case .tooLong(let key): "the value of \(key) is longer than 256 bytes"
        case .badPattern(let text, let why):
            "the pattern \"\(CleanText.line(text, limit: 60))\" can't be read: \(why)"
        case .unknownWord(let word, let key, _):
            "no \(key) is called \"\(CleanText.line(word, limit: 60))\""
        case .none: "a silence needs a matcher"
        case .everything: "these matchers match everything, so nothing would notify you"
        }
    }

    /// What to write instead.
    package var hint: String {
        switch self {
        case .unknownWord(_, _, let known): "Known: \(known.joined(separator: ", "))."
        case .badPattern: "Write a regular expression, such as backup-.*"
        case .noComparison, .badKey, .tooLong, .none, .everything:
            "Write one such as job=backup, host=db1, bot=ops or job=~\"backup-.*\""
        }
    }
}

/// Rules found by what they match: only those are looked at that can hold.
///
/// A rule that asks for one job, or one bot, by name is filed under it; all others are looked at for every matter.
struct MatchIndex: Hashable, Sendable {
    private var byJob: [String: [Int]] = [:]
    private var byBot: [String: [Int]] = [:]
    private var others: [Int] = []

    /// Files the rule at `place` under the first of its conditions that names a job or a bot.
    mutating func add(_ matchers: [Matcher], at place: Int) {
        for matcher in matchers where matcher.comparison == .equals && !matcher.value.isEmpty {
            switch matcher.key {
            case "job": return byJob[matcher.value, default: []].append(place)
            case "bot": return byBot[matcher.value, default: []].append(place)
            default: continue
            }
        }
        others.append(place)
    }

    /// Calls `body` with the place of each rule that may hold for what is about this, in the order in which they were added.
    func forEach(about topic: Topic, _ body: (Int) -> Void) {
        let ofJob = topic.job.flatMap { byJob[$0] } ?? []
        let ofBot = topic.bot.flatMap { byBot[$0] } ?? []
        if ofJob.isEmpty, ofBot.isEmpty {
            for place in others { body(place) }
            return
        }
        var (job, bot, other) = (0, 0, 0)
        while job < ofJob.count || bot < ofBot.count || other < others.count {
            let nextJob = job < ofJob.count ? ofJob[job] : Int.max
            let nextBot = bot < ofBot.count ? ofBot[bot] : Int.max
            let nextOther = other < others.count ? others[other] : Int.max
            let next = min(nextJob, nextBot, nextOther)
            body(next)
            if next == nextJob { job += 1 } else if next == nextBot { bot += 1 } else { other += 1 }
        }
    }
}
