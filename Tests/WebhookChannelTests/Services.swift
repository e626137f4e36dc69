import Curl
import Delivery
import Grouping
import Logging
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

    private func editor(
        _ url: String, chat: String = "7", clock: ManualClock? = nil
    ) throws -> HTTPEditor {
        var values = FormValues()
        values["url"] = .address(try HTTPAddress(url))
        values["chat"] = .word(chat)
        values["token"] = .secrets([.file("/x")])
        values["allow"] = .exceptions([try AddressException("127.0.0.1")])
        return try HTTPEditor(
            name: "chat", form: try TelegramForm(values), secrets: FormSecrets(["token": ["1:s3cr3t"]]),
            userAgent: "Belfry/1.0", curl: curl, clock: clock ?? ManualClock(now: now),
            logger: Logger(label: "t"))
    }

    @Test func `that wants a pause before it removes a message gets it, once`() async throws {
        let server = try await HookServer(["--status-plan", "429,200", "--retry-after", "7"])
        let clock = ManualClock(now: now)
        let editor = try editor(server.url(""), clock: clock)
        async let closed: Void = editor.close(RemoteID(generation: editor.identity, id: "progress 41"))
        #expect(await clock.nextSleeper() == now + .seconds(7))
        clock.advance(by: .seconds(7))
        await closed
        let requests = try await server.records(2)
        #expect(requests.allSatisfy { $0.path.hasSuffix("/deleteMessage") })
        #expect(requests.map(\.status) == [429, 200])
    }

    /// A version of the item of `backup`.
    private func notice(_ revision: Int, _ news: JobNews, ring: Bool) -> Notice {
        Notice(
            item: .job("backup"), revision: revision, title: "backup \(revision)", body: "",
            tag: "job:backup",
            bot: "ops", news: news, ring: ring,
            reason: ring ? .failed : .tooSoon)
    }

    private func sender<Form: HTTPForm>(
        _: Form.Type, _ settings: [String: FormValues.Value], secrets: [String: [String]]
    ) throws -> HTTPSender {
        var values = FormValues()
        for (key, value) in settings { values[key] = value }
        for key in secrets.keys { values[key] = .secrets([.file("/x")]) }
        if settings["allow"] == nil { values["allow"] = .exceptions([try AddressException("127.0.0.1")]) }
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

    @Test func `is sent by the proxy that was named, which is asked for the whole address`() async throws {
        let proxy = try await HookServer()
        let sender = try sender(
            GotifyForm.self,
            [
                "url": .address(try HTTPAddress("http://gotify.invalid")),
                "allow": .exceptions([try AddressException("gotify.invalid")]),
                "proxy": .address(try HTTPAddress(proxy.url(""))),
            ], secrets: ["token": ["t0k3n"]])
        _ = try await sender.deliver(try parcel("hi", for: sender), at: now)
        #expect(try await proxy.record().path == "http://gotify.invalid/message")
    }

    @Test func `shows no beginning of an address that its answer repeats`() async throws {
        let server = try await HookServer(["--status-plan", "403", "--echo-path"])
        let sender = try sender(
            SlackForm.self, ["url": .address(try HTTPAddress(server.url("")))],
            secrets: ["webhook": [server.url("/services/T0/B0/" + String(repeating: "s3cr3t", count: 50))]])
        let parcel = try parcel("hi", for: sender)
        let failure = await #expect(throws: DeliveryError.self) { try await sender.deliver(parcel, at: now) }
        #expect(failure?.reason == .rejected && failure?.status == 403)
        #expect(failure?.detail.contains("s3cr3t") == false, "\(failure?.detail ?? "")")
        let report = await sender.attempt(parcel, at: now)
        #expect(report.answer?.contains("s3cr3t") == false, "\(report.answer ?? "")")
    }

    @Test func `that edits shows work in one message, and what rings in another`() async throws {
        let server = try await ChatServer()
        let editor = try editor(server.url)
        let work = try await editor.show(notice(1, .started, ring: false), replacing: nil)
        let more = try await editor.show(notice(2, .progress, ring: false), replacing: work)
        #expect(work.id == "started 1" && more.id == "progress 1")
        #expect(try await server.messages() == [1: "<b>backup 2</b>"])
        let failed = try await editor.show(notice(3, .failed, ring: true), replacing: more)
        #expect(try await server.messages() == [2: "<b>backup 3</b>"])
        // Another failure that does not ring changes what is there; one that rings leaves the old one in the history.
        let again = try await editor.show(notice(4, .failed, ring: false), replacing: failed)
        #expect(again == failed)
        let next = try await editor.show(notice(5, .recovered, ring: true), replacing: again)
        #expect(try await server.messages() == [2: "<b>backup 4</b>", 3: "<b>backup 5</b>"])
        await editor.close(next)
        #expect(try await server.messages().count == 2)
        let last = try await editor.show(notice(6, .started, ring: false), replacing: nil)
        await editor.close(last)
        #expect(try await server.messages().count == 2)
    }

    @Test func `that edits posts again what somebody has deleted, and what was never there`() async throws {
        let server = try await ChatServer()
        let editor = try editor(server.url)
        let shown = try await editor.show(notice(1, .failed, ring: true), replacing: nil)
        try await server.delete(1)
        let again = try await editor.show(notice(2, .failed, ring: false), replacing: shown)
        #expect(again != shown)
        #expect(try await server.messages() == [2: "<b>backup 2</b>"])
        // Its text is the same: that is shown already.
        _ = try await editor.show(notice(2, .failed, ring: false), replacing: again)
        #expect(try await server.messages() == [2: "<b>backup 2</b>"])
    }

    @Test func `that edits is tried again when nobody answers, and shows no secret`() async throws {
        let nobody = try RefusingPort()
        await #expect {
            _ = try await editor(nobody.url()).show(notice(1, .failed, ring: true), replacing: nil)
        } throws: { error in
            guard case .retry(.connectFailed, _, let detail, _) = error as? DeliveryError else {
                return false
            }
            return !detail.contains("s3cr3t")
        }
        let refusing = try await HookServer(["--status-plan", "403", "--echo-path"])
        await #expect {
            _ = try await editor(refusing.url("")).show(notice(1, .failed, ring: true), replacing: nil)
        } throws: { error in
            guard case .giveUp(.rejected, let detail, 403) = error as? DeliveryError else { return false }
            return !detail.contains("s3cr3t")
        }
    }

    @Test func `is another one in another chat`() throws {
        func identity(_ chat: String) throws -> String {
            try editor("https://api.telegram.org", chat: chat).identity
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
