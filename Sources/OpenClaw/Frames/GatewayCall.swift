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

    /// The newest runs of all its jobs.
    package static func cronRuns(limit: Int) -> GatewayCall {
        GatewayCall(
            "cron.runs", ["scope": .string("all"), "limit": .int(limit), "sortDir": .string("desc")])
    }
}
