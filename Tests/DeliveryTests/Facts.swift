import Delivery
import Testing
import Tracking

@Suite struct `the content of a fact` {
    /// A content of its own, as one more fact would bring along.
    struct Tide: FactContent {
        struct Payload: Hashable, Codable, Sendable {
            var metres: Int
        }

        var harbour: String?
        var metres: Int?

        init(harbour: String, metres: Int? = nil) {
            self.harbour = harbour
            self.metres = metres
        }

        init(_ columns: FactColumns, _ payload: Payload?) {
            harbour = columns.subject
            metres = payload?.metres
        }

        var columns: FactColumns { FactColumns(subject: harbour) }
        var payload: Payload? { metres.map(Payload.init) }
    }

    @Test(arguments: [Tide(harbour: "Husum", metres: 4), Tide(harbour: "Husum")])
    func `is what its columns and its payload hold`(_ tide: Tide) throws {
        let stored = try tide.payload.map { try JSON.encode($0) }
        let read = try stored.map { try JSON.decode(Tide.Payload.self, from: $0) }
        #expect(Tide(tide.columns, read) == tide)
        #expect(Tide(tide.columns, nil) == Tide(harbour: "Husum"))
    }
}

@Suite struct `a delivery error` {
    @Test func `separates the reason, the words and the status`() {
        let error = DeliveryError.retry(.throttled, after: .seconds(7), detail: "slow down", status: 429)
        #expect(error.reason == .throttled)
        #expect(error.detail == "slow down")
        #expect(error.status == 429)
        #expect(DeliveryError.unreachable(.noBus).status == nil)
    }
}

@Suite struct `a failure table` {
    private func judge(
        _ status: Int, _ table: FailureTable<Int> = .http, asked: Duration? = nil
    ) -> DeliveryError {
        table.judge(status, asked: asked, detail: "d", status: status)
    }

    @Test func `is decided by the first row that fits, and by the rest where none does`() {
        #expect(judge(410) == .giveUp(.gone, detail: "d", status: 410))
        #expect(judge(418) == .giveUp(.rejected, detail: "d", status: 418))
        #expect(
            judge(429, asked: .seconds(9)) == .retry(.throttled, after: .seconds(9), detail: "d", status: 429)
        )
        #expect(judge(666) == .retry(.badAnswer, detail: "d", status: 666))
        #expect(judge(101) == .retry(.badAnswer, detail: "d", status: 101))
    }

    @Test func `asks the rows of a form before those of all`() {
        let own = FailureTable.http.preceded(by: [.init(404...404, .retry, .askedAgain)])
        #expect(judge(404, own) == .retry(.askedAgain, detail: "d", status: 404))
        #expect(judge(405, own) == judge(405))
    }

    @Test(arguments: [
        (
            "org.freedesktop.Notifications.Error.ExcessNotificationGeneration",
            DeliveryError.retry(.throttled, after: .seconds(1), detail: "d")
        ),
        ("org.freedesktop.DBus.Error.LimitsExceeded", .retry(.throttled, detail: "d")),
        ("org.freedesktop.DBus.Error.ServiceUnknown", .unreachable(.noServer, detail: "d")),
        ("org.example.Never", .giveUp(.rejected, detail: "d")),
    ])
    func `of the desktop goes by the names of errors`(_ name: String, _ error: DeliveryError) {
        #expect(DesktopForm().judge(error: name, detail: "d") == error)
    }

    @Test func `takes every 2xx for success`() {
        for status in [200, 204, 299] {
            #expect(HTTPAnswer(status: status, receiver: "https://e.org").failure(by: .http) == nil)
        }
        #expect(
            HTTPAnswer(status: 503, retryAfter: .seconds(2), receiver: "https://e.org").failure(by: .http)
                == .retry(.serverError, after: .seconds(2), detail: "https://e.org answered 503", status: 503)
        )
    }

    @Test(
        arguments: [
            (300, nil, "it offers several addresses; use one of them"),
            (
                301, "https://new.example.org/token",
                "it has moved to https://new.example.org for good; redirects are not followed, use the new address"
            ),
            (301, nil, "it has moved for good; redirects are not followed, use the new address"),
            (
                302, "https://e.org/login?to=token",
                "it redirects to another path, perhaps to a login; redirects are not followed, use an address that needs none"
            ),
            (
                303, "/login",
                "it redirects to another path, perhaps to a login; redirects are not followed, use an address that needs none"
            ),
            (304, nil, "it treats this as a request for a web page; use the address of a webhook"),
            (305, "https://proxy.example.org", "it asks for a proxy; set one with proxy:"),
            (
                307, "http://10.0.0.1:8080/x",
                "it redirects to http://10.0.0.1:8080 for now; redirects are not followed, use the address that it leads to"
            ),
            (
                307, "https://user:token@new.example.org/",
                "it redirects for now; redirects are not followed, use the address that it leads to"
            ),
            (
                308, "//new.example.org/",
                "it has moved for good; redirects are not followed, use the new address"
            ),
            (399, nil, nil),
        ] as [(Int, String?, String?)])
    func `gives up what redirects, with a hint and without a token`(
        status: Int, location: String?, hint: String?
    ) {
        var answer = HTTPAnswer(status: status, receiver: "https://e.org")
        answer.location = location
        let detail = "https://e.org answered \(status)" + (hint.map { ": \($0)" } ?? "")
        #expect(answer.failure(by: .http) == .giveUp(.redirected, detail: detail, status: status))
    }
}
