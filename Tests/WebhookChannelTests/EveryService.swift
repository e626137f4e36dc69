import Curl
import Delivery
import Grouping
import Logging
import TestSupport
import Testing
import Timeline
import Tracking
import WebhookChannel

/// What holds for every service that is reached by HTTP, whatever it is.
@Suite(.timeLimit(.minutes(5))) struct `every service` {
    /// A form with what it needs: the settings but the address, and secrets, all of them `s3cr3t` in some way.
    struct Service: CustomTestStringConvertible, Sendable {
        let kind: String
        var words: [String: String] = [:]
        var secrets: [String: String] = [:]
        /// What follows the host in the address of the file.
        var path = ""
        /// Whether the whole address is a secret.
        var isPosted = false

        var testDescription: String { kind }

        var form: any ChannelForm.Type {
            get throws { try #require(ChannelForms.all.first { $0.kind.rawValue == kind }) }
        }
    }

    static let all = [
        Service(kind: "webhook"), Service(kind: "cloudevents"), Service(kind: "slack", isPosted: true),
        Service(kind: "discord", isPosted: true), Service(kind: "teams", isPosted: true),
        Service(kind: "ntfy", secrets: ["token": "tk_s3cr3t"], path: "/alerts"),
        Service(kind: "gotify", secrets: ["token": "As3cr3t"]),
        Service(kind: "telegram", words: ["chat": "1"], secrets: ["token": "1:s3cr3t"]),
        Service(kind: "matrix", words: ["room": "!a:e.org"], secrets: ["token": "syt_s3cr3t"]),
        Service(kind: "alertmanager", secrets: ["token": "s3cr3t"]),
        Service(kind: "pagerduty", secrets: ["key": "s3cr3ts3cr3ts3cr3ts3cr3ts3cr3t12"]),
        Service(kind: "ping", secrets: ["key": "s3cr3t"]),
        Service(kind: "live-activity", secrets: ["token": "s3cr3t"]),
        Service(kind: "template", words: ["body": "{\"t\": \"{{title}}\"}"], secrets: ["token": "s3cr3t"]),
        Service(kind: "template", words: ["body": "{}"], isPosted: true),
    ]

    private let curl: CurlMulti
    private let now = Moment(seconds: 1_800_000_000)

    init() throws { curl = try CurlMulti() }

    private func channel(
        _ service: Service, at url: String, allowing allowed: [AddressException]
    ) throws -> any Channel {
        var values = FormValues()
        values["url"] = .address(try HTTPAddress(url + (service.isPosted ? "" : service.path)))
        values["allow"] = .exceptions(allowed)
        for (key, word) in service.words { values[key] = .word(word) }
        var secrets = service.secrets
        if service.isPosted { secrets["webhook"] = url + "/services/s3cr3t" }
        for key in secrets.keys { values[key] = .secrets([.file("/x")]) }
        let held = FormSecrets(secrets.mapValues { [$0] })
        switch try service.form.init(values).carrier {
        case .http(let form):
            return try HTTPSender(name: "c", form: form, secrets: held, userAgent: "Belfry/1.0", curl: curl)
        case .httpLevel(let form):
            return try HTTPEditor(
                name: "c", form: form, secrets: held, userAgent: "Belfry/1.0", curl: curl,
                clock: ManualClock(now: now), logger: Logger(label: "t"))
        case .desktop, .program, .mail: throw FormError.missing("url")
        }
    }

    private var bulletin: Bulletin {
        let message = Message(id: "m", bot: "ops", thread: "main", text: "the disk is full", at: now)
        let item = ItemSnapshot(
            key: message.itemKey, revision: 1, bot: "ops", urgency: .normal, reason: .first, at: now,
            content: .messages(count: 1, last: [message]))
        return Bulletin(Matter(item, only: nil), at: now, notice: NoticeComposer.compose(item))
    }

    /// One attempt: the error, and all else that is known of it.
    private func attempt(_ channel: any Channel) async throws -> (error: DeliveryError?, known: String) {
        if let editor = channel as? HTTPEditor {
            do throws(DeliveryError) {
                let remote = try await editor.show(bulletin.notice, replacing: nil)
                return (nil, "\(remote) \(channel.identity)")
            } catch {
                return (error, "\(error) \(channel.identity)")
            }
        }
        let form = try #require(channel.form as? any EdgeForm)
        let body = form.render(bulletin)
        let parcel = Parcel(id: "evt-1", type: "message.group", timestamp: now, body: body, attempt: 1)
        let report = await (try #require(channel as? HTTPSender)).attempt(parcel, at: now)
        let known = "\(report) \(channel.identity) \(String(decoding: body, as: UTF8.self))"
        if case .failure(let error) = report.result { return (error, known) }
        return (nil, known)
    }

    private var loopback: [AddressException] {
        get throws { [try AddressException("127.0.0.1/32")] }
    }

    @Test(arguments: all)
    func `gives no secret away, whatever it is answered`(_ service: Service) async throws {
        let server = try await HookServer(["--status-plan", "403,200,500,drop,garbage", "--echo-path"])
        let channel = try channel(service, at: server.url(""), allowing: try loopback)
        for expected in [403, 200, 500] {
            let (error, known) = try await attempt(channel)
            #expect((error?.status ?? 200) == expected, "\(known)")
            #expect(!known.contains("s3cr3t"), "\(known)")
        }
        for _ in 0..<2 {
            let (error, known) = try await attempt(channel)
            #expect(error != nil && !known.contains("s3cr3t"), "\(known)")
        }
        // It was really sent: the receiver had it.
        let records = try await server.records(3)
        if !service.secrets.isEmpty || service.isPosted {
            let sent = records.map { "\($0.path) \($0.headers) \($0.body ?? "")" }
            #expect(sent.allSatisfy { $0.contains("s3cr3t") })
        }
    }

    @Test(arguments: all)
    func `reaches no private address by a name, and none that is written`(_ service: Service) async throws {
        let channel = try channel(service, at: "https://localhost:9", allowing: [])
        #expect(try await attempt(channel).error?.reason == .addressRefused)
        for host in ["10.0.0.1", "169.254.169.254", "[::1]", "[fd00::1]", "127.1", "0x7f000001"] {
            #expect(throws: (any Error).self, "\(host)") {
                try self.channel(service, at: "https://\(host)", allowing: [])
            }
        }
        #expect(throws: (any Error).self) {
            try self.channel(service, at: "http://example.org", allowing: [])
        }
    }
}
