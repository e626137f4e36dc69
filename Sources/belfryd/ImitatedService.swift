import APIServer
import Tracking

/// A service whose answers `belfryd listen` imitates: which requests are meant for it, and what it answers.
///
/// - Source: the services' own pages, as named in `Delivery`, one form each.
enum ImitatedService: String {
    case webhook, cloudEvents, ntfy, gotify, slack, discord, telegram, matrix, teams, alertmanager
    case pagerDuty, ping, liveActivity
    /// Whatever else is posted.
    case other

    /// What a request asks for, with all that the answer depends on.
    struct Call {
        let service: ImitatedService
        /// What is done, as `edit`; never the address, in which a token may be.
        let action: String
        /// The message that is changed or removed; nil: a new one.
        let message: String?
        /// The body, where it is JSON.
        let body: JSON?
        /// The beginning of the body where it is text.
        private let text: String

        /// Reads a request; nil: it asks for nothing that can be answered.
        init?(_ request: HTTPListener.Received) {
            body = JSON(parsing: request.body[...])
            let isText = request["content-type"]?.hasPrefix("text/plain") == true
            text = isText ? CleanText.line(String(decoding: request.body, as: UTF8.self), limit: 200) : ""
            let path = request.target.prefix { $0 != "?" }
            let parts = path.split(separator: "/").map(String.init)
            guard let service = ImitatedService(request, parts, body) else { return nil }
            self.service = service
            let last = parts.last ?? ""
            switch (service, request.method) {
            case (.telegram, _):
                action = last
                message = action.hasPrefix("send") ? nil : body?["message_id"]?.int.map { "\($0)" }
            case (.discord, "PATCH"): (action, message) = ("edit", last)
            case (.discord, "DELETE"): (action, message) = ("delete", last)
            case (.discord, _):
                (action, message) = (request.target.contains("wait=true") ? "post" : "post, unwaited", nil)
            case (.matrix, _):
                (action, message) = (
                    parts.contains("redact") ? "redact" : parts.contains("send") ? "send" : last, nil
                )
            case (.ping, _):
                (action, message) = (
                    ["start", "fail", "log"].contains(last) || Int(last) != nil ? last : "success", nil
                )
            case (.pagerDuty, _): (action, message) = (body?["event_action"]?.text ?? "", nil)
            case (.other, _): (action, message) = (request.method, nil)
            default: (action, message) = ("", nil)
            }
        }
    }

    /// The service that `request` is for; nil: none, and it posts nothing either.
    private init?(_ request: HTTPListener.Received, _ parts: [String], _ body: JSON?) {
        let type = request["content-type"] ?? ""
        let isPost = request.method == "POST"
        let attachment = body?["attachments"]?.elements.first?["contentType"]?.text ?? ""
        switch true {
        case Self.isBot(parts.dropLast().last): self = .telegram
        case parts.starts(with: ["_matrix", "client"]): self = .matrix
        case request.method == "DELETE" || request.method == "PATCH":
            guard parts.dropLast().last == "messages" else { return nil }
            self = .discord
        case isPost && parts.suffix(3) == ["api", "v2", "alerts"]: self = .alertmanager
        case isPost && parts.suffix(2) == ["v2", "enqueue"]: self = .pagerDuty
        case isPost && parts.last == "message" && body?["message"] != nil: self = .gotify
        case isPost && parts.isEmpty && body?["topic"] != nil: self = .ntfy
        case request["ce-specversion"] != nil || type.hasPrefix("application/cloudevents"):
            self = .cloudEvents
        case request["apns-push-type"] != nil || body?["aps"] != nil: self = .liveActivity
        case isPost && (body?["embeds"] != nil || request.target.contains("wait=true")): self = .discord
        case attachment.contains("card"): self = .teams
        case isPost && (body?["blocks"] != nil || parts.first == "services"): self = .slack
        case isPost && (request["webhook-id"] != nil || body?["timestamp"] != nil): self = .webhook
        case Self.isPing(request, parts, type): self = .ping
        case isPost || request.method == "PUT": self = .other
        default: return nil
        }
    }

    /// `bot123456:TOKEN`.
    private static func isBot(_ part: String?) -> Bool {
        guard let part, part.hasPrefix("bot") else { return false }
        return part.contains(":") || part.uppercased().contains("%3A")
    }

    /// `/ID`, `/ID/start` and `/KEY/SLUG/CODE`, asked for or with a text.
    private static func isPing(_ request: HTTPListener.Received, _ parts: [String], _ type: String) -> Bool {
        guard ["GET", "HEAD", "POST"].contains(request.method), let last = parts.last else { return false }
        let isSignal = ["start", "fail", "log"].contains(last) || Int(last).map { 0...255 ~= $0 } == true
        let isID = parts.contains {
            $0.utf8.count == 36 && $0.utf8.filter { $0 == UInt8(ascii: "-") }.count == 4
        }
        return (isSignal || isID) && (request.body.isEmpty || type.hasPrefix("text/plain"))
    }
}

extension ImitatedService.Call {
    /// What the service answers to what it takes; `number` counts its messages.
    func success(_ number: Int) -> HTTPListener.Answer {
        func json(_ members: KeyValuePairs<String, JSON>, status: Int = 200) -> HTTPListener.Answer {
            .json(.members(members.map { JSON.Member($0.key, $0.value) }), status: status)
        }
        switch service {
        case .webhook, .cloudEvents, .other: return HTTPListener.Answer(204)
        case .liveActivity, .alertmanager: return HTTPListener.Answer(200)
        case .teams: return HTTPListener.Answer(202)
        case .slack: return .text("ok")
        case .ping: return .text("OK")
        case .ntfy:
            return json([
                "id": .string("listen\(number)"), "time": .int(0), "event": .string("message"),
                "topic": body?["topic"] ?? .string(""), "message": body?["message"] ?? .string("triggered"),
            ])
        case .gotify:
            return json(["id": .int(number), "appid": .int(1), "message": body?["message"] ?? .string("")])
        case .pagerDuty:
            return json(
                [
                    "status": .string("success"), "message": .string("Event processed"),
                    "dedup_key": body?["dedup_key"] ?? .string("listen\(number)"),
                ], status: 202)
        case .matrix: return json(["event_id": .string("$listen\(number)")])
        case .discord:
            if action == "delete" || action == "post, unwaited" { return HTTPListener.Answer(204) }
            return json([
                "id": .string(message ?? "\(number)"), "type": .int(0),
                "content": body?["content"] ?? .string(""),
            ])
        case .telegram:
            let result: JSON =
                switch action {
                case "getMe":
                    .object(["id": .int(1), "is_bot": .bool(true), "username": .string("listen_bot")])
                case "deleteMessage": .bool(true)
                default:
                    .object([
                        "message_id": .int(message.flatMap { Int($0) } ?? number), "date": .int(0),
                        "chat": .object(["id": body?["chat_id"] ?? .int(1)]),
                        "text": body?["text"] ?? .string(""),
                    ])
                }
            return json(["ok": .bool(true), "result": result])
        }
    }

    /// What the service answers to a change of a message that it does not have; nil: it does not mind.
    var loss: HTTPListener.Answer? {
        switch service {
        case .telegram:
            refusal(400, "Bad Request: message to \(action == "deleteMessage" ? "delete" : "edit") not found")
        case .discord: refusal(404, "Unknown Message", code: 10_008)
        default: nil
        }
    }

    /// What the service answers with a status that is none of success.
    func refusal(
        _ status: Int, _ sentence: String = "belfryd listen answers as --status says", code: Int = 0
    ) -> HTTPListener.Answer {
        switch service {
        case .telegram:
            .json(
                .object([
                    "ok": .bool(false), "error_code": .int(status), "description": .string(sentence),
                ]), status: status)
        case .discord: .json(.object(["message": .string(sentence), "code": .int(code)]), status: status)
        case .matrix:
            .json(.object(["errcode": .string("M_UNKNOWN"), "error": .string(sentence)]), status: status)
        case .ntfy: .json(.object(["code": .int(status * 100), "error": .string(sentence)]), status: status)
        case .gotify: .json(.object(["errorDescription": .string(sentence)]), status: status)
        case .slack, .ping: .text(sentence, status: status)
        default: HTTPListener.Answer(status)
        }
    }

    /// What it says, on one clean line: anybody may have sent it.
    var summary: String {
        let words = [
            "alertname", "title", "summary", "text", "content", "body", "message", "description", "name",
        ]
        var found: [String] = []
        func collect(_ json: JSON, _ depth: Int) {
            guard depth < 8, found.count < 3 else { return }
            for word in words {
                if let text = json[word]?.text, !text.isEmpty, !found.contains(text), found.count < 3 {
                    found.append(text)
                }
            }
            for element in json.elements { collect(element, depth + 1) }
            if case .members(let members) = json {
                for member in members { collect(member.value, depth + 1) }
            }
        }
        if let body { collect(body, 0) } else if !text.isEmpty { found = [text] }
        let name =
            action.isEmpty ? service.rawValue : "\(service.rawValue) \(CleanText.line(action, limit: 40))"
        let said = found.map { "\"\(CleanText.line($0, limit: 200))\"" }.joined(separator: " ")
        let subject = message.map { " \(CleanText.line($0, limit: 40))" } ?? ""
        return "\(name)\(subject)" + (said.isEmpty ? "" : "  \(said)")
    }
}
