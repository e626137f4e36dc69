/// A number in a record that might be progress, and the template it was printed with.
struct ProgressMatch: Hashable {
    /// How the value is meant.
    enum Scale: Hashable {
        /// `N%`.
        case percent
        /// `n/N`; of such records the total is kept.
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
    /// What stays the same from one record to the next.
    var template: [UInt8]

    /// Finds the first of: a JSON member, `N%`, `n/N`.
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
                self.init(value: percent, scale: .percent, before: number.lowerBound, in: text)
                return
            }
            if ratio == nil, let found = Self.amounts(in: text, from: number) {
                ratio = (number.lowerBound..<found.end, found.report)
                index = found.end
            }
        }
        guard let ratio, let progress = ratio.report.progress else { return nil }
        self.init(value: progress * 100, scale: .amounts, before: ratio.range.lowerBound, in: text)
        amounts = ratio.report
    }

    private init(value: Double, scale: Scale, before end: Int, in text: [UInt8]) {
        self.value = value
        self.scale = scale
        let words = text[..<end]
        title = Self.title(words)
        template = Self.template(words) + [scale == .percent ? UInt8(ascii: "%") : UInt8(ascii: "/")]
    }

    /// `n/N` that stands alone: not a date, a path or a rate.
    private static func amounts(
        in text: [UInt8], from first: Range<Int>
    ) -> (end: Int, report: ProgressReport)? {
        guard byte(text, first.upperBound) == UInt8(ascii: "/"),
            let next = byte(text, first.upperBound + 1), isDigit(next)
        else { return nil }
        let second = numberRange(in: text, from: first.upperBound + 1)
        if let after = byte(text, second.upperBound), isLetter(after) || after == UInt8(ascii: "/") {
            return nil
        }
        guard let done = ReportNumber.decimal(text[first]), let total = ReportNumber.decimal(text[second]),
            total >= 2, let report = ReportNumber.amounts(done, of: total)
        else { return nil }
        return (second.upperBound, report)
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

    /// The words before the number when they are nothing but words, ended by a colon or nothing.
    private static func title(_ words: ArraySlice<UInt8>) -> String? {
        let text = String(decoding: words, as: UTF8.self)
        var trimmed = text[...]
        while trimmed.last == " " || trimmed.last == ":" { trimmed.removeLast() }
        while trimmed.first == " " { trimmed.removeFirst() }
        guard trimmed.contains(where: \.isLetter), trimmed.utf8.count <= 64,
            trimmed.allSatisfy({ $0.isLetter || $0 == " " || $0 == ":" || $0 == "-" })
        else { return nil }
        return String(trimmed)
    }
}

private func byte(_ text: [UInt8], _ index: Int) -> UInt8? { index < text.count ? text[index] : nil }

private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

private func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

/// What bars are drawn with, besides blocks.
private func isBar(_ byte: UInt8) -> Bool { "=#>-.*_~".utf8.contains(byte) }

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
