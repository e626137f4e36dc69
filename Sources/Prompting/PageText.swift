/// The text of a web page, for a bot: without markup, scripts and styles, a line for each block.
package enum PageText {
    /// What stands between such tags is no text.
    private static let hidden: Set<String> = ["script", "style", "template", "svg", "noscript", "iframe"]
    /// Tags that end a line.
    private static let blocks: Set<String> = [
        "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset", "figcaption",
        "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav",
        "ol", "option", "p", "pre", "section", "table", "title", "tr", "ul",
    ]

    /// The text of a page in HTML, which may be cut off or broken anywhere.
    ///
    /// - Complexity: O(length).
    package static func text(of html: some Sequence<UInt8>) -> String {
        let bytes = Array(html)
        var text = Gathered()
        var at = 0
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "<") else {
                let end = bytes[at...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
                text.add(bytes[at..<end])
                at = end
                continue
            }
            at = skip(bytes, from: at, &text)
        }
        return text.finish()
    }

    /// Passes over the tag or comment that begins at `start`, with what it hides; returns where it ends.
    private static func skip(_ bytes: [UInt8], from start: Int, _ text: inout Gathered) -> Int {
        if bytes[start...].starts(with: "<!--".utf8) {
            return find("-->", in: bytes, from: start + 4).map { $0 + 3 } ?? bytes.count
        }
        var at = start + 1
        let isEnd = at < bytes.count && bytes[at] == UInt8(ascii: "/")
        if isEnd { at += 1 }
        var name = ""
        while at < bytes.count, let letter = letter(bytes[at]) {
            name.unicodeScalars.append(letter)
            at += 1
        }
        // A sign that begins no tag, as in "a < b".
        if name.isEmpty, at < bytes.count, bytes[at] != UInt8(ascii: "!"), bytes[at] != UInt8(ascii: "?") {
            text.add(bytes[start...start])
            return start + 1
        }
        at = end(ofTag: bytes, from: at)
        if blocks.contains(name) { text.endLine() }
        if name == "td" || name == "th" { text.add(" ".utf8.map(\.self)[...]) }
        guard !isEnd, hidden.contains(name) else { return at }
        return find("</" + name, in: bytes, from: at) ?? bytes.count
    }

    private static func letter(_ byte: UInt8) -> Unicode.Scalar? {
        switch byte {
        case 0x41...0x5A: Unicode.Scalar(byte + 0x20)
        case 0x61...0x7A, 0x30...0x39: Unicode.Scalar(byte)
        default: nil
        }
    }

    /// Behind the `>` of a tag; one within quotes does not end it.
    private static func end(ofTag bytes: [UInt8], from start: Int) -> Int {
        var quote: UInt8?
        for at in start..<bytes.count {
            switch (quote, bytes[at]) {
            case (nil, UInt8(ascii: ">")): return at + 1
            case (nil, UInt8(ascii: "\"")), (nil, UInt8(ascii: "'")): quote = bytes[at]
            case (let open?, let byte) where open == byte: quote = nil
            default: break
            }
        }
        return bytes.count
    }

    /// Where `word` begins, in letters of any case.
    private static func find(_ word: String, in bytes: [UInt8], from start: Int) -> Int? {
        let word = Array(word.utf8)
        guard start + word.count <= bytes.count else { return nil }
        return (start...bytes.count - word.count).first { place in
            word.indices.allSatisfy { lower(bytes[place + $0]) == word[$0] }
        }
    }

    private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }

    /// Text as it is gathered: white space is one blank, and blank lines are left out.
    private struct Gathered {
        private var lines: [[UInt8]] = []
        private var line: [UInt8] = []

        mutating func add(_ piece: ArraySlice<UInt8>) {
            for byte in piece {
                let isSpace = byte == 0x20 || (0x09...0x0D).contains(byte)
                if !isSpace {
                    line.append(byte)
                } else if line.last != 0x20, !line.isEmpty {
                    line.append(0x20)
                }
            }
        }

        mutating func endLine() {
            while line.last == 0x20 { line.removeLast() }
            if !line.isEmpty { lines.append(line) }
            line = []
        }

        mutating func finish() -> String {
            endLine()
            return CharacterEntities.read(
                in: String(decoding: Array(lines.joined(separator: [0x0A])), as: UTF8.self))
        }
    }
}

/// The characters that a page writes as `&NAME;`.
enum CharacterEntities {
    private static let names: [String: Unicode.Scalar] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "hellip": "…", "ndash": "–",
        "mdash": "—", "copy": "©", "reg": "®", "trade": "™", "euro": "€", "pound": "£", "deg": "°",
        "times": "×", "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "laquo": "«", "raquo": "»",
        "middot": "·", "bull": "•", "auml": "ä", "ouml": "ö", "uuml": "ü", "Auml": "Ä", "Ouml": "Ö",
        "Uuml": "Ü", "szlig": "ß", "eacute": "é", "egrave": "è", "agrave": "à", "ccedil": "ç",
    ]
    private static let longest = 10

    /// The text with what they mean; what is none of them stays as it is.
    static func read(in text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        var result = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let first = rest.first {
            if first == "&", let end = rest.prefix(longest + 2).firstIndex(of: ";"),
                let scalar = scalar(String(rest[rest.index(after: rest.startIndex)..<end]))
            {
                result.append(scalar)
                rest = rest[rest.index(after: end)...]
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        return String(result)
    }

    private static func scalar(_ name: String) -> Unicode.Scalar? {
        guard name.hasPrefix("#") else { return names[name] }
        let digits = name.dropFirst()
        let number =
            digits.first.map { "xX".contains($0) } == true
            ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        guard let scalar = number.flatMap(Unicode.Scalar.init) else { return nil }
        // Those that steer a terminal are no text.
        return scalar.properties.generalCategory == .control ? " " : scalar
    }
}
