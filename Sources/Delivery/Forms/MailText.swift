import Timeline
import Tracking

/// A mail as a mail program reads it: headers, and a text that is there twice, plain and as HTML.
///
/// - Source: RFC 5322, RFC 2045 to 2047.
struct MailText {
    private var headers: [(name: String, value: String)] = []
    private var plain: String
    private var html: String

    /// A mail of this text; its headers are added in the order in which they shall stand.
    init(_ text: String, markup: NoticeMarkup?) {
        switch markup {
        case nil: (plain, html) = (text, FormText.html(text))
        case .markdown:
            let markdown = Markdown(text)
            (plain, html) = (markdown.text(for: PlainPlace()), markdown.text(for: HTMLPlace()))
        case .markdownLines:
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
                Markdown.spans(of: String($0))
            }
            func show(_ place: some MarkdownPlace) -> String {
                lines.map { $0.map(place.show).joined() }.joined(separator: "\n")
            }
            (plain, html) = (show(PlainPlace()), show(HTMLPlace()))
        }
    }

    /// Adds text without markup at the end.
    mutating func append(_ text: String) {
        plain += text
        html += FormText.html(text)
    }

    /// Adds a header line; `nil` adds none.
    mutating func add(_ name: String, _ value: String?) {
        if let value { headers.append((name, value)) }
    }

    /// All of it, with the line ends that mail programs of Unix read.
    var bytes: [UInt8] {
        let page = "<html><body><div style=\"white-space: pre-wrap\">\(html)</div></body></html>\n"
        var lines = headers.map { "\($0.name): \($0.value)" }
        lines += [
            "MIME-Version: 1.0", "Content-Type: multipart/alternative; boundary=\"\(Self.boundary)\"", "",
        ]
        for (type, part) in [("plain", plain + "\n"), ("html", page)] {
            lines += [
                "--\(Self.boundary)", "Content-Type: text/\(type); charset=utf-8",
                "Content-Transfer-Encoding: base64", "",
            ]
            lines += Self.base64Lines(part)
        }
        lines += ["--\(Self.boundary)--", ""]
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// A text in a header: as it is, or encoded where a reader would not see it so.
    static func words(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !text.contains("=?")
        guard !isPlain else { return text }
        var words: [String] = []
        var word: [UInt8] = []
        for scalar in text.unicodeScalars {
            let next = Array(String(scalar).utf8)
            // A line with encoded words has at most 76 characters, and a word holds whole characters.
            if word.count + next.count > 39 {
                words.append(base64(word))
                word = []
            }
            word += next
        }
        words.append(base64(word))
        return words.map { "=?UTF-8?B?\($0)?=" }.joined(separator: "\n ")
    }

    /// The left side of an id: each byte that could not stand there as two hexadecimal digits.
    static func atom(_ text: String) -> String {
        text.utf8.reduce(into: "") { atom, byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F:
                atom.unicodeScalars.append(Unicode.Scalar(byte))
            default: atom += (byte < 16 ? "=0" : "=") + String(byte, radix: 16)
            }
        }
    }

    /// `Mon, 23 Nov 2026 15:04:05 +0000`.
    static func date(_ moment: Moment) -> String {
        let time = CivilTime(moment)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let clock = [time.hour, time.minute, time.second].map(two).joined(separator: ":")
        return
            "\(days[time.date.weekday]), \(time.date.day) \(months[time.date.month - 1]) \(time.date.year) "
            + "\(clock) +0000"
    }

    /// No line of base64 can be one of its lines.
    private static let boundary = "=_belfry_="
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func base64Lines(_ text: String) -> [String] {
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: 57).map {
            base64(Array(bytes[$0..<min($0 + 57, bytes.count)]))
        }
    }

    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

    private static func base64(_ bytes: [UInt8]) -> String {
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start...].prefix(3)
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                text.append(place <= group.count ? digits[bits >> (18 - 6 * place) & 63] : "=")
            }
        }
        return text
    }
}
