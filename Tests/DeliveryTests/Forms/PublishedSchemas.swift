import Delivery
import Grouping
import Timeline
import Tracking

/// What a service's documentation allows in one place of a body, read strictly: whatever it does not name is a fault.
indirect enum Published: Sendable {
    /// What a service counts where it limits a text.
    enum Unit: Sendable {
        case bytes, utf16

        func length(of text: String) -> Int {
            switch self {
            case .bytes: text.utf8.count
            case .utf16: text.utf16.count
            }
        }
    }

    /// A text of a length; without one, of any that is not empty.
    case text(ClosedRange<Int> = 1...Int.max, Unit = .utf16)
    /// A text that may be empty.
    case anyText
    /// One of these texts.
    case choice(Set<String>)
    /// A text of these characters alone, of a length in bytes.
    case word(ClosedRange<Int>, also: String)
    /// A moment as RFC 3339 writes it.
    case time
    /// A whole address of a page.
    case address
    /// HTML of these elements alone, of which a person reads so many UTF-16 units.
    case html(Set<String>, ClosedRange<Int>)
    case int(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    case bool
    case either([Published])
    case list(ClosedRange<Int>, Published)
    /// The names that may be there; those with a star must be.
    case object([String: Published])
    /// Names of the service's users, each with a value.
    case map(name: Published, Published)
    /// Whatever it is.
    case anything

    /// What does not fit, each with its place; empty where all is as published.
    func faults(in json: JSON, at path: String = "") -> [String] {
        func fault(_ what: String) -> [String] { ["\(path): \(what)"] }
        switch self {
        case .anything: return []
        case .bool: if case .bool = json { return [] } else { return fault("is no flag") }
        case .int(let range):
            guard let value = json.int else { return fault("is no whole number") }
            return range.contains(value) ? [] : fault("\(value) is not in \(range)")
        case .number(let range):
            guard let value = json.double else { return fault("is no number") }
            return range.contains(value) ? [] : fault("\(value) is not in \(range)")
        case .either(let rules):
            let all = rules.map { $0.faults(in: json, at: path) }
            return all.contains(where: \.isEmpty) ? [] : all.flatMap { $0 }
        case .list(let range, let rule):
            guard case .array(let elements) = json else { return fault("is no list") }
            let count = range.contains(elements.count) ? [] : fault("has \(elements.count) elements")
            return count
                + elements.enumerated().flatMap { rule.faults(in: $1, at: "\(path)[\($0)]") }
        case .object(let rules): return members(of: json, at: path, rules)
        case .map(let name, let rule):
            guard case .members(let members) = json else { return fault("is no object") }
            return members.flatMap {
                name.faults(in: .string($0.name), at: "\(path) name \($0.name)")
                    + rule.faults(in: $0.value, at: "\(path).\($0.name)")
            }
        case .text, .anyText, .choice, .word, .time, .address, .html:
            guard let text = json.text else { return fault("is no text") }
            return problem(of: text).map { fault($0) } ?? []
        }
    }

    private func members(of json: JSON, at path: String, _ rules: [String: Published]) -> [String] {
        guard case .members(let members) = json else { return ["\(path): is no object"] }
        var (faults, missing): ([String], Set<String>) = (
            [], Set(rules.keys.filter { $0.hasSuffix("*") }.map { String($0.dropLast()) })
        )
        var seen: Set<String> = []
        for member in members {
            missing.remove(member.name)
            if !seen.insert(member.name).inserted { faults.append("\(path).\(member.name): is there twice") }
            guard let rule = rules[member.name] ?? rules[member.name + "*"] else {
                faults.append("\(path).\(member.name): is not published")
                continue
            }
            faults += rule.faults(in: member.value, at: "\(path).\(member.name)")
        }
        return faults + missing.sorted().map { "\(path).\($0): is missing" }
    }

    private func problem(of text: String) -> String? {
        switch self {
        case .text(let range, let unit):
            let length = unit.length(of: text)
            return range.contains(length) ? nil : "has \(length) \(unit), not \(range)"
        case .choice(let words):
            return words.contains(text) ? nil : "\"\(text)\" is none of \(words.sorted())"
        case .word(let range, let also):
            let isWord = text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || also.utf8.contains($0)
            }
            return isWord && range.contains(text.utf8.count) ? nil : "\"\(text)\" is no such word"
        case .time: return (try? Moment(iso8601: text)) == nil ? "\"\(text)\" is no time" : nil
        case .address: return (try? HTTPAddress(text)) == nil ? "\"\(text)\" is no address" : nil
        case .html(let elements, let range):
            guard let read = Self.read(html: text, elements) else { return "is no such HTML: \(text)" }
            return range.contains(read.utf16.count) ? nil : "\(read.utf16.count) are read, not \(range)"
        case .anyText, .anything, .bool, .int, .number, .either, .list, .object, .map: return nil
        }
    }

    /// What a person reads of it; nil where an element is none of these, or is not closed, or a character is not escaped.
    private static func read(html: String, _ elements: Set<String>) -> String? {
        var (read, open, rest) = ("", [String](), html[...])
        while let character = rest.popFirst() {
            switch character {
            case "<":
                guard let end = rest.firstIndex(of: ">") else { return nil }
                let tag = rest[..<end]
                rest = rest[rest.index(after: end)...]
                let name = String(tag.drop { $0 == "/" }.prefix { $0 != " " })
                guard elements.contains(name) else { return nil }
                if name == "br" {
                    read += "\n"
                } else if tag.hasPrefix("/") {
                    guard open.popLast() == name else { return nil }
                } else {
                    guard name == "a" ? tag.hasPrefix("a href=\"") && tag.hasSuffix("\"") : tag == name else {
                        return nil
                    }
                    open.append(name)
                }
            case ">": return nil
            case "&":
                guard let end = rest.firstIndex(of: ";"),
                    let sign = ["amp": "&", "lt": "<", "gt": ">", "quot": "\""][String(rest[..<end])]
                else { return nil }
                read += sign
                rest = rest[rest.index(after: end)...]
            default: read.append(character)
            }
        }
        return open.isEmpty ? read : nil
    }
}

/// What services publish of the bodies that they take, as far as it concerns what is sent to them.
extension Published {
    /// - Source: docs.slack.dev, "Reference: Block Kit" (header, section, rich text, text object) and "Secondary message
    ///   attachments".
    static let slack: Published = {
        let plain: (ClosedRange<Int>) -> Published = { length in
            .object(["type*": .choice(["plain_text"]), "text*": .text(length), "emoji": .bool])
        }
        let style = Published.object(["bold": .bool, "italic": .bool, "strike": .bool, "code": .bool])
        let element = Published.either([
            .object(["type*": .choice(["text"]), "text*": .text(), "style": style]),
            .object(["type*": .choice(["link"]), "url*": .address, "text": .text(), "style": style]),
        ])
        let section = Published.object([
            "type*": .choice(["rich_text_section"]), "elements*": .list(0...Int.max, element),
        ])
        let block = Published.either([
            .object(["type*": .choice(["header"]), "text*": plain(1...150)]),
            .object(["type*": .choice(["section"]), "text*": plain(1...3000)]),
            .object(["type*": .choice(["rich_text"]), "elements*": .list(1...Int.max, section)]),
        ])
        let attachment = Published.object([
            "color": .word(7...7, also: "#"), "fallback": .text(), "blocks*": .list(1...50, block),
        ])
        return .object(["attachments*": .list(1...20, attachment)])
    }()

    /// - Source: docs.mattermost.com, "Incoming webhooks" and "Message attachments"; a post has 16,383 characters.
    static let mattermost = Published.object([
        "attachments*": .list(
            1...20,
            .object([
                "color": .word(7...7, also: "#"), "fallback": .text(), "title": .text(1...16_383),
                "text": .text(0...16_383),
            ]))
    ])

    /// - Source: discord.com/developers, "Execute Webhook", "Embed limits", "Allowed mentions object".
    static let discord = Published.object([
        "embeds*": .list(
            1...10,
            .object([
                "title": .text(1...256), "description": .text(1...4096), "color": .int(0...0xFF_FFFF),
                "timestamp": .time,
            ])),
        "allowed_mentions": .object(["parse": .list(0...3, .choice(["roles", "users", "everyone"]))]),
        "flags": .int(4096...4096),
    ])

    /// - Source: core.telegram.org/bots/api, `sendMessage`, "HTML style", `InlineKeyboardMarkup`.
    static let telegram = Published.object([
        "chat_id*": .either([.int(Int.min...Int.max), .text(2...100)]),
        "message_thread_id": .int(1...Int.max),
        "text*": .html(["b", "i", "code", "a"], 1...4096),
        "parse_mode": .choice(["HTML"]), "disable_notification": .bool,
        "link_preview_options": .object(["is_disabled": .bool]),
        "reply_markup": .object([
            "inline_keyboard*": .list(
                1...100, .list(1...8, .object(["text*": .text(1...64), "url": .address])))
        ]),
    ])

    /// - Source: spec.matrix.org, "m.room.message msgtypes", "Event replacements", "Mentioning users", the elements that
    ///   clients show.
    static let matrix = Published.object(matrixContent)
    /// An edit of an event.
    static let matrixEdit = Published.object(
        matrixContent.merging([
            "m.new_content*": .object(matrixContent),
            "m.relates_to*": .object(["rel_type*": .choice(["m.replace"]), "event_id*": .text()]),
        ]) { $1 })
    private static let matrixContent: [String: Published] = [
        "msgtype*": .choice(["m.text", "m.notice"]), "body*": .text(),
        "format": .choice(["org.matrix.custom.html"]),
        "formatted_body": .html(["strong", "br", "b", "i", "code", "a"], 1...65_536),
        "m.mentions": .object(["user_ids": .list(0...0, .text()), "room": .bool]),
    ]

    /// - Source: adaptivecards.io/explorer, version 1.4 (RichTextBlock, TextRun, Action.OpenUrl);
    ///   learn.microsoft.com, "Create incoming webhooks with Workflows".
    static let teams: Published = {
        let open = Published.object([
            "type*": .choice(["Action.OpenUrl"]), "title": .text(), "url*": .address,
        ])
        let run = Published.object([
            "type*": .choice(["TextRun"]), "text*": .text(),
            "weight": .choice(["Bolder", "Default", "Lighter"]),
            "size": .choice(["Default", "Small", "Medium", "Large", "ExtraLarge"]),
            "color": .choice(["Default", "Dark", "Light", "Accent", "Good", "Warning", "Attention"]),
            "italic": .bool, "fontType": .choice(["Default", "Monospace"]), "selectAction": open,
        ])
        let card = Published.object([
            "type*": .choice(["AdaptiveCard"]), "$schema": .address, "version*": .choice(["1.4"]),
            "body": .list(
                1...Int.max,
                .object(["type*": .choice(["RichTextBlock"]), "inlines*": .list(1...Int.max, run)])),
            "actions": .list(1...6, open), "msteams": .object(["width": .choice(["Full"])]),
        ])
        return .object([
            "type*": .choice(["message"]), "summary": .text(),
            "attachments*": .list(
                1...10,
                .object([
                    "contentType*": .choice(["application/vnd.microsoft.card.adaptive"]), "content*": card,
                ])),
        ])
    }()

    /// - Source: developer.pagerduty.com, "Send an Alert Event", Events API v2.
    static let pagerDuty = Published.either([
        .object([
            "routing_key*": .word(32...32, also: ""), "event_action*": .choice(["trigger"]),
            "dedup_key": .text(1...255),
            "payload*": .object([
                "summary*": .text(1...1024), "source*": .text(),
                "severity*": .choice(["critical", "error", "warning", "info"]), "timestamp": .time,
                "component": .text(), "group": .text(), "class": .text(),
                "custom_details": .map(name: .text(), .anyText),
            ]),
            "client": .text(), "client_url": .address,
            "links": .list(1...Int.max, .object(["href*": .address, "text": .text()])),
        ]),
        .object([
            "routing_key*": .word(32...32, also: ""), "event_action*": .choice(["acknowledge", "resolve"]),
            "dedup_key*": .text(1...255),
        ]),
    ])

    /// - Source: prometheus/alertmanager, `api/v2/openapi.yaml`, `postableAlerts`; the data model of Prometheus for names of
    ///   labels.
    static let alertmanager = Published.list(
        1...Int.max,
        .object([
            "labels*": .map(name: .word(1...1000, also: "_"), .text()),
            "annotations": .map(name: .word(1...1000, also: "_"), .anyText), "startsAt": .time,
            "endsAt": .time,
            "generatorURL": .address,
        ]))

    /// - Source: cloudevents/spec, `cloudevents/formats/cloudevents.json`, 1.0.2.
    static let cloudEvent = Published.object([
        "id*": .text(), "source*": .text(), "specversion*": .choice(["1.0"]), "type*": .text(),
        "datacontenttype": .choice(["application/json"]), "dataschema": .address, "subject": .text(),
        "time": .time, "data": .anything,
    ])

    /// - Source: docs.ntfy.sh/publish, "Publish as JSON", "Action buttons", "Updating notifications", "Limitations".
    static let ntfy = Published.object([
        "topic*": .word(1...64, also: "-_"), "title": .text(), "message": .text(1...4096, .bytes),
        "priority": .int(1...5), "tags": .list(0...5, .word(1...64, also: "_+-")),
        "sequence_id": .word(1...64, also: "-_"), "click": .address,
        "actions": .list(
            1...3, .object(["action*": .choice(["view"]), "label*": .text(), "url*": .address])),
    ])

    /// - Source: gotify.net/api-docs, `createMessage`; "Message extras".
    static let gotify = Published.object([
        "title": .text(), "message*": .text(), "priority": .int(0...10),
        "extras": .object([
            "client::display": .object(["contentType*": .choice(["text/plain", "text/markdown"])]),
            "client::notification": .object(["click": .object(["url*": .address])]),
        ]),
    ])

    /// - Source: developer.apple.com, "Generating a remote notification" and "Starting and updating Live Activities with
    ///   ActivityKit push notifications"; what is below `content-state` is the app's own.
    static let liveActivity: Published = {
        let alert = Published.object(["title": .text(), "body": .anyText, "sound": .text()])
        return .object([
            "aps*": .either([
                .object(["alert*": alert]),
                .object([
                    "timestamp*": .int(1...Int.max), "event*": .choice(["start", "update", "end"]),
                    "content-state*": .object([
                        "taskName*": .anyText, "progress": .number(0...1), "status*": .text(),
                        "timeRemaining": .int(0...Int.max), "botName": .anyText, "message": .anyText,
                    ]),
                    "attributes-type": .text(), "attributes": .map(name: .text(), .text()),
                    "input-push-token": .int(1...1), "alert": alert, "dismissal-date": .int(1...Int.max),
                    "stale-date": .int(1...Int.max), "relevance-score": .number(0...100),
                ]),
            ])
        ])
    }()

    /// - Source: standardwebhooks/standardwebhooks, "Payload structure".
    static let standardWebhook = Published.object(["type*": .text(), "timestamp*": .time, "data*": .anything])
}
