import Curl
import Delivery
import TestSupport
import Testing
import Timeline
import WebhookChannel

/// The sender of mails, before a real mail server.
@Suite(.timeLimit(.minutes(5))) struct `a mail to a server` {
    let curl: CurlMulti
    let now = Moment(seconds: 1_800_000_000)
    let parcel = Parcel(
        id: "0190-a", type: "run.failed", timestamp: Moment(seconds: 1_800_000_000),
        body: Array("Subject: backup failed\n\n.\n..two\nend\n".utf8), attempt: 1)

    init() throws {
        curl = try CurlMulti()
    }

    /// A sender to `port` of this machine; the login is `bell`, with `password`.
    private func sender(
        _ port: Int, scheme: String = "smtp", to: [String] = ["ops@example.org"], password: String? = nil,
        allow: [String] = ["localhost"], _ more: [String: String] = [:]
    ) throws -> MailSender {
        var values = FormValues()
        values["to"] = .words(to)
        values["from"] = .word("belfry@example.org")
        values["url"] = .word("\(scheme)://localhost:\(port)")
        values["allow"] = .exceptions(try allow.map { try AddressException($0) })
        values["timeout"] = .duration(.seconds(60))
        if password != nil {
            values["user"] = .word("bell")
            values["password"] = .secrets([.file("/x")])
        }
        for (key, value) in more { values[key] = .word(value) }
        let form = try MailForm(values)
        guard case .mail(_, let server) = form.carrier else { throw NotAServer() }
        let secrets = FormSecrets(password.map { ["password": [$0]] } ?? [:])
        return MailSender(name: "inbox", form: form, to: server, secrets: secrets, curl: curl)
    }

    private struct NotAServer: Error {}

    private func failure(_ sender: MailSender) async -> DeliveryError? {
        do throws(DeliveryError) {
            _ = try await sender.deliver(parcel, at: now)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["smtp", "smtps"])
    func `is sent encrypted, after a login, as it is`(scheme: String) async throws {
        let certificate = try SelfSignedCertificate(for: "localhost")
        let server = try await MailServerProcess(
            ["--tls", certificate.certificate, certificate.key, "--login", "bell", "pass word"]
                + (scheme == "smtps" ? ["--immediate"] : []))
        let sender = try sender(
            server.port, scheme: scheme, to: ["ops@example.org", "eve@example.org"], password: "pass word",
            ["ca": certificate.certificate])
        let receipt = try await sender.deliver(parcel, at: now)
        #expect(receipt.kind == .accepted && receipt.status == 250 && receipt.detail.isEmpty)
        #expect(receipt.answer?.contains("250 ") == true && receipt.answer?.contains("pass word") == false)
        let mail = try await server.mail()
        #expect(mail.from == "belfry@example.org" && mail.to == ["ops@example.org", "eve@example.org"])
        #expect(mail.tls && mail.user == "bell")
        #expect(
            mail.raw
                == "Message-ID: <0190-a@example.org>\r\nSubject: backup failed\r\n\r\n.\r\n..two\r\nend\r\n")
    }

    @Test func `is refused with a wrong password, which nobody reads`() async throws {
        let certificate = try SelfSignedCertificate(for: "localhost")
        let server = try await MailServerProcess(
            ["--tls", certificate.certificate, certificate.key, "--login", "bell", "right"])
        let sender = try sender(server.port, password: "wrong-password", ["ca": certificate.certificate])
        let error = await failure(sender)
        let detail =
            "smtp://localhost:\(server.port) answered 535 5.7.8 Authentication credentials invalid; "
            + "check user: and password:"
        #expect(error == .giveUp(.rejected, detail: detail, status: 535))
    }

    @Test func `reaches those who are not refused`() async throws {
        let server = try await MailServerProcess(["--refuse", "eve@example.org", "550 5.1.1 no such user"])
        let sender = try sender(
            server.port, to: ["eve@example.org", "ops@example.org"], ["tls": "none"])
        let receipt = try await sender.deliver(parcel, at: now)
        #expect(receipt.status == 250)
        #expect(receipt.detail == "not for eve@example.org: 550 5.1.1 no such user")
        #expect(try await server.mail().to == ["ops@example.org"])
    }

    @Test func `is judged by what the server replies`() async throws {
        let refusing = try await MailServerProcess(["--refuse", "ops@example.org", "550 5.1.1 no such user"])
        let refused =
            "smtp://localhost:\(refusing.port) answered 550 5.1.1 no such user; "
            + "check the addresses of to: and from:"
        #expect(
            await failure(try sender(refusing.port, ["tls": "none"]))
                == .giveUp(.rejected, detail: refused, status: 550))
        let busy = try await MailServerProcess(["--data", "451 4.3.0 come back later"])
        #expect(
            await failure(try sender(busy.port, ["tls": "none"]))
                == .retry(
                    .askedAgain,
                    detail: "smtp://localhost:\(busy.port) answered 451 4.3.0 come back later", status: 451))
    }

    @Test func `is not sent where it could be read on the way`() async throws {
        let plain = try await MailServerProcess()
        guard case .retry(.tlsFailed, _, let missing, _)? = await failure(try sender(plain.port)) else {
            Issue.record("no TLS failure")
            return
        }
        #expect(missing.contains("the server offers no STARTTLS; write smtps://"), "\(missing)")
        let certificate = try SelfSignedCertificate(for: "localhost")
        let stranger = try await MailServerProcess(["--tls", certificate.certificate, certificate.key])
        guard case .retry(.tlsFailed, _, let unknown, _)? = await failure(try sender(stranger.port)) else {
            Issue.record("no TLS failure")
            return
        }
        #expect(unknown.contains("check the server's name and certificate"), "\(unknown)")
    }

    @Test func `is not sent to an address that is not allowed`() async throws {
        let server = try await MailServerProcess()
        let sender = try sender(server.port, allow: [])
        guard case .retry(.addressRefused, _, let detail, _)? = await failure(sender) else {
            Issue.record("not refused")
            return
        }
        #expect(detail.contains("is not public; allow can name it"), "\(detail)")
    }

    @Test func `waits for a silent server no longer than it may`() async throws {
        let silent = try await HookServer(["--deaf"])
        var values = FormValues()
        values["to"] = .words(["ops@example.org"])
        values["from"] = .word("belfry@example.org")
        values["url"] = .word("smtp://127.0.0.1:\(silent.port)")
        values["allow"] = .exceptions([try AddressException("127.0.0.1/32")])
        values["timeout"] = .duration(.milliseconds(300))
        let form = try MailForm(values)
        guard case .mail(_, let server) = form.carrier else { throw NotAServer() }
        let sender = MailSender(name: "inbox", form: form, to: server, curl: curl)
        #expect(await failure(sender)?.reason == .connectFailed)
    }

    @Test func `has another identity with another password or recipient`() throws {
        let one = try sender(587, password: "one").identity
        #expect(try sender(587, password: "one").identity == one)
        #expect(try sender(587, password: "two").identity != one)
        #expect(try sender(587, to: ["eve@example.org"], password: "one").identity != one)
    }
}
