import Crypto
package import Curl
package import Delivery
import FoundationEssentials
package import Timeline

/// Hands mails to a mail server.
///
/// One attempt a call, on a connection of its own, and no memory between calls: retries, circuits and order are the
/// pump's. The address is judged when the connection is made, and nothing is sent before it is encrypted as the server's
/// settings demand.
package struct MailSender: EdgeChannel {
    /// The name it has in the config file.
    package let name: String
    /// A code of the server, the addresses, the password and the exceptions.
    package let identity: String
    private let mails: MailForm
    private let server: MailServer
    private let secrets: FormSecrets
    private let curl: CurlMulti

    /// A channel of this form, whose mails go to `server`.
    ///
    /// `curl` is used for mails alone: a server that is slow to say goodbye delays all else.
    package init(
        name: String, form: MailForm, to server: MailServer, secrets: FormSecrets = FormSecrets(),
        curl: CurlMulti
    ) {
        self.name = name
        mails = form
        self.server = server
        self.secrets = secrets
        self.curl = curl
        let keys = secrets[MailServer.passwordKey].map { SymmetricKey(data: Data($0.utf8)) }
        identity = HTTPExchange.identity(of: form.destination, keys)
    }

    /// The form it sends for.
    package var form: any ChannelForm { mails }

    /// Sends `parcel` once.
    package func deliver(_ parcel: Parcel, at now: Moment) async throws(DeliveryError) -> Receipt {
        try await attempt(parcel, at: now).result.get()
    }

    /// The same, with the server's last lines.
    package func attempt(_ parcel: Parcel, at now: Moment) async -> DeliveryReport {
        let replies: [CurlReply]
        do throws(CurlError) {
            replies = try await curl.send(mail(mails.letter(parcel)))
        } catch {
            return DeliveryReport(.failure(failure(error)))
        }
        let answer = MailAnswer(
            replies.map { MailReply($0.code, secrets.hidden(in: $0.text)) }, from: server.shown)
        let said = DeliveryReport.kept(
            replies.suffix(Self.keptReplies).map { "\($0.code) \(secrets.hidden(in: $0.text))" }.joined(
                separator: "\n"))
        if let failure = mails.judge(answer) { return DeliveryReport(.failure(failure), answer: said) }
        return DeliveryReport(
            .success(
                Receipt(
                    at: now, kind: .accepted, detail: mails.refusals(in: answer),
                    status: replies.last?.code, answer: said)))
    }

    /// So many of a server's replies are kept: those about the end of the mail, and none about the login.
    private static let keptReplies = 2

    private func mail(_ letter: MailLetter) -> CurlMail {
        let encryption: CurlMail.Encryption =
            switch server.encryption {
            case .immediate: .immediate
            case .startTLS: .startTLS
            case .none: .none
            }
        let password = secrets[MailServer.passwordKey].first
        let rule = server.rule
        return CurlMail(
            host: server.host, port: UInt16(clamping: server.port), encryption: encryption,
            login: server.user.map { CurlMail.Login(user: $0, password: password ?? "") },
            sender: letter.sender, recipients: letter.recipients, message: letter.message,
            // Greetings are delayed on purpose, against those who send what nobody wants.
            timeouts: CurlTimeouts(connect: server.timeout, total: server.timeout),
            authorities: server.authorities,
            addressGuard: AddressGuard(key: "mail \(rule.name)") { rule.mayConnect(to: $0.ip.bytes) })
    }

    private func failure(_ error: CurlError) -> DeliveryError {
        let failure = DeliveryError(error, from: server.shown)
        guard case .tls(let fault) = error else { return failure.saying(secrets.hidden(in: failure.detail)) }
        let hint =
            fault.isMissingStartTLS
            ? "the server offers no STARTTLS; write smtps://, or tls: none for a host under allow:"
            : "check the server's name and certificate, or name its certificates with ca:"
        return failure.saying("\(failure.detail); \(hint)")
    }
}
