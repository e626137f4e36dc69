import Timeline
import Tracking

/// A mail server that takes mails and passes them on: where it is, and how it is reached; valid by construction.
package struct MailServer: Hashable, Sendable {
    /// How the connection is encrypted.
    package enum Encryption: Hashable, Sendable {
        /// From the first byte: smtps.
        case immediate
        /// By STARTTLS, which the server has to offer.
        case startTLS
        /// Not at all.
        case none
    }

    /// The host in lower case; of an address of version 6 without the brackets.
    package let host: String
    /// The port; left out, 587, and 465 for smtps.
    package let port: Int
    /// How the connection is encrypted.
    package let encryption: Encryption
    /// The name to log in with; `nil`: without a login.
    package let user: String?
    /// The file of certificates to trust in place of the system's.
    package let authorities: String?
    /// Which addresses it may have.
    package let rule: AddressRule
    /// How long an attempt may take.
    package let timeout: Duration

    /// What may be logged of it.
    package var shown: String {
        (encryption == .immediate ? "smtps://" : "smtp://") + (host.contains(":") ? "[\(host)]" : host)
            + ":\(port)"
    }

    static let urlKey = "url"
    /// The key of the password, which comes with each attempt.
    package static let passwordKey = "password"
    private static let (tlsKey, userKey, authoritiesKey) = ("tls", "user", "ca")

    static let fields = [
        FormField(urlKey, .mailServer, "the mail server", example: "smtp://mail.example.org:587"),
        FormField(userKey, .word, "the name to log in with", example: "belfry@example.org"),
        FormField(passwordKey, .secrets, "the password of that user", example: "{ file: /path }"),
        FormField(tlsKey, .word, "how smtp is encrypted: starttls or none", example: "starttls"),
        FormField(authoritiesKey, .word, "the certificates to trust", example: "/etc/ssl/mail-ca.pem"),
        HTTPReach.fields[0],
    ]

    /// The server of a form's values; `nil` where they name none.
    /// - Throws: ``FormError`` for what is none, for mails in the clear or to a private address without an exception, and
    ///   for keys of a server where there is none.
    static func read(_ values: FormValues, timeout: Duration) throws(FormError) -> MailServer? {
        if let text = values.text(urlKey) { return try MailServer(text, values, timeout: timeout) }
        for key in [userKey, passwordKey, tlsKey, authoritiesKey, HTTPReach.allowKey] where values[key] != nil
        {
            throw .unfit(key, "\(key) is for a mail server; add url: smtp://host:587")
        }
        return nil
    }

    private init(_ text: String, _ values: FormValues, timeout: Duration) throws(FormError) {
        let isImmediate = text.lowercased().hasPrefix("smtps://")
        (host, port) = try Self.hostAndPort(text, isImmediate: isImmediate)
        switch (values.text(Self.tlsKey), isImmediate) {
        case (nil, true): encryption = .immediate
        case (nil, false), ("starttls", false): encryption = .startTLS
        case ("none", false): encryption = .none
        case (_, true):
            throw .unfit(Self.tlsKey, "smtps is always encrypted; leave out tls, or write smtp://")
        case (_, false): throw .unfit(Self.tlsKey, "tls is starttls, which is the default, or none")
        }
        let allow = values.exceptions(HTTPReach.allowKey)
        rule = AddressRule(host: host, isEncrypted: encryption != .none, allow: allow)
        self.timeout = timeout
        user = values.text(Self.userKey)
        authorities = values.text(Self.authoritiesKey)
        try check(values)
    }

    private func check(_ values: FormValues) throws(FormError) {
        if encryption == .none, !rule.mayBeException {
            throw .unfit(
                Self.tlsKey,
                "unencrypted mail goes only to hosts under `allow:`; add \(host), or leave out tls: none")
        }
        if let address = AddressRange.bytes(of: host), !rule.mayConnect(to: address) {
            throw .unfit(Self.urlKey, "\(FormError.notPublic(host: host))")
        }
        if let authorities, !authorities.hasPrefix("/") {
            throw .unfit(Self.authoritiesKey, "the file of certificates needs an absolute path")
        }
        if user != nil { try values.secrets(Self.passwordKey) }
        if values[Self.passwordKey] != nil { _ = try values.word(Self.userKey) }
    }

    private static func hostAndPort(
        _ text: String, isImmediate: Bool
    ) throws(FormError) -> (String, Int) {
        guard isImmediate || text.lowercased().hasPrefix("smtp://") else {
            throw .unfit(urlKey, "the address of a mail server begins with smtps:// or smtp://")
        }
        var authority = Array(text.utf8.dropFirst(isImmediate ? 8 : 7))
        if authority.last == UInt8(ascii: "/") { authority.removeLast() }
        if authority.contains(UInt8(ascii: "@")) {
            throw .unfit(
                urlKey,
                "a name or password in the address would be readable here; use `user:` and `password:`")
        }
        do throws(FormError) {
            let (host, port) = try HTTPAddress.hostAndPort(authority, authority.indices)
            return (host, port ?? (isImmediate ? 465 : 587))
        } catch {
            throw .unfit(urlKey, "\(error)")
        }
    }
}

/// A mail as a server gets it.
package struct MailLetter: Hashable, Sendable {
    /// The address that gets back what can't be delivered.
    package var sender: String
    /// The addresses it goes to.
    package var recipients: [String]
    /// Headers and text; lines end in a carriage return and a line feed.
    package var message: [UInt8]
}

/// One reply of a mail server.
package struct MailReply: Hashable, Sendable {
    /// Its code, 200...599.
    package var code: Int
    /// What it says behind the code, in one line.
    package var text: String

    /// A reply.
    package init(_ code: Int, _ text: String) {
        self.code = code
        self.text = text
    }

    /// Code and text, as far as a person reads it.
    var line: String { CleanText.line("\(code) \(text)", limit: 140) }
}

/// What a mail server replied to an attempt.
package struct MailAnswer: Hashable, Sendable {
    /// All replies, in order; the last one is the answer.
    package var replies: [MailReply]
    /// Who answered: scheme, host and port.
    package var server: String

    /// An answer.
    package init(_ replies: [MailReply], from server: String) {
        self.replies = replies
        self.server = server
    }

    /// The recipients that were refused while others were taken, each with the reply to it.
    ///
    /// One command is sent for each recipient, and the next one asks for the mail itself, to which the reply is 354.
    package func refused(of recipients: [String]) -> [(recipient: String, reply: MailReply)] {
        guard let data = replies.lastIndex(where: { $0.code == 354 }), data >= recipients.count else {
            return []
        }
        return zip(recipients, replies[(data - recipients.count)..<data]).filter { $0.1.code >= 400 }
    }
}

extension FailureTable where Answer == Int {
    /// What the codes of SMTP mean: 4xx may pass, 5xx is final.
    ///
    /// - Source: RFC 5321, section 4.2.1; RFC 4954, section 6.
    static var smtp: FailureTable {
        FailureTable(
            [
                Row(421...421, .retry, .serverError),
                Row(400...499, .retry, .askedAgain),
                Row(500...599, .giveUp, .rejected),
            ], otherwise: .retry, .badAnswer)
    }
}

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
