import Curl
import Delivery
import TestSupport
import Testing
import Timeline
import WebhookChannel

/// What the sender does for a form that is nothing but a description.
@Suite(.timeLimit(.minutes(5))) struct `a form that was added` {
    let curl: CurlMulti
    let now = Moment(seconds: 1_800_000_000)
    let parcel = Parcel(
        id: "evt.1", type: "run.failed", timestamp: Moment(seconds: 1_800_000_000),
        body: Array("run.failed: exitCode".utf8), attempt: 1)

    init() throws {
        curl = try CurlMulti()
    }

    private func sender(_ url: String, token: String = "t0k3n") throws -> HTTPSender {
        try HTTPSender(
            name: "lines", form: try LineForm.toThisMachine(url), secrets: FormSecrets(["token": [token]]),
            userAgent: "Belfry/1.0", curl: curl)
    }

    @Test func `is sent as it says, and signed by nobody`() async throws {
        let server = try await HookServer()
        let receipt = try await sender(server.url("")).deliver(parcel, at: now)
        #expect(receipt == Receipt(at: now, kind: .accepted, status: 204))
        let record = try await server.record()
        #expect(record.method == "PUT" && record.path == "/alerts")
        #expect(record.body == "run.failed: exitCode")
        #expect(record.headers["authorization"] == "Bearer t0k3n")
        #expect(record.headers["user-agent"] == "Belfry/1.0")
        #expect(record.headers["webhook-id"] == nil && record.headers["webhook-signature"] == nil)
    }

    @Test func `is judged by its own rows, and by those of HTTP after them`() async throws {
        let server = try await HookServer(["--status-plan", "409,404,503", "--retry-after", "7"])
        let sender = try sender(server.url(""))
        let shown = server.url("")
        for error in [
            DeliveryError.retry(.throttled, after: .seconds(7), detail: "\(shown) answered 409", status: 409),
            .giveUp(.rejected, detail: "\(shown) answered 404", status: 404),
            .retry(.serverError, after: .seconds(7), detail: "\(shown) answered 503", status: 503),
        ] {
            await #expect(throws: error) { try await sender.deliver(parcel, at: now) }
        }
    }

    @Test func `has another identity with another secret, which gives none away`() throws {
        let one = try sender("http://127.0.0.1:1")
        #expect(try sender("http://127.0.0.1:1").identity == one.identity)
        let other = try sender("http://127.0.0.1:1", token: "other").identity
        #expect(other != one.identity && !other.contains("other"))
    }

    @Test func `never leads to another host than the one it was checked for`() async throws {
        /// As ``LineForm``, but for where its requests go.
        struct Stray: HTTPForm {
            static let kind = ChannelKind("stray", isLevel: false)
            static let fields = HTTPReach.fields
            let reach: HTTPReach
            var url = ""

            init(_ values: FormValues) throws(FormError) {
                reach = try HTTPReach(to: try values.address("url"), values)
            }

            func render(_ bulletin: Bulletin) -> [UInt8] { [] }

            func request(_ parcel: Parcel, secrets: FormSecrets) -> HTTPRequest {
                HTTPRequest(url: url, body: parcel.body)
            }
        }
        let server = try await HookServer()
        var values = FormValues()
        values["url"] = .address(try HTTPAddress("https://example.org/"))
        var form = try Stray(values)
        for url in [
            server.url(), "http://example.org/", "https://example.org:8443/", "https://e.org@10.0.0.1/",
        ] {
            form.url = url
            let sender = try HTTPSender(name: "s", form: form, userAgent: "Belfry/1.0", curl: curl)
            await #expect(
                throws: DeliveryError.giveUp(
                    .unsendable, detail: "the request is for another host than https://example.org")
            ) { try await sender.deliver(parcel, at: now) }
        }
    }
}
