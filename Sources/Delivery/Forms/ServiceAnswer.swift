import Tracking

// What services say of a refusal, in the words that their users know, and the addresses they give out.

extension HTTPAnswer {
    /// The body as JSON; `nil` when it is none.
    var json: JSON? { JSON(parsing: body[...], repairing: true) }

    /// The body as one line; empty where there is none.
    var line: String { Self.line(String(decoding: body, as: UTF8.self)) }

    /// A text of the service as one bounded line: it may be hostile, and ends in logs.
    static func line(_ text: String) -> String { CleanText.line(text, limit: 140) }

    /// What the service says, and what a person does about it; `nil`: it says nothing.
    static func said(_ text: String?, hint: String?) -> String? {
        let line = text.map(line) ?? ""
        let parts = [line.isEmpty ? nil : line, hint].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// The same answer with the wait that its body asks for, where no header does; an hour at most.
    func asking(toWait seconds: Double?) -> HTTPAnswer {
        guard retryAfter == nil, let seconds, seconds >= 0 else { return self }
        var answer = self
        answer.retryAfter = .seconds(min(seconds, 3600))
        return answer
    }
}

/// The address that a service gives out for posting: whoever knows it can post, so it is a secret.
struct PostAddress {
    /// Its key.
    static let key = "webhook"
    /// The key of the host it is on.
    static let hostKey = "url"

    /// The keys of a form whose requests go to such an address.
    ///
    /// `host` is where it is; with `usual`, that may be left out.
    static func fields(_ service: String, host: String, example: String) -> [FormField] {
        [
            FormField(
                key, .secrets,
                "the address that \(service) gave out for posting, a secret",
                example: "{ file: /path } with a line \(example)"),
            FormField(hostKey, .address, "the host of that address", example: host),
        ]
    }

    /// Whom the requests of such a form may reach.
    /// - Throws: ``FormError`` where there is no address, or where it stands in the file.
    static func reach(_ values: FormValues, usual: String?) throws(FormError) -> HTTPReach {
        if case .address(let host)? = values[hostKey], !host.target.allSatisfy({ $0 == "/" }) {
            throw .unfit(
                hostKey,
                "whoever knows this address can post there: put it in a file, write \(key): { file: /path }, "
                    + "and leave at most the host here")
        }
        try values.secrets(key)
        let host =
            if let usual { try values.address(hostKey, or: usual) } else { try values.address(hostKey) }
        return try HTTPReach(to: host, values)
    }

    /// Why nothing can be posted there; `nil`: it can.
    static func fault(in secrets: FormSecrets, on reach: HTTPReach) -> String? {
        // Left out with the channel where it can't be read.
        guard let text = secrets[key].first else { return nil }
        guard let address = try? HTTPAddress(text) else {
            return "what \(key): leads to is not an http or https address"
        }
        guard
            (address.isSecure, address.host, address.port) == (
                reach.url.isSecure, reach.url.host, reach.url.port
            )
        else {
            return "what \(key): leads to is an address on \(address.shown), not on \(reach.url.shown); "
                + "write \(hostKey): \(address.shown)"
        }
        return nil
    }

    /// The address; empty where it could not be read, which no sender takes.
    static func text(_ secrets: FormSecrets) -> String { secrets[key].first ?? "" }
}

/// How a service knows its user: a secret that goes into a header.
enum AccessToken {
    static let key = "token"

    /// `Authorization: Bearer`, where there is a token.
    static func bearer(_ secrets: FormSecrets) -> [HTTPRequest.Header] {
        secrets[key].prefix(1).map { HTTPRequest.Header("Authorization", "Bearer \($0)") }
    }
}

extension HTTPRequest.Header {
    /// The type of a JSON body.
    static var json: HTTPRequest.Header { HTTPRequest.Header("Content-Type", "application/json") }
}
