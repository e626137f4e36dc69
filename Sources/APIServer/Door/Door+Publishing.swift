import API
import Delivery
import Ledger
import Timeline
import Tracking

// Publishing as to ntfy: existing scripts need another address and token, and nothing else.
extension Door {
    /// A request that publishes: `POST /` with JSON, `POST` or `PUT /TOPIC`, `GET /TOPIC/publish`; nil: it is another one.
    func publication(_ head: RequestHead, by token: TokenRecord) throws(APIError) -> Admission? {
        let parts = head.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            .map { PercentCoding.decode($0) ?? "" }
        let isPost = head.method == "POST" || head.method == "PUT"
        let isWord = ["publish", "send", "trigger"].contains(parts.last)
        guard let topic = parts.first, parts.count == (isWord && !isPost ? 2 : 1),
            isPost || (head.method == "GET" && isWord)
        else { return nil }
        try allow(token, .publish)
        return Admission(bodyLimit: Self.bodyLimit) { [handler] body in
            do throws(APIError) {
                let publication =
                    topic.isEmpty
                    ? try Publication(json: body) : try Publication(topic: topic, head, body: body)
                let message = try await handler.notify(publication.request())
                return .whole(
                    status: 200, contentType: "application/json", bytes: publication.answer(message).bytes)
            } catch {
                return .failure(error)
            }
        }
    }
}

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
        let links = self.links
        request.links = links.isEmpty ? nil : links
        return request
    }

    /// The pages that it opens, each once; other addresses, such as mailto:, are only in the text.
    private var links: [WireLink] {
        var pages = actions.compactMap { action in
            action.url.map { WireLink(label: action.label, url: $0) }
        }
        if let click, !pages.contains(where: { $0.url == click }) {
            pages.insert(WireLink(label: "Open", url: click), at: 0)
        }
        if let attachment { pages.append(WireLink(label: "Attachment", url: attachment)) }
        return pages.filter { (try? HTTPAddress($0.url)) != nil }
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

/// A button of a published message.
///
/// - Source: docs.ntfy.sh/publish, "Action buttons".
struct PublishedAction: Hashable, Sendable {
    /// What it says.
    var label: String
    /// The address it opens; nil: it does something else, which nobody here can.
    var url: String?

    private static let most = 3

    /// Reads `view, Open, https://example.org; http, Close, https://...`, or the same as JSON.
    static func list(_ text: String) throws(APIError) -> [PublishedAction] {
        if text.first == "[" {
            guard let json = JSON(parsing: Array(text.utf8)[...]) else {
                throw APIError(.badValue, "the actions are not JSON")
            }
            return try list(json: json)
        }
        return try checked(
            parts(text, at: ";").map { action throws(APIError) in
                var values: [String: String] = [:]
                var order = ["action", "label", "url"][...]
                for part in parts(action, at: ",") {
                    if let equals = part.firstIndex(of: "="), part[..<equals].allSatisfy(\.isLetter) {
                        values[part[..<equals].lowercased()] = unquoted(part[part.index(after: equals)...])
                    } else if let name = order.popFirst() {
                        values[name] = unquoted(part[...])
                    }
                }
                return try make(values["action"], values["label"], values["url"])
            })
    }

    /// Reads `[{"action":"view","label":"Open","url":"https://example.org"}]`.
    static func list(json: JSON) throws(APIError) -> [PublishedAction] {
        try checked(
            json.elements.map { action throws(APIError) in
                try make(action["action"]?.text, action["label"]?.text, action["url"]?.text)
            })
    }

    private static func make(
        _ kind: String?, _ label: String?, _ url: String?
    ) throws(APIError) -> PublishedAction {
        guard let kind, ["view", "http", "broadcast", "copy"].contains(kind) else {
            throw APIError(
                .badValue, "no action \(Quoted.of(kind ?? ""))", hint: "It is view, http, broadcast or copy.")
        }
        guard let label, !label.isEmpty else { throw APIError(.badValue, "an action has no label") }
        // A label of invisible characters labels nothing: the button is left out, and the message is published.
        let isShown = !CleanText.line(label, limit: 80).isEmpty
        return PublishedAction(label: label, url: kind == "view" && isShown ? url : nil)
    }

    private static func checked(_ actions: [PublishedAction]) throws(APIError) -> [PublishedAction] {
        guard actions.count <= most else {
            throw APIError(.badValue, "a message has at most \(most) actions")
        }
        return actions
    }

    /// Parts between separators that stand outside of quotes, without blanks around them.
    private static func parts(_ text: String, at separator: Character) -> [String] {
        var (parts, part, quote) = ([String](), "", Character?.none)
        for character in text {
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "\"" || character == "'" {
                quote = character
            } else if character == separator {
                parts.append(part)
                part = ""
                continue
            }
            part.append(character)
        }
        parts.append(part)
        return parts.map {
            String($0.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        }
        .filter { !$0.isEmpty }
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.count > 1, let first = text.first, first == "\"" || first == "'", text.last == first else {
            return String(text)
        }
        return String(text.dropFirst().dropLast())
    }
}

/// The tags that ntfy shows as an emblem; others are words.
enum TagEmblems {
    private static let emblems = [
        "warning": "⚠️", "rotating_light": "🚨", "triangular_flag_on_post": "🚩", "skull": "💀", "facepalm": "🤦",
        "no_entry": "⛔", "no_entry_sign": "🚫", "cd": "💿", "computer": "💻", "loudspeaker": "📢", "+1": "👍",
        "partying_face": "🥳", "tada": "🎉", "heavy_check_mark": "✔️", "white_check_mark": "✅", "x": "❌",
        "-1": "👎", "fire": "🔥", "bell": "🔔", "hourglass": "⌛", "rocket": "🚀", "bug": "🐛", "package": "📦",
        "floppy_disk": "💾", "lock": "🔒", "key": "🔑", "heart": "❤️", "moneybag": "💰", "email": "📧",
        "arrow_up": "⬆️", "arrow_down": "⬇️", "zap": "⚡", "information_source": "ℹ️", "question": "❓",
        "exclamation": "❗", "broken_heart": "💔", "green_circle": "🟢", "red_circle": "🔴",
        "yellow_circle": "🟡", "eyes": "👀", "robot": "🤖", "wastebasket": "🗑️", "house": "🏠", "car": "🚗",
    ]

    /// The emblems, each with a blank behind it, and the words that are none.
    static func split(_ tags: [String]) -> (emblems: String, words: [String]) {
        let found = tags.compactMap { emblems[$0] }
        return (found.map { $0 + " " }.joined(), tags.filter { emblems[$0] == nil })
    }
}

/// Text of a header field that may hold encoded words.
///
/// - Source: RFC 2047, of which ntfy decodes words in UTF-8.
enum HeaderWords {
    /// `=?UTF-8?B?w7w=?=` as the text it stands for; any other text as it is.
    static func decoded(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { word(String($0)) ?? String($0) }
            .joined(separator: " ")
    }

    private static func word(_ text: String) -> String? {
        guard text.hasPrefix("=?"), text.hasSuffix("?=") else { return nil }
        let parts = text.dropFirst(2).dropLast(2).split(
            separator: "?", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        switch parts[1].lowercased() {
        case "b": return Base64.decode(String(parts[2])).flatMap { String(validating: $0, as: UTF8.self) }
        case "q":
            let escaped = parts[2].replacing("%", with: "=25").replacing("=", with: "%")
            return PercentCoding.decode(escaped.replacing("_", with: " "))
        default: return nil
        }
    }
}
