import Timeline
package import Tracking

/// What a gateway is asked: a method with its parameters, exactly those that every version knows.
///
/// The parameters are closed: one key too many fails the whole call.
package struct GatewayCall: Hashable, Sendable {
    /// The method.
    package let method: String
    /// Its parameters.
    package let params: JSON

    /// A call of a method.
    package init(_ method: String, _ params: KeyValuePairs<String, JSON?> = [:]) {
        self.method = method
        self.params = .object(params)
    }

    /// A call whose parameters are a value as it is.
    init(_ method: String, whole params: JSON) { (self.method, self.params) = (method, params) }

    /// The frame that makes the call, to be answered under `id`.
    package func frame(id: String) -> [UInt8] {
        JSON.object(["type": .string("req"), "id": .string(id), "method": .string(method), "params": params])
            .bytes
    }
}

// Chat.
extension GatewayCall {
    /// Asks the agent of a session; `key` names the run, and the same key never starts two within five minutes.
    package static func send(
        _ message: String, to session: String, key: String, isDelivered: Bool, timeout: Duration?
    ) -> GatewayCall {
        GatewayCall(
            "chat.send",
            [
                "sessionKey": .string(session), "message": .string(message), "deliver": .bool(isDelivered),
                "timeoutMs": timeout.map { .int($0.milliseconds) }, "idempotencyKey": .string(key),
            ])
    }

    /// The newest messages of a session.
    package static func history(of session: String, limit: Int = SessionHistory.limit) -> GatewayCall {
        GatewayCall("chat.history", ["sessionKey": .string(session), "limit": .int(limit)])
    }

    /// Ends a run.
    package static func abort(_ run: String, in session: String) -> GatewayCall {
        GatewayCall("chat.abort", ["sessionKey": .string(session), "runId": .string(run)])
    }

    /// Waits for the end of a run, at most so long; of a run that nobody knows it reports a timeout, too.
    package static func wait(for run: String, atMost limit: Duration) -> GatewayCall {
        GatewayCall("agent.wait", ["runId": .string(run), "timeoutMs": .int(limit.milliseconds)])
    }
}

// Its agents and channels.
extension GatewayCall {
    /// Asks an agent.
    ///
    /// It is answered twice: when the run is accepted, and when that has ended.
    package static func agent(
        _ message: String, of agent: String?, in session: String?, key: String, isDelivered: Bool,
        timeout: Duration?
    ) -> GatewayCall {
        GatewayCall(
            "agent",
            [
                "message": .string(message), "agentId": agent.map { .string($0) },
                "sessionKey": session.map { .string($0) }, "deliver": .bool(isDelivered),
                "timeout": timeout.map { .int($0.components.seconds) }, "idempotencyKey": .string(key),
            ])
    }

    /// Sends a message by one of the gateway's channels, without asking an agent.
    package static func deliver(
        _ message: String, to person: String, by channel: String?, key: String
    ) -> GatewayCall {
        GatewayCall(
            "send",
            [
                "to": .string(person), "message": .string(message), "channel": channel.map { .string($0) },
                "idempotencyKey": .string(key),
            ])
    }

    /// Puts a text before the main conversation: at once, or with the next heartbeat.
    package static func wake(_ text: String, atOnce: Bool) -> GatewayCall {
        GatewayCall("wake", ["mode": .string(atOnce ? "now" : "next-heartbeat"), "text": .string(text)])
    }
}

// The gateway itself.
extension GatewayCall {
    /// How the gateway is; needs no scope.
    package static let health = GatewayCall("health")

    /// Its agents.
    package static let agents = GatewayCall("agents.list")

    /// How the gateway and its agents are.
    package static let status = GatewayCall("status")

    /// The sessions that were active within the time before now.
    package static func sessions(activeWithin time: Duration) -> GatewayCall {
        GatewayCall("sessions.list", ["activeMinutes": .int(time.milliseconds / 60_000)])
    }
}

// Its own jobs.
extension GatewayCall {
    /// Whether its scheduler runs, and when it starts something next.
    package static let cronStatus = GatewayCall("cron.status")

    /// A page of its jobs, those that are disabled among them.
    package static func cronJobs(from offset: Int) -> GatewayCall {
        GatewayCall(
            "cron.list", ["includeDisabled": .bool(true), "limit": .int(200), "offset": .int(offset)])
    }

    /// One of its jobs; version 4 alone has this.
    package static func cronJob(_ id: String) -> GatewayCall { GatewayCall("cron.get", ["id": .string(id)]) }

    /// Makes a job of a definition that the caller knows to be one.
    package static func cronAdd(_ job: JSON) -> GatewayCall { GatewayCall("cron.add", whole: job) }

    /// Changes what `patch` names of a job; where a `revision` is given, only if it is the job's.
    package static func cronUpdate(
        _ id: String, _ patch: KeyValuePairs<String, JSON?>, revision: String? = nil
    ) -> GatewayCall {
        GatewayCall(
            "cron.update",
            [
                "id": .string(id), "expectedConfigRevision": revision.map { .string($0) },
                "patch": .object(patch),
            ])
    }

    /// Removes a job.
    package static func cronRemove(_ id: String) -> GatewayCall {
        GatewayCall("cron.remove", ["id": .string(id)])
    }

    /// Runs a job now, or only if it is due.
    package static func cronRun(_ id: String, onlyIfDue: Bool) -> GatewayCall {
        GatewayCall("cron.run", ["id": .string(id), "mode": .string(onlyIfDue ? "due" : "force")])
    }

    /// The newest runs of all its jobs.
    package static func cronRuns(limit: Int) -> GatewayCall {
        GatewayCall(
            "cron.runs", ["scope": .string("all"), "limit": .int(limit), "sortDir": .string("desc")])
    }
}

/// One frame that a gateway sends, read from hostile bytes.
///
/// - Source: openclaw/openclaw, gateway-protocol, versions 3 and 4; see openclaw.md 2.
package enum GatewayFrame: Hashable, Sendable {
    /// The answer to the request of this id; one request may have several.
    case response(id: String, Result<JSON, GatewayFault>)
    /// Something happened; `seq` counts what is sent to all, from an arbitrary number on.
    case event(name: String, payload: JSON, seq: Int?)
    /// A kind of frame that this version does not know: ignored.
    case other(String)

    /// The largest frame that is read.
    package static let limit = 26_214_400
    /// The largest frame before the handshake has ended.
    package static let limitBeforeHello = 65_536

    /// Reads a frame.
    ///
    /// - Throws: ``Malformed`` for what is none.
    package init(_ bytes: ArraySlice<UInt8>) throws(Malformed) {
        guard bytes.count <= Self.limit else { throw Malformed(problem: "it is larger than 25 MiB") }
        guard let json = JSON(parsing: bytes, repairing: true) else {
            throw Malformed(problem: "it is not JSON")
        }
        guard let type = json["type"]?.text else { throw Malformed(problem: "it has no type") }
        switch type {
        case "res":
            guard let id = json["id"]?.text, case .bool(let isGood)? = json["ok"] else {
                throw Malformed(problem: "it is an answer without an id or a result")
            }
            self = .response(
                id: id, isGood ? .success(json["payload"] ?? .null) : .failure(GatewayFault(json)))
        case "event":
            guard let name = json["event"]?.text else {
                throw Malformed(problem: "it is an event without a name")
            }
            self = .event(name: name, payload: json["payload"] ?? .null, seq: json["seq"]?.int)
        default: self = .other(CleanText.line(type, limit: 40))
        }
    }

    /// Bytes that are no frame.
    package struct Malformed: Error, Hashable, Sendable {
        /// What is wrong with them, as a sentence without a full stop.
        package let problem: String
    }
}

/// Why a gateway did not do what it was asked.
package struct GatewayFault: Error, Hashable, Sendable {
    /// The protocol's word: `UNAVAILABLE`, `INVALID_REQUEST` and others, also ones that this version does not know.
    package var code: String
    /// What the gateway says, as one clean line.
    package var message: String
    /// What it adds; null where it adds nothing.
    package var details: JSON
    /// Whether it says that the same request may succeed later.
    package var isRetryable: Bool
    /// How long to wait before that; nil: it does not say.
    package var retryAfter: Duration?

    /// The fault in an answer that reports one.
    init(_ answer: JSON) {
        let error = answer["error"]
        // The second answer to `agent` has what failed in its payload.
        let summary = answer["payload"]?["summary"]?.text
        code = CleanText.line(error?["code"]?.text ?? "UNKNOWN", limit: 40)
        // Cut only once what must be hidden is hidden: half of a token is still a part of it.
        message = CleanText.line(error?["message"]?.text ?? summary ?? "", limit: 8192)
        details = error?["details"] ?? .null
        isRetryable = error?["retryable"] == .bool(true)
        retryAfter = error?["retryAfterMs"]?.milliseconds
    }

    /// The same fault without what must not be shown, its message as a line of at most 300 characters.
    package func hiding(_ hidden: HiddenTexts) -> GatewayFault {
        var fault = self
        fault.code = hidden.clean(code)
        fault.message = CleanText.line(hidden.clean(message), limit: 300)
        fault.details = details.hiding(hidden)
        return fault
    }

    /// The word that the details add, such as `PAIRING_REQUIRED`.
    package var detailCode: String? { details["code"]?.text.map { CleanText.line($0, limit: 60) } }

    /// The scope that this connection lacks; nil: that is not the reason.
    package var missingScope: String? {
        if detailCode == "MISSING_SCOPE" || code == "FORBIDDEN" {
            if let scope = details["missingScope"]?.text { return CleanText.line(scope, limit: 60) }
        }
        let prefix = "missing scope: "
        return message.hasPrefix(prefix) ? String(message.dropFirst(prefix.count)) : nil
    }

    /// How long a request is refused because the gateway is starting or busy; nil: that is not the reason.
    package var pause: Duration? {
        guard code == "UNAVAILABLE", isRetryable || retryAfter != nil else { return nil }
        return min(max(retryAfter ?? .milliseconds(500), .milliseconds(50)), .seconds(30))
    }
}

extension JSON {
    /// The same value, with what must not be shown hidden in each of its texts.
    fileprivate func hiding(_ hidden: HiddenTexts) -> JSON {
        switch self {
        case .string(let text): .string(hidden.hide(in: text))
        case .array(let elements): .array(elements.map { $0.hiding(hidden) })
        case .members(let members): .members(members.map { .init($0.name, $0.value.hiding(hidden)) })
        case .null, .bool, .number: self
        }
    }

    /// The longest span that is read; what is longer is taken for this.
    static let longestSpan = Duration.milliseconds(31_536_000_000)

    /// A span in milliseconds, from nothing up to a year; nil where it is none.
    var milliseconds: Duration? {
        guard let count = double, count >= 0 else { return nil }
        return .milliseconds(Int64(min(count, Double(Self.longestSpan.milliseconds))))
    }
}
