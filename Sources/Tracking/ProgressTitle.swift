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
