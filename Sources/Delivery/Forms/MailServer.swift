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
