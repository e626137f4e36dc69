import Tracking

/// The parameters of a gateway's methods: closed, as the real ones are, and who may call them.
enum GatewaySchemas {
    enum Kind {
        case text
        case number
        case bool
        case list
        case object
    }

    struct Schema {
        var required: [String: Kind] = [:]
        var optional: [String: Kind] = [:]
        var only4: [String: Kind] = [:]
        /// Nil: none is needed.
        var scope: String?
    }

    static let methods: [String: Schema] = [
        "health": Schema(optional: ["probe": .bool]),
        "status": Schema(scope: "operator.read"),
        "agents.list": Schema(scope: "operator.read"),
        "sessions.list": Schema(
            optional: [
                "limit": .number, "activeMinutes": .number, "includeGlobal": .bool, "label": .text,
                "includeLastMessage": .bool, "agentId": .text, "search": .text,
            ], scope: "operator.read"),
        "chat.history": Schema(
            required: ["sessionKey": .text], optional: ["limit": .number, "maxChars": .number],
            only4: ["agentId": .text, "cursor": .text, "offset": .number], scope: "operator.read"),
        "chat.send": Schema(
            required: ["sessionKey": .text, "message": .text, "idempotencyKey": .text],
            optional: ["thinking": .text, "deliver": .bool, "attachments": .list, "timeoutMs": .number],
            only4: ["agentId": .text, "sessionId": .text, "queueMode": .text], scope: "operator.write"),
        "chat.abort": Schema(
            required: ["sessionKey": .text], optional: ["runId": .text], scope: "operator.write"),
        "agent.wait": Schema(
            required: ["runId": .text], optional: ["timeoutMs": .number], scope: "operator.write"),
        "cron.status": Schema(scope: "operator.read"),
        "cron.list": Schema(
            optional: [
                "includeDisabled": .bool, "limit": .number, "offset": .number, "query": .text,
                "enabled": .text, "sortBy": .text, "sortDir": .text,
            ], scope: "operator.read"),
        "cron.runs": Schema(
            optional: [
                "scope": .text, "id": .text, "jobId": .text, "limit": .number, "offset": .number,
                "status": .text, "sortDir": .text,
            ], scope: "operator.read"),
        "cron.get": Schema(optional: ["id": .text, "jobId": .text], scope: "operator.read"),
        "cron.add": Schema(
            required: [
                "name": .text, "schedule": .object, "sessionTarget": .text, "wakeMode": .text,
                "payload": .object,
            ],
            optional: [
                "description": .text, "enabled": .bool, "deleteAfterRun": .bool, "agentId": .text,
                "sessionKey": .text, "delivery": .object, "failureAlert": .object,
            ], only4: ["declarationKey": .text, "displayName": .text, "trigger": .object, "pacing": .object],
            scope: "operator.admin"),
        "cron.update": Schema(
            required: ["patch": .object], optional: ["id": .text, "jobId": .text],
            only4: ["expectedConfigRevision": .text], scope: "operator.admin"),
        "cron.remove": Schema(optional: ["id": .text, "jobId": .text], scope: "operator.admin"),
        "cron.run": Schema(
            optional: ["id": .text, "jobId": .text, "mode": .text], scope: "operator.admin"),
        "agent": Schema(
            required: ["message": .text, "idempotencyKey": .text],
            optional: [
                "agentId": .text, "sessionKey": .text, "sessionId": .text, "deliver": .bool,
                "timeout": .number, "thinking": .text, "model": .text, "to": .text, "channel": .text,
            ], scope: "operator.write"),
        "send": Schema(
            required: ["to": .text, "idempotencyKey": .text],
            optional: [
                "message": .text, "mediaUrl": .text, "channel": .text, "accountId": .text, "agentId": .text,
                "threadId": .text, "sessionKey": .text,
            ], scope: "operator.write"),
        "sessions.patch": Schema(
            required: ["key": .text], optional: ["label": .text, "model": .text, "sendPolicy": .text],
            scope: "operator.admin"),
        "wake": Schema(required: ["mode": .text, "text": .text], scope: "operator.write"),
    ]

    private static let connect = Schema(
        required: ["minProtocol": .number, "maxProtocol": .number, "client": .object],
        optional: [
            "role": .text, "scopes": .list, "caps": .list, "commands": .list, "permissions": .object,
            "pathEnv": .text, "auth": .object, "device": .object, "locale": .text, "userAgent": .text,
        ])
    private static let client = Schema(
        required: ["id": .text, "version": .text, "platform": .text, "mode": .text],
        optional: [
            "displayName": .text, "deviceFamily": .text, "modelIdentifier": .text, "instanceId": .text,
        ], only4: ["buildId": .text, "timeZone": .text])
    private static let device = Schema(required: [
        "id": .text, "publicKey": .text, "signature": .text, "signedAt": .number, "nonce": .text,
    ])
    private static let auth = Schema(
        optional: ["token": .text, "password": .text, "deviceToken": .text, "bootstrapToken": .text])
    private static let clients = [
        "webchat-ui", "openclaw-control-ui", "openclaw-tui", "webchat", "cli", "gateway-client",
        "openclaw-macos", "openclaw-ios", "openclaw-android", "node-host", "test", "fingerprint",
        "openclaw-probe",
    ]
    private static let modes = ["webchat", "cli", "ui", "backend", "node", "probe", "test"]

    /// Why a frame is none in this version; nil: it is one.
    static func fault(inRequest frame: JSON, version: Int) -> String? {
        let schema = Schema(
            required: ["type": .text, "id": .text, "method": .text], optional: ["params": .object],
            only4: ["traceparent": .text])
        return fault(in: frame, schema, version) ?? (frame["id"]?.text?.isEmpty == true ? "empty id" : nil)
    }

    /// Why parameters are refused; nil: they are good.
    static func fault(in params: JSON, of method: String, version: Int) -> String? {
        guard method == "connect" else {
            return methods[method].flatMap { fault(in: params, $0, version) }
                ?? deepFault(in: params, version)
        }
        if let fault = fault(in: params, connect, version) { return fault }
        let client = params["client"] ?? .null
        if let fault = fault(in: client, Self.client, version) { return "client: \(fault)" }
        guard clients.contains(client["id"]?.text ?? "") else { return "client.id is none of the known" }
        guard modes.contains(client["mode"]?.text ?? "") else { return "client.mode is none of the known" }
        if let device = params["device"], let fault = fault(in: device, Self.device, version) {
            return "device: \(fault)"
        }
        if let auth = params["auth"], let fault = fault(in: auth, Self.auth, version) {
            return "auth: \(fault)"
        }
        return nil
    }

    private static let schedules: [String: Schema] = [
        "at": Schema(required: ["kind": .text, "at": .text]),
        "every": Schema(required: ["kind": .text, "everyMs": .number], optional: ["anchorMs": .number]),
        "cron": Schema(
            required: ["kind": .text, "expr": .text], optional: ["tz": .text, "staggerMs": .number]),
    ]
    private static let payloads: [String: Schema] = [
        "systemEvent": Schema(required: ["kind": .text, "text": .text]),
        "agentTurn": Schema(
            required: ["kind": .text, "message": .text],
            optional: [
                "model": .text, "fallbacks": .list, "thinking": .text, "timeoutSeconds": .number,
                "lightContext": .bool, "toolsAllow": .list, "allowUnsafeExternalContent": .bool,
            ]),
    ]

    /// Why the schedule or the payload of a job, or of a change of one, is refused.
    private static func deepFault(in params: JSON, _ version: Int) -> String? {
        for part in [params, params["patch"] ?? .null] {
            for (name, known) in [("schedule", schedules), ("payload", payloads)] {
                guard let value = part[name] else { continue }
                guard let schema = known[value["kind"]?.text ?? ""] else { return "\(name).kind is unknown" }
                if let fault = fault(in: value, schema, version) { return "\(name): \(fault)" }
            }
        }
        return nil
    }

    private static func fault(in json: JSON, _ schema: Schema, _ version: Int) -> String? {
        guard case .members(let members) = json else { return "no object" }
        var known = schema.required.merging(schema.optional) { first, _ in first }
        if version >= 4 { known.merge(schema.only4) { first, _ in first } }
        for member in members {
            guard let kind = known[member.name] else { return "unexpected property \(member.name)" }
            guard fits(member.value, kind) else { return "\(member.name) has the wrong type" }
        }
        return schema.required.keys.sorted().first { json[$0] == nil }.map { "\($0) is missing" }
    }

    private static func fits(_ value: JSON, _ kind: Kind) -> Bool {
        switch (value, kind) {
        case (.string, .text), (.number, .number), (.bool, .bool), (.array, .list), (.members, .object): true
        default: false
        }
    }
}
