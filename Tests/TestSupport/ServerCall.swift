/// A call that ``NotificationServer`` got.
package struct ServerCall: Decodable, Sendable {
    /// `Notify`, `CloseNotification`, `GetCapabilities` or `GetServerInformation`.
    package var method: String
    /// Who called, as a unique name.
    package var sender: String
    /// The id given to, or closed by, the call; 0 for other methods.
    package var id: UInt32
    /// The name of the app.
    package var appName: String
    /// The id to take over; 0 for a new one.
    package var replacesID: UInt32
    /// An icon name or URI.
    package var icon: String
    /// The title.
    package var summary: String
    /// The text below it.
    package var body: String
    /// Keys and labels in turn.
    package var actions: [String]
    /// Each hint as its D-Bus type and value, as `y:1`, `b:true`, `s:belfry`.
    package var hints: [String: String]
    /// Milliseconds; -1 is up to the server, 0 is for ever.
    package var expiry: Int

    private enum CodingKeys: String, CodingKey {
        case method, sender, id, summary, body, actions, hints
        case appName = "app_name"
        case replacesID = "replaces_id"
        case icon = "app_icon"
        case expiry = "expire_timeout"
    }

    /// Reads a line of the server.
    /// - Throws: `DecodingError` when it is not one.
    package init(from decoder: any Decoder) throws {
        let line = try decoder.container(keyedBy: CodingKeys.self)
        method = try line.decode(String.self, forKey: .method)
        sender = try line.decode(String.self, forKey: .sender)
        id = try line.decodeIfPresent(UInt32.self, forKey: .id) ?? 0
        appName = try line.decodeIfPresent(String.self, forKey: .appName) ?? ""
        replacesID = try line.decodeIfPresent(UInt32.self, forKey: .replacesID) ?? 0
        icon = try line.decodeIfPresent(String.self, forKey: .icon) ?? ""
        summary = try line.decodeIfPresent(String.self, forKey: .summary) ?? ""
        body = try line.decodeIfPresent(String.self, forKey: .body) ?? ""
        actions = try line.decodeIfPresent([String].self, forKey: .actions) ?? []
        hints = try line.decodeIfPresent([String: Hint].self, forKey: .hints)?.mapValues(\.text) ?? [:]
        expiry = try line.decodeIfPresent(Int.self, forKey: .expiry) ?? -1
    }
}

private struct Hint: Decodable {
    var text: String

    private enum CodingKeys: String, CodingKey { case type, value }

    init(from decoder: any Decoder) throws {
        let hint = try decoder.container(keyedBy: CodingKeys.self)
        let type = try hint.decode(String.self, forKey: .type)
        switch type {
        case "s": text = "s:" + (try hint.decode(String.self, forKey: .value))
        case "b": text = "b:" + String(try hint.decode(Bool.self, forKey: .value))
        case "d": text = "d:" + String(try hint.decode(Double.self, forKey: .value))
        default: text = type + ":" + String(try hint.decode(Int64.self, forKey: .value))
        }
    }
}
