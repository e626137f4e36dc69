import CCurl

/// One mail: what to send, through which server, and the bounds it is kept in.
///
/// Proxies named in the environment are never used. Where the connection is to be encrypted, it is before anything is
/// sent on it, or there is no mail.
package struct CurlMail: Sendable {
    /// How the connection is encrypted.
    package enum Encryption: Hashable, Sendable {
        /// From the first byte.
        case immediate
        /// After the server's greeting, by STARTTLS; a server that does not offer it gets nothing.
        case startTLS
        /// Not at all.
        case none
    }

    /// Who sends it, to the server.
    package struct Login: Hashable, Sendable {
        package let user: String
        package let password: String

        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// The server: a name or an address; one of version 6 without brackets.
    package var host: String
    /// Its port.
    package var port: UInt16
    /// How the connection is encrypted.
    package var encryption: Encryption
    /// What it logs in with; `nil`: it does not.
    package var login: Login?
    /// The sender's address, to which the server returns what it can't deliver.
    package var sender: String
    /// The addresses it is sent to.
    ///
    /// One that the server refuses keeps it from no other.
    package var recipients: [String]
    /// Headers and text, whose lines end in a carriage return and a line feed.
    package var message: [UInt8]
    /// How long it may take.
    package var timeouts: CurlTimeouts
    /// A file of certificates to trust in place of the system's.
    package var authorities: String?
    /// Which addresses the server may have.
    package var addressGuard: AddressGuard

    /// A mail; left out, without a login, and to a server whose certificate the system trusts.
    package init(
        host: String, port: UInt16, encryption: Encryption, login: Login? = nil, sender: String,
        recipients: [String], message: [UInt8], timeouts: CurlTimeouts, authorities: String? = nil,
        addressGuard: AddressGuard
    ) {
        self.host = host
        self.port = port
        self.encryption = encryption
        self.login = login
        self.sender = sender
        self.recipients = recipients
        self.message = message
        self.timeouts = timeouts
        self.authorities = authorities
        self.addressGuard = addressGuard
    }

    /// What about it can't be sent, or `nil` when it can.
    var flaw: CurlError.Flaw? {
        let isHost = host.utf8.allSatisfy { CurlHeader.isTokenByte($0) || $0 == UInt8(ascii: ":") }
        guard !host.isEmpty, isHost else { return .url }
        // An address must not end its line, nor the brackets around it.
        let mailboxes = [sender] + recipients
        guard !recipients.isEmpty,
            mailboxes.allSatisfy({
                !$0.isEmpty && $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3C && $0 != 0x3E }
            })
        else { return .mailbox }
        let words = [login?.user, login?.password].compactMap(\.self)
        guard words.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }) else { return .login }
        guard authorities?.utf8.contains(0) != true else { return .authorities }
        return nil
    }

    /// The address of the server, as libcurl reads it.
    fileprivate var url: String {
        "\(encryption == .immediate ? "smtps" : "smtp")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

/// One reply of a mail server.
package struct CurlReply: Hashable, Sendable {
    /// Its code, 200...599.
    package let code: Int
    /// What it says behind the code, its lines joined by blanks.
    package let text: String

    /// The replies in what a server sent; lines that are none are left out.
    ///
    /// - Source: RFC 5321, section 4.2.1.
    static func list(_ bytes: [UInt8]) -> [CurlReply] {
        var (replies, words): ([CurlReply], [String]) = ([], [])
        for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            guard line.count >= 3, let code = Int(String(decoding: line.prefix(3), as: UTF8.self)) else {
                continue
            }
            let text = String(decoding: line.dropFirst(4), as: UTF8.self)
            if !text.isEmpty { words.append(text) }
            // A hyphen behind the code: the reply has another line.
            if line.dropFirst(3).first == UInt8(ascii: "-") { continue }
            replies.append(CurlReply(code: code, text: words.joined(separator: " ")))
            words = []
        }
        return replies
    }
}

extension CurlMulti {
    /// Sends a mail and waits until the server took it or refused it.
    ///
    /// While a server delays its farewell nothing else is sent, so mails have a ``CurlMulti`` of their own.
    /// - Returns: all that the server replied but its farewell, in order; the last one is its answer.
    /// - Throws: ``CurlError`` where that is no reply; what the server has then is not known.
    package func send(_ mail: CurlMail) async throws(CurlError) -> [CurlReply] {
        CurlReply.list(try await carry(.mail(mail)).body)
    }
}

/// What a transfer is for.
enum CurlErrand: Sendable {
    case request(CurlRequest)
    case mail(CurlMail)

    var flaw: CurlError.Flaw? {
        switch self {
        case .request(let request): request.flaw
        case .mail(let mail): mail.flaw
        }
    }

    var addressGuard: AddressGuard {
        switch self {
        case .request(let request): request.addressGuard
        case .mail(let mail): mail.addressGuard
        }
    }

    var timeouts: CurlTimeouts {
        switch self {
        case .request(let request): request.timeouts
        case .mail(let mail): mail.timeouts
        }
    }

    /// How many bytes of the answer are kept.
    var answerLimit: Int {
        switch self {
        case .request(let request): request.bodyLimit
        case .mail: 65_536
        }
    }
}

extension CurlTransfer {
    /// What this mail sends, and where to.
    func setMail(_ mail: CurlMail) throws(CurlError) {
        try set(CURLOPT_URL, mail.url)
        if mail.encryption == .startTLS { try set(CURLOPT_USE_SSL, Int(CURLUSESSL_ALL.rawValue)) }
        if let login = mail.login {
            try set(CURLOPT_USERNAME, login.user)
            try set(CURLOPT_PASSWORD, login.password)
        }
        if let authorities = mail.authorities { try set(CURLOPT_CAINFO, authorities) }
        try set(CURLOPT_MAIL_FROM, "<\(mail.sender)>")
        for recipient in mail.recipients { try append("<\(recipient)>") }
        try check(unsafe ccurl_set_list(easy, CURLOPT_MAIL_RCPT, list))
        try set(CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1)
        try set(CURLOPT_UPLOAD, 1)
        try check(unsafe ccurl_set_size(easy, CURLOPT_INFILESIZE_LARGE, mail.message.count))
        // A server closes a connection that it does not hear from; and it is one mail now and then.
        try set(CURLOPT_FORBID_REUSE, 1)
        try set(CURLOPT_SERVER_RESPONSE_TIMEOUT, max(1, Int(mail.timeouts.total.components.seconds)))
    }
}
