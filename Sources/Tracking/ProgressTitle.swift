/// The words beside a number that name the stretch of work it is about.
enum ProgressTitle {
    /// What a number counts: beside it these are no phase.
    private static let units: Set<String> = [
        "step", "steps", "file", "files", "item", "items", "part", "parts", "page", "pages", "chunk",
        "chunks",
        "block", "blocks", "batch", "batches", "row", "rows", "record", "records", "task", "tasks", "test",
        "tests",
        "number", "no",
    ]

    /// The words before the number when they are nothing but words, ended by a colon, a bar or nothing.
    ///
    /// What is counted is left out: `packing file 6 of 12` is about packing.
    static func before(_ words: ArraySlice<UInt8>) -> String? {
        var words = words
        trimBar(&words)
        let text = String(decoding: words, as: UTF8.self)
        var trimmed = text[...]
        while trimmed.last == " " || trimmed.last == ":" { trimmed.removeLast() }
        while trimmed.first == " " { trimmed.removeFirst() }
        guard trimmed.contains(where: \.isLetter), trimmed.utf8.count <= 64,
            trimmed.allSatisfy({ $0.isLetter || $0 == " " || $0 == ":" || $0 == "-" })
        else { return nil }
        let last = trimmed.split(separator: " ").last ?? ""
        guard units.contains(last.lowercased()) else { return String(trimmed) }
        trimmed.removeLast(last.count)
        while trimmed.last == " " { trimmed.removeLast() }
        return trimmed.isEmpty ? nil : String(trimmed)
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
