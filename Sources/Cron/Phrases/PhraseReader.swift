import Timeline

/// Reads a phrase clause by clause; what no clause knows is refused, with its place.
struct PhraseReader {
    let phrase: String
    let tokens: [PhraseToken]
    /// The zones that it may name.
    let zones: PhraseZones
    var position = 0
    var meaning = PhraseMeaning()

    init(_ phrase: String, zones: PhraseZones) {
        self.phrase = phrase
        self.zones = zones
        tokens = PhraseToken.split(phrase)
    }

    /// The word here, empty at the end.
    var word: String { position < tokens.count ? tokens[position].text : "" }

    /// The word `distance` further on.
    func word(_ distance: Int) -> String {
        position + distance < tokens.count ? tokens[position + distance].text : ""
    }

    /// The place of the word here; the end of the phrase after the last.
    var range: Range<Int> {
        position < tokens.count ? tokens[position].range : phrase.utf8.count..<phrase.utf8.count
    }

    /// The bytes from token `first` up to here.
    func range(from first: Int) -> Range<Int> {
        guard first < tokens.count else { return range }
        return tokens[first].range.lowerBound..<tokens[max(first, position - 1)].range.upperBound
    }

    /// Steps over the words if they are next.
    mutating func skip(_ words: String...) -> Bool {
        for (distance, wanted) in words.enumerated() where word(distance) != wanted { return false }
        position += words.count
        return true
    }

    /// Steps over one of the words.
    mutating func skip(any words: String...) -> Bool {
        guard words.contains(word), position < tokens.count else { return false }
        position += 1
        return true
    }

    func fault(
        kind: CronFault.Kind = .notUnderstood, at range: Range<Int>? = nil, _ message: String,
        fix: String? = nil
    ) -> CronError {
        CronError(text: phrase, CronFault(kind, at: range ?? self.range, message, fix: fix))
    }

    /// Reads the whole phrase.
    mutating func read() throws(CronError) -> PhraseMeaning {
        guard phrase.utf8.count <= CronParser.longest else {
            throw fault(
                kind: .tooLong, at: CronParser.longest..<phrase.utf8.count, "a phrase has at most 256 bytes")
        }
        guard !tokens.isEmpty else {
            throw fault(
                kind: .empty, at: 0..<phrase.utf8.count, "there is no phrase", fix: "write \"every day at 9\""
            )
        }
        while position < tokens.count {
            let start = position
            try clause()
            // "at 9, on monday": a comma between clauses says nothing, one at the end is a mistake.
            if word == ",", position + 1 < tokens.count, position > start { position += 1 }
        }
        try settlePartOfDay()
        try settleHalves()
        try settleExceptions()
        try settleDoubts()
        return meaning
    }

    private mutating func clause() throws(CronError) {
        switch word {
        case "every", "each": try every()
        case "at", "@": try at()
        case "on": try on()
        case "in": try inside()
        case "between", "from": try window()
        case "starting", "beginning":
            if word(1) == "of" { try days() } else { try firstDay() }
        case "during": try during()
        case "tonight":
            try partOfDay("night")
            try once(.today, words: 0)
        case "today", "tomorrow": try once(word == "today" ? .today : .tomorrow, words: 1)
        case "next", "this": try next()
        case "except", "excluding": try exceptions()
        // "every weekday but friday"; "but only when" joins.
        case "but" where word(1) != "only": try exceptions()
        case "once", "twice": try frequency()
        case "or", "and", "if", "when", "but": try join()
        case "manually": try event(.manual, words: 1)
        default:
            if let part = PhraseWords.partOfDay(word) { return try partOfDay(part) }
            if try namedInterval() { return }
            if try counts() { return }
            if try minutesOfHour() { return }
            if try afterLastRun() { return }
            if isWindow { return try limits(isBetween: false, from: position) }
            if isTime { return try times() }
            if try namedZone() { return }
            try days()
        }
    }

    // MARK: Once and events

    mutating func once(_ once: PhraseMeaning.Once, words: Int) throws(CronError) {
        guard meaning.once == nil else { throw fault("the day is said twice") }
        let start = position
        meaning.once = once
        position += words
        meaning.onceRange = range(from: start)
    }

    mutating func event(_ event: Schedule, words: Int) throws(CronError) {
        // "at startup" has one word before it, "on demand" two.
        guard position + words <= 2 else { throw lost() }
        meaning.event = event
        position += words
        guard position == tokens.count else { throw lost("nothing more") }
    }

    /// `next monday`, `this friday`.
    private mutating func next() throws(CronError) {
        guard let weekday = PhraseWords.weekday(word(1)), !word(1).hasSuffix("s") || word(1) == "tues" else {
            throw fault("\"\(word)\" is understood before a day of the week only")
        }
        try once(word == "next" ? .next(weekday: weekday) : .this(weekday: weekday), words: 2)
    }

    /// `15 minutes after the last run`, `15 minutes after boot`, `15 minutes from now`.
    private mutating func afterLastRun() throws(CronError) -> Bool {
        let start = position
        guard let duration = duration() else { return false }
        if skip("from", "now") {
            try once(.later(duration), words: 0)
            return true
        }
        guard skip("after") else {
            position = start
            return false
        }
        _ = skip(any: "the", "each", "every")
        _ = skip(any: "last", "previous")
        if skip(any: "boot", "startup", "reboot") {
            guard start == 0, position == tokens.count else { throw lost("nothing more") }
            meaning.event = .startup(delay: duration)
            return true
        }
        guard skip(any: "run", "end", "one") else { throw lost("the last run") }
        if !skip("has", "ended") { _ = skip(any: "ends", "ended", "finishes", "finished") }
        guard start == 0, position == tokens.count else { throw lost("nothing more") }
        meaning.event = .after(duration)
        return true
    }

    /// `20 minutes`, `an hour`, `half an hour`, `1h30m`, `2 hours and 30 minutes`; `nil` leaves the position.
    mutating func duration() -> Duration? {
        let start = position
        var total = Duration.zero
        while let part = durationPart() {
            total += part
            let beforeAnd = position
            _ = skip(any: "and", ",")
            guard PhraseWords.number(word) != nil, PhraseWords.unit(word(1)) != nil else {
                position = beforeAnd
                break
            }
        }
        guard total > .zero else {
            position = start
            return nil
        }
        return total
    }

    private mutating func durationPart() -> Duration? {
        if skip("half", "an", "hour") { return .seconds(1800) }
        if skip("a", "quarter", "of", "an", "hour") { return .seconds(900) }
        if let part = fraction() { return part }
        if let number = word == "a" || word == "an" ? 1 : PhraseWords.number(word),
            let unit = PhraseWords.unit(word(1)), let seconds = unit.seconds
        {
            position += 2
            let half = !unit.isLong && seconds > 1 && skip("and", "a", "half")
            return .seconds(number * seconds + (half ? seconds / 2 : 0))
        }
        if word.utf8.first.map({ $0 &- 0x30 < 10 }) == true, let duration = try? Duration(text: glued(word)) {
            position += 1
            return duration
        }
        return nil
    }

    /// `1.5 hours`, `two and a half minutes`: whole seconds of hours and minutes only.
    private mutating func fraction() -> Duration? {
        if let number = PhraseWords.number(word), word(1) == "and", word(2) == "a", word(3) == "half",
            let unit = PhraseWords.unit(word(4)), unit == .hour || unit == .minute, let size = unit.seconds
        {
            position += 5
            return .seconds(number * size + size / 2)
        }
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let whole = Int(parts[0]), let part = Int(parts[1]), whole < 1000,
            word.utf8.allSatisfy({ $0 == 0x2E || $0 &- 0x30 < 10 }), (1...3).contains(parts[1].utf8.count),
            let unit = PhraseWords.unit(word(1)), unit == .hour || unit == .minute, let size = unit.seconds
        else { return nil }
        let scale = [10, 100, 1000][parts[1].utf8.count - 1]
        guard part * size % scale == 0 else { return nil }
        position += 2
        return .seconds(whole * size + part * size / scale)
    }

    /// `15min` as the duration text `15m`.
    private func glued(_ word: String) -> String {
        let digits = word.prefix { $0.isNumber }
        guard let unit = PhraseWords.unit(String(word.dropFirst(digits.count))) else { return word }
        return String(digits) + unit.name.prefix(1)
    }
}
