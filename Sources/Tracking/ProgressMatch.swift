/// A number in a record that might be progress, and the template it was printed with.
struct ProgressMatch: Hashable {
    /// How the value is meant.
    enum Scale: Hashable {
        /// `N%`.
        case percent
        /// `n/N` or `n of N`; of such records the total is kept.
        case amounts
        /// A JSON member whose name marks it as a fraction.
        case fraction
        /// A JSON member that may be a fraction or a percentage; the values decide.
        case either
    }

    /// The value as printed; for amounts, the part done in percent.
    var value: Double
    /// How to read ``value``.
    var scale: Scale
    /// The amounts of `n/N`.
    var amounts: ProgressReport?
    /// The words in front of the number, when they are a title: `Receiving objects`.
    var title: String?
    /// The record's own words where they name what is counted: `packing file 6 of 12`.
    var counting: String?
    /// The word behind a number in brackets, when it names what is done to one file of many: `Building`.
    var activity: String?
    /// What stays the same from one record to the next.
    var template: [UInt8]

    /// What a reader of one tool's records found.
    init(
        value: Double, scale: Scale, amounts: ProgressReport?, title: String?, counting: String?,
        template: [UInt8]
    ) {
        (self.value, self.scale, self.amounts) = (value, scale, amounts)
        (self.title, self.counting, self.template) = (title, counting, template)
    }

    /// Finds the first of: a JSON member, `N%`, `n/N` or `n of N`.
    ///
    /// Records of a tool that still counts its work
    /// (rsync's `ir-chk`) have none.
    init?(_ record: [UInt8]) {
        if record.first(where: { $0 != 0x20 }) == UInt8(ascii: "{") {
            self.init(json: record[...])
        } else {
            self.init(text: record)
        }
    }

    private init?(json record: ArraySlice<UInt8>) {
        guard let json = JSON(reported: record) else { return nil }
        let names: [(String, Scale)] = [
            ("percent_done", .fraction), ("percentage", .percent), ("progress", .either),
        ]
        for (name, scale) in names {
            guard let value = json[name]?.double, value >= 0 else { continue }
            guard value <= (scale == .fraction ? 1 : 100) else { return nil }
            self.value = value
            self.scale = scale
            template = Array(name.utf8)
            return
        }
        return nil
    }

    private init?(text: [UInt8]) {
        var ratio: (range: Range<Int>, report: ProgressReport)?
        var index = 0
        while index < text.count {
            guard isDigit(text[index]) else {
                index += 1
                continue
            }
            let number = numberRange(in: text, from: index)
            index = number.upperBound
            guard startsAlone(text, number.lowerBound) else { continue }
            if byte(text, index) == UInt8(ascii: "%") {
                guard let percent = ReportNumber.decimal(text[number]), percent <= 100 else { continue }
                if contains(text, "ir-chk") { return nil }
                let place = number.lowerBound..<(index + 1)
                self.init(value: percent, scale: .percent, at: place, in: text)
                return
            }
            if ratio == nil, let found = Self.amounts(in: text, from: number) {
                ratio = (number.lowerBound..<found.end, found.report)
                index = found.end
            }
        }
        guard let ratio, let progress = ratio.report.progress else { return nil }
        guard !Self.isCountOfTries(text[..<ratio.range.lowerBound]) else { return nil }
        self.init(value: progress * 100, scale: .amounts, at: ratio.range, in: text)
        amounts = ratio.report
    }

    private init(value: Double, scale: Scale, at place: Range<Int>, in text: [UInt8]) {
        self.value = value
        self.scale = scale
        let words = text[..<place.lowerBound]
        title = ProgressTitle.before(words)
        activity = ProgressTitle.after(words, text[place.upperBound...])
        if scale == .amounts {
            counting = ProgressTitle.counting(words, text[place], text[place.upperBound...])
        }
        template = Self.template(words) + [scale == .percent ? UInt8(ascii: "%") : UInt8(ascii: "/")]
    }

    /// `n/N` or `n of N` that stands alone: not a date, a path or a rate.
    private static func amounts(
        in text: [UInt8], from first: Range<Int>
    ) -> (end: Int, report: ProgressReport)? {
        let isFraction = byte(text, first.upperBound) == UInt8(ascii: "/")
        guard let start = isFraction ? first.upperBound + 1 : endOfOf(text, first.upperBound),
            let next = byte(text, start), isDigit(next)
        else { return nil }
        let second = numberRange(in: text, from: start)
        let rest = text[second.upperBound...]
        guard isFraction ? endsFraction(rest) : endsAmount(rest) else { return nil }
        guard let done = ReportNumber.decimal(text[first]), let total = ReportNumber.decimal(text[second]),
            total >= 2, let report = ReportNumber.amounts(done, of: total)
        else { return nil }
        return (second.upperBound, report)
    }

    /// Whether `n/N` may end before `rest`: it is no longer path or unit, and no day before a time of day.
    private static func endsFraction(_ rest: ArraySlice<UInt8>) -> Bool {
        guard let after = rest.first else { return true }
        if isLetter(after) || after == UInt8(ascii: "/") { return false }
        let time = rest.dropFirst().prefix(6)
        let digits = time.prefix { isDigit($0) }.count
        return
            !(after == 0x20 && (1...2).contains(digits) && time.dropFirst(digits).first == UInt8(ascii: ":"))
    }

    /// Whether `n of N` may end before `rest`: not in the middle of a date, a version or a percentage, nor before what
    /// went wrong.
    private static func endsAmount(_ rest: ArraySlice<UInt8>) -> Bool {
        guard let after = rest.first else { return true }
        guard " ,;:.)]".utf8.contains(after) else { return false }
        if after == UInt8(ascii: "."), let next = rest.dropFirst().first, next != 0x20 { return false }
        let words = lowercased(rest)
        return !["fail", "error", "skip", "missing", "lost", "retr", "attempt", "wrong"].contains {
            words.contains($0)
        }
    }

    /// Whether the words before a count say that it counts tries, which come no nearer to an end.
    private static func isCountOfTries(_ words: ArraySlice<UInt8>) -> Bool {
        let last = lowercased(words).split { !$0.isLetter }.last
        return ["attempt", "attempts", "try", "tries", "retry", "retries", "retrying"].contains(last)
    }

    /// The last word before the number and the marks after it: what a tool repeats while file names,
    /// amounts and bars around it change.
    private static func template(_ words: ArraySlice<UInt8>) -> [UInt8] {
        var template: [UInt8] = []
        var hasWord = false
        for byte in words.reversed() {
            if isLetter(byte) {
                hasWord = true
            } else if hasWord || isDigit(byte) || byte >= 0x80 {
                break
            } else if byte == 0x20 || isBar(byte) {
                continue
            }
            template.append(byte)
            if template.count == 24 { break }
        }
        return template
    }
}

private func byte(_ text: [UInt8], _ index: Int) -> UInt8? { index < text.count ? text[index] : nil }

private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

private func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

/// What bars are drawn with, besides blocks.
private func isBar(_ byte: UInt8) -> Bool { "=#>-.*_~".utf8.contains(byte) }

private func lowercased(_ text: ArraySlice<UInt8>) -> String {
    String(decoding: text, as: UTF8.self).lowercased()
}

/// Where the number after ` of ` or ` out of ` begins, if that stands at `index`.
private func endOfOf(_ text: [UInt8], _ index: Int) -> Int? {
    for word: StaticString in [" of ", " out of "] {
        let word = Array(word.description.utf8)
        if text[min(index, text.count)...].starts(with: word) { return index + word.count }
    }
    return nil
}

/// The digits from `start`, with one point inside if digits follow it.
private func numberRange(in text: [UInt8], from start: Int) -> Range<Int> {
    var end = start
    while let digit = byte(text, end), isDigit(digit) { end += 1 }
    if byte(text, end) == UInt8(ascii: "."), let next = byte(text, end + 1), isDigit(next) {
        end += 1
        while let digit = byte(text, end), isDigit(digit) { end += 1 }
    }
    return start..<end
}

/// Whether the number at `index` is not the tail of a word, a path, a version, an amount or a negative.
private func startsAlone(_ text: [UInt8], _ index: Int) -> Bool {
    guard index > 0 else { return true }
    let before = text[index - 1]
    return !isLetter(before) && !isDigit(before) && !"/.,-+:_".utf8.contains(before)
}

private func contains(_ text: [UInt8], _ word: StaticString) -> Bool {
    let word = Array(word.description.utf8)
    guard text.count >= word.count else { return false }
    return (0...(text.count - word.count)).contains { text[$0...].starts(with: word) }
}
