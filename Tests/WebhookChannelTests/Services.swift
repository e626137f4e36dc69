import Curl
import Delivery
import Grouping
import TestSupport
import Testing
import Timeline
import WebhookChannel

/// What really leaves the machine for a service.
@Suite(.timeLimit(.minutes(5))) struct `a service` {
    let curl: CurlMulti
    let now = Moment(seconds: 1_800_000_000)

    init() throws {
        curl = try CurlMulti()
    }

    private func sender<Form: HTTPForm>(
        _: Form.Type, _ settings: [String: FormValues.Value], secrets: [String: [String]]
    ) throws -> HTTPSender {
        var values = FormValues()
        for (key, value) in settings { values[key] = value }
        for key in secrets.keys { values[key] = .secrets([.file("/x")]) }
        values["allow"] = .exceptions([try AddressException("127.0.0.1")])
        return try HTTPSender(
            name: "s", form: try Form(values), secrets: FormSecrets(secrets), userAgent: "Belfry/1.0",
            curl: curl)
    }

    /// A message of a bot, as it is queued for that sender.
    private func parcel(_ text: String, for sender: HTTPSender) throws -> Parcel {
        let message = Message(id: "m", bot: "ops", thread: "main", text: text, at: now)
        let item = ItemSnapshot(
            key: message.itemKey, revision: 1, bot: "ops", urgency: .normal, reason: .first, at: now,
            content: .messages(count: 1, last: [message]))
        let form = try #require(sender.form as? any EdgeForm)
        let body = form.render(
            Bulletin(Matter(item, only: nil), at: now, notice: NoticeComposer.compose(item)))
        return Parcel(id: "evt-1", type: "message.group", timestamp: now, body: body, attempt: 1)
    }

    @Test func `of topics gets JSON at its root, with the token`() async throws {
        let server = try await HookServer(["--status-plan", "200"])
        let sender = try sender(
            NtfyForm.self, ["url": .address(try HTTPAddress(server.url("/alerts")))],
            secrets: ["token": ["tk_secret"]])
        _ = try await sender.deliver(try parcel("the disk is full", for: sender), at: now)
        let record = try await server.record()
        #expect(record.method == "POST" && record.path == "/")
        #expect(record.headers["authorization"] == "Bearer tk_secret")
        #expect(record.headers["content-type"] == "application/json")
        #expect(record.headers["webhook-signature"] == nil)
        #expect(record.body?.contains(#""message":"the disk is full""#) == true)
        #expect(record.body?.contains(#""topic":"alerts""#) == true)
    }

    @Test func `is reached at the address that it gave out, which no error shows`() async throws {
        let server = try await HookServer(["--status-plan", "200,404,drop", "--echo-path"])
        let address = server.url("/services/T0/B0/s3cr3t")
        let sender = try sender(
            SlackForm.self, ["url": .address(try HTTPAddress(server.url("")))],
            secrets: ["webhook": [address]])
        let parcel = try parcel("hi", for: sender)
        _ = try await sender.deliver(parcel, at: now)
        #expect(try await server.record().path == "/services/T0/B0/s3cr3t")
        for _ in 1...2 {
            do {
                _ = try await sender.deliver(parcel, at: now)
                Issue.record("it was refused")
            } catch {
                #expect(!"\(error)".contains("s3cr3t"), "\(error)")
                #expect(error.detail.hasPrefix(server.url("")))
            }
        }
        #expect(!sender.identity.contains("s3cr3t"))
    }

    @Test func `is another one in another chat`() throws {
        func identity(_ chat: String) throws -> String {
            try sender(TelegramForm.self, ["chat": .word(chat)], secrets: ["token": ["1:abc"]]).identity
        }
        #expect(try identity("1") == identity("1"))
        #expect(try identity("1") != identity("2"))
    }

    @Test func `is never reached at an address on another host`() throws {
        #expect(throws: HTTPSenderError.self) {
            try sender(
                SlackForm.self, ["url": .address(try HTTPAddress("https://mm.example.org"))],
                secrets: ["webhook": ["https://hooks.slack.com/services/T/B/x"]])
        }
    }
}
