package import Delivery

/// A service that takes one line of text for each thing that happens: what it takes to add a form.
package struct LineForm: HTTPForm {
    package static let kind = ChannelKind("line", isLevel: false)
    package static let fields =
        [
            FormField("url", .address, "where lines are posted", example: "https://lines.example"),
            FormField("topic", .word, "what lines are filed under", example: "alerts"),
            FormField("token", .secrets, "what the service knows its user by", example: "{ file: /path }"),
        ] + HTTPReach.fields

    package let reach: HTTPReach
    private let topic: String

    package init(_ values: FormValues) throws(FormError) {
        reach = try HTTPReach(to: try values.address("url"), values)
        topic = try values.word("topic")
        guard topic.allSatisfy(\.isLowercase) else { throw .unfit("topic", "a topic has small letters only") }
        try values.secrets("token")
    }

    package func render(_ bulletin: Bulletin) -> [UInt8] {
        Array("\(bulletin.matter.type): \(bulletin.matter.reason)".utf8)
    }

    package func request(_ parcel: Parcel, secrets: FormSecrets) -> HTTPRequest {
        HTTPRequest(
            method: "PUT", url: reach.url.text + "/" + topic,
            headers: secrets["token"].map { HTTPRequest.Header("Authorization", "Bearer \($0)") },
            body: parcel.body)
    }

    package func judge(_ answer: HTTPAnswer) -> DeliveryError? {
        answer.failure(by: .http.preceded(by: [.init(409...409, .retry, .throttled)]))
    }
}

extension LineForm {
    /// A form that reaches a server on this machine.
    package static func toThisMachine(_ url: String) throws -> LineForm {
        var values = FormValues()
        values["url"] = .address(try HTTPAddress(url))
        values["topic"] = .word("alerts")
        values["token"] = .secrets([.environment("TOKEN")])
        values["allow"] = .exceptions([try AddressException("127.0.0.1")])
        return try LineForm(values)
    }
}
