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

extension PhraseReader {
    // MARK: What is refused with a reason of its own

    /// The fault of a word that fits nowhere.
    func lost(_ wanted: String? = nil) -> CronError {
        if let foreign = tokens.first(where: { PhraseWords.isForeign($0.text) }) {
            return fault(
                at: foreign.range, "phrases are understood in English only",
                fix: "say it as in \"every weekday at 9:30\"")
        }
        guard position < tokens.count else {
            return fault(
                wanted.map { "the phrase ends where \($0) is expected" } ?? "the phrase ends too early",
                fix: wanted == nil ? "say it as in \"every weekday at 9:30\"" : nil)
        }
        if let refusal = PhraseWords.refusal(word) { return fault(refusal.reason, fix: refusal.fix) }
        if word.split(separator: "/").count > 1, word.allSatisfy({ $0.isNumber || $0 == "/" }) {
            return fault("which number is the month is not said", fix: "write it as in 24 december")
        }
        return fault(
            "\"\(word)\" was not understood here",
            fix: wanted.map { "write \($0)" } ?? "say it as in \"every weekday at 9:30\"")
    }

    /// `twice a day`, where the times follow; refuses `3 times a week`, which counts days and names none.
    ///
    /// Says whether it was there.
    mutating func counts() throws(CronError) -> Bool {
        let start = position
        let count: Int
        var distance = 1
        switch word {
        case "twice": count = 2
        case "thrice": count = 3
        default:
            guard word(1) == "times", let number = PhraseWords.number(word), number > 0 else { return false }
            count = number
            distance = 2
        }
        if ["a", "an", "per", "every", "each"].contains(word(distance)) { distance += 1 }
        let names: [String: PhraseWords.Unit] = [
            "hourly": .hour, "daily": .day, "weekly": .week, "monthly": .month, "yearly": .year,
        ]
        let unit = PhraseWords.unit(word(distance)) ?? names[word(distance)]
        let (what, fix): (String, String) =
            switch unit {
            case .second: ("when exactly", "say every second")
            case .minute: ("at which seconds", "say every \(max(1, 60 / count)) seconds")
            case .hour: ("at which minutes", "say every \(max(1, 60 / count)) minutes")
            case .week: ("on which days", "name them: on monday and thursday at 9")
            case .month: ("on which days", "name them: on the 1st and 15th at 9")
            case .year: ("on which days", "name them: on the 1st in january and july at 9")
            case .day, nil: ("at which hours", "name the times: every day at 9 and 17")
            }
        let refusal = fault("\(what) is not said", fix: fix)
        guard unit == .day else { throw refusal }
        position += distance + 1
        meaning.timesADay = (count, refusal)
        try interval(1, .day, from: start)
        return true
    }

    /// Refuses words that people read in two ways.
    func refuseTwoReadings() throws(CronError) {
        switch word {
        case "bimonthly", "bi-monthly":
            throw fault(
                "this can be twice a month or every two months",
                fix: "say on the 1st and 15th, or every 2 months")
        case "biannually", "biannual", "bi-annually", "biyearly":
            throw fault(
                "this can be twice a year or every two years", fix: "say every 6 months, or name the dates")
        case "semiweekly", "semi-weekly", "semimonthly", "semi-monthly":
            throw fault("on which days is not said", fix: "name them: on monday and thursday at 9")
        default: return
        }
    }

    /// Refuses what the clauses left open once all of them are known.
    func settleDoubts() throws(CronError) {
        if let (count, refusal) = meaning.timesADay, meaning.times.count != count { throw refusal }
        if let place = meaning.biweekly, meaning.weekdays.nonzeroBitCount != 1 {
            throw fault(
                at: place, "this can be twice a week or every two weeks",
                fix: "say every 2 weeks on monday, or on monday and thursday")
        }
        if let place = meaning.monthEnd, meaning.times.isEmpty {
            throw fault(at: place, "when on the last day is not said", fix: "add a time, such as at 23:00")
        }
    }

    /// `during june`, `during the week`: days; hours of work are nobody's in particular.
    mutating func during() throws(CronError) {
        position += 1
        if PhraseWords.month(word) != nil { return try months() }
        _ = skip("the")
        try days()
    }
}

extension PhraseWords {
    /// Why a word that people use for times is refused, and what to write.
    static func refusal(_ word: String) -> (reason: String, fix: String)? {
        switch word {
        case "sunrise", "sunset", "dawn", "dusk":
            ("a schedule follows the clock, not the sun", "write the time, such as 6:30")
        case "christmas", "easter", "thanksgiving", "holiday", "holidays", "halloween":
            ("holidays are not known here", "write the date, such as every 24 december")
        case "business", "office", "working", "opening":
            ("which hours these are is not said", "write between 9 and 17")
        case "few", "couple", "several", "some":
            ("how many is not said", "write the number, such as every 3 hours")
        case "sometimes", "often", "regularly", "occasionally", "periodically", "constantly", "always",
            "randomly", "frequently", "24/7", "continuously":
            ("how often is not said", "say every 5 minutes")
        case "soon", "later", "asap", "eventually", "immediately", "now":
            ("when is not said", "say in 20 minutes, or name the time")
        case "lunch", "lunchtime", "teatime", "breakfast", "dinner", "bedtime":
            ("\"\(word)\" is not a time", "write the hour")
        case "before", "after", "by":
            ("only one limit is said", "write both, such as between 9 and 17")
        case "random": ("a random time is not one that can be repeated", "use a spread beside a time")
        default: nil
        }
    }

    /// Whether a clause begins with this word.
    static func isClauseStart(_ word: String) -> Bool {
        ["on", "at", "in", "from", "between", "except", "every", "each", "during"].contains(word)
            || weekday(word) != nil || isWeekdays(word) || isWeekend(word)
    }

    /// Whether a word is one of the usual ones of another language, or has letters that English lacks.
    static func isForeign(_ word: String) -> Bool {
        foreign.contains(word) || word.unicodeScalars.contains { !$0.isASCII }
    }

    private static let foreign: Set<String> = [
        // German and Dutch
        "jeden", "jede", "jedes", "alle", "uhr", "um", "taeglich", "stunde", "stunden", "minuten", "tag",
        "tage", "woche", "wochentags", "werktags", "montag", "dienstag", "mittwoch", "donnerstag", "freitag",
        "samstag", "sonntag", "elke", "uur", "dag", "maandag", "dinsdag", "woensdag", "donderdag", "vrijdag",
        "zaterdag", "zondag",
        // French
        "tous", "toutes", "chaque", "les", "jour", "jours", "heure", "heures", "semaine", "lundi", "mardi",
        "mercredi", "jeudi", "vendredi", "samedi", "dimanche", "midi", "minuit",
        // Spanish, Portuguese and Italian
        "cada", "todos", "todas", "los", "las", "dia", "dias", "hora", "horas", "semana", "lunes", "martes",
        "miercoles", "jueves", "viernes", "domingo", "ogni", "giorno", "ore", "settimana", "lunedi",
        "venerdi", "segunda-feira",
        // Polish, Swedish and Danish
        "codziennie", "co", "godzina", "varje", "hver", "klokken", "kl",
    ]
}
