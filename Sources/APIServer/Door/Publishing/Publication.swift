import API
import Ledger
import Timeline
import Tracking

/// A message as ntfy's clients publish it: the topic is the bot.
///
/// - Source: docs.ntfy.sh/publish: list of all parameters, publish as JSON, message priority, tags and emojis.
struct Publication: Hashable, Sendable {
    /// The topic as it was written.
    var topic: String
    /// What is said; empty: nothing but that it happened.
    var message = ""
    var title: String?
    /// 1 to 5.
    var priority = 3
    var tags: [String] = []
    /// What opens when it is pressed.
    var click: String?
    /// A file that lies elsewhere.
    var attachment: String?
    /// Buttons; only those that open an address can travel.
    var actions: [PublishedAction] = []
    /// What was published under this before is replaced.
    var sequence: String?

    /// Reads what the head of a request says, with the body as the text.
    ///
    /// A header field counts before a parameter of the query, as with ntfy.
    init(topic: String, _ head: RequestHead, body: [UInt8]) throws(APIError) {
        func value(_ names: String...) -> String? {
            for name in names {
                if let value = head[name], !value.isEmpty { return HeaderWords.decoded(value) }
            }
            for name in names { if let value = head.query[name], !value.isEmpty { return value } }
            return nil
        }
        self.topic = topic
        guard let text = String(validating: body, as: UTF8.self) else {
            throw APIError(.badValue, "the body is not UTF-8 text", hint: "Files can't be published.")
        }
        let field = value("x-message", "message", "m")
        if field != nil, !text.isEmpty {
            throw APIError(.badValue, "there are two messages: the body and the message field")
        }
        message = field?.replacing("\\n", with: "\n") ?? text
        title = value("x-title", "title", "ti", "t")
        priority = try Self.priority(value("x-priority", "priority", "prio", "p") ?? "3")
        tags = Self.words(value("x-tags", "tags", "tag", "ta") ?? "")
        click = value("x-click", "click")
        attachment = value("x-attach", "attach", "a")
        sequence = value("x-sequence-id", "sequence-id", "sid")
        if let text = value("x-actions", "actions", "action") { actions = try PublishedAction.list(text) }
        try Self.refuse(delay: value("x-delay", "delay", "x-at", "at", "x-in", "in"))
    }

    /// Reads the JSON form, which is posted to `/`.
    init(json body: [UInt8]) throws(APIError) {
        guard let json = JSON(parsing: body[...]), case .members = json else {
            throw APIError(.badJSON, hint: "Post text to /TOPIC, or JSON with a topic to /.")
        }
        guard let topic = json["topic"]?.text, !topic.isEmpty else {
            throw APIError(.badValue, "the topic is missing")
        }
        self.topic = topic
        message = json["message"]?.text ?? ""
        title = json["title"]?.text
        if let given = json["priority"] {
            priority = try Self.priority(given.int.map(String.init) ?? given.text ?? "")
        }
        tags = json["tags"]?.elements.compactMap(\.text) ?? []
        click = json["click"]?.text
        attachment = json["attach"]?.text
        sequence = json["sequence_id"]?.text
        if let list = json["actions"] { actions = try PublishedAction.list(json: list) }
        try Self.refuse(delay: json["delay"]?.text)
    }

    /// Paths that no topic has: the first parts of those of the API, and what ntfy itself refuses.
    static let reserved: Set<String> = {
        let first = Endpoints.all.compactMap { row -> String? in
            if case .literal(let text)? = row.path.segments.first { text } else { nil }
        }
        return Set(
            first + ["q", "metrics", "docs", "static", "file", "app", "account", "settings", "signup"])
    }()

    /// What is posted: the bot is the topic in small letters.
    func request() throws(APIError) -> NotifyRequest {
        let bot = topic.lowercased()
        if Self.reserved.contains(bot) {
            throw APIError(.badName, "\(Quoted.of(topic)) is no topic: a part of the API has this name")
        }
        if let fault = JobName.fault(in: bot) {
            throw APIError(.badName, "the topic \(Quoted.of(topic)): \(fault)")
        }
        let (emblems, words) = TagEmblems.split(tags)
        var lines = [message.isEmpty ? "triggered" : message]
        for action in actions { if let url = action.url { lines.append("\(action.label): \(url)") } }
        if let click { lines.append(click) }
        if let attachment { lines.append(attachment) }
        if !words.isEmpty { lines.append("Tags: " + words.joined(separator: ", ")) }
        if title == nil { lines[0] = emblems + lines[0] }
        var request = NotifyRequest(text: lines.joined(separator: "\n"))
        request.bot = bot
        request.title = title.map { emblems + $0 }
        request.urgency = priority <= 2 ? "low" : priority == 5 ? "critical" : "normal"
        request.replace = sequence
        return request
    }

    /// What ntfy answers with.
    func answer(_ message: WireMessage) -> JSON {
        .object([
            "id": .string(message.id), "time": .int(Int(message.at.moment.seconds)),
            "event": .string("message"),
            "topic": .string(topic), "message": .string(self.message.isEmpty ? "triggered" : self.message),
            "title": title.map { .string($0) }, "priority": priority == 3 ? nil : .int(priority),
            "tags": tags.isEmpty ? nil : .array(tags.map { .string($0) }),
            "click": click.map { .string($0) },
        ])
    }

    private static func priority(_ word: String) throws(APIError) -> Int {
        switch word.lowercased() {
        case "1", "min": return 1
        case "2", "low": return 2
        case "3", "default": return 3
        case "4", "high": return 4
        case "5", "max", "urgent": return 5
        default:
            throw APIError(
                .badValue, "no priority \(Quoted.of(word))",
                hint: "It is 1 to 5: min, low, default, high, max.")
        }
    }

    /// What is said later would be said by nobody if it were taken at once.
    private static func refuse(delay: String?) throws(APIError) {
        guard delay != nil else { return }
        throw APIError(
            .badValue, "a message is published at once, not later",
            hint: "Schedule a job instead: belfry job add NAME --at TIME -- belfry notify TEXT")
    }

    static func words(_ list: String) -> [String] {
        list.split(separator: ",").map { word in
            String(word.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }.filter { !$0.isEmpty }
    }
}
