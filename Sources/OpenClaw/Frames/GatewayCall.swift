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
