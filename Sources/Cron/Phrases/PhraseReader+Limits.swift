import Timeline

extension PhraseReader {
    // MARK: Limits of the day

    /// `between 9 and 17`, `from 9:00 through 17:45`, `from monday to friday`, `from june to august`.
    mutating func window() throws(CronError) {
        let start = position
        let isBetween = word == "between"
        position += 1
        if !isBetween, isoDate() != nil {
            position = start
            return try firstDay()
        }
        if PhraseWords.month(word) != nil { return try months() }
        if PhraseWords.weekday(word) != nil || word == "the" || PhraseWords.ordinal(word) != nil {
            return try days()
        }
        try limits(isBetween: isBetween, from: start)
    }

    /// Whether limits without a word in front of them stand here: `8 to 18`, `9am-5pm`.
    var isWindow: Bool {
        guard word.first?.isNumber == true || word == "noon" || word == "midnight" else { return false }
        let ends = word.split(separator: "-", omittingEmptySubsequences: false)
        if ends.count == 2, ends.allSatisfy({ $0.first?.isNumber == true }) {
            return PhraseWords.month(word(1)) == nil && PhraseWords.unit(word(1)) == nil
        }
        var probe = self
        guard (try? probe.time()) != nil, ["to", "until", "through"].contains(probe.word) else {
            return false
        }
        probe.position += 1
        return (try? probe.time()) != nil && PhraseWords.month(probe.word) == nil
    }

    /// Two times of day with a word between them.
    mutating func limits(isBetween: Bool, from start: Int) throws(CronError) {
        guard meaning.window == nil else { throw fault(at: range(from: start), "the limits are said twice") }
        if let dash = word.firstIndex(of: "-") {
            let token = tokens[position]
            let left = String(token.text[..<dash])
            let right = String(token.text[token.text.index(after: dash)...])
            var inner = PhraseReader("from \(left) to \(right)", zones: zones)
            do {
                try inner.window()
            } catch {
                throw lost("limits such as between 9 and 17")
            }
            position += 1
            var window = inner.meaning.window
            window?.range = range(from: start)
            meaning.window = window
            return
        }
        let from = try time()
        var to: PhraseMeaning.Time?
        var isInclusive = false
        if isBetween {
            guard skip("and") else { throw lost("and") }
            to = try time()
        } else if word == "through" || word == "to" || word == "until" || word == "till" {
            isInclusive = word == "through"
            position += 1
            to = try time()
        }
        meaning.window = .init(from: from, to: to, isInclusive: isInclusive, range: range(from: start))
    }

    /// Refuses bare hours beside ones with am or pm: whether the bare one is before noon is not said.
    func settleHalves() throws(CronError) {
        let hours = meaning.times
        if hours.contains(where: \.isOpen), hours.contains(where: \.isHalved) {
            throw fault(
                at: meaning.timesRange, "which half of the day is not said of every time",
                fix: "write am or pm after each")
        }
        if let hour = hours.indices.lazy.compactMap({ Self.smallHour($0, among: hours) }).first {
            throw fault(
                at: meaning.timesRange, "which half of the day is not said of \(hour)",
                fix: "write \(hour)am or \(hour)pm, and am or pm after the other times")
        }
        guard let window = meaning.window, let to = window.to else { return }
        let isMixed = window.from.isOpen && to.isHalved || window.from.isHalved && to.isOpen
        // "from noon to 3" would end at night by a 24-hour clock.
        let isBackwards = to.isOpen && window.from.hour > to.hour && window.from.hour <= 12
        guard !isMixed, !isBackwards else {
            throw fault(
                at: window.range, "which half of the day is not said of both limits",
                fix: "write 9am and 5pm, or 9 and 17")
        }
    }

    /// The hour at a place when it is that of `9 and 5`, which people say of a working day.
    private static func smallHour(_ place: Int, among times: [PhraseMeaning.Time]) -> Int? {
        let time = times[place]
        guard time.isOpen, time.hour <= 6 else { return nil }
        let follows = times[..<place].contains { !$0.isHalved && $0.hour > time.hour && $0.hour <= 12 }
        return follows ? time.hour : nil
    }
}
