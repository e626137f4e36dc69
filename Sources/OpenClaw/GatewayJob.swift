package import Timeline
package import Tracking

/// A job of a gateway's own scheduler, as the gateway lists it.
///
/// What this version does not know of it stays in ``whole``; such a job is shown, and never rewritten.
///
/// - Source: openclaw.md 8.
package struct GatewayJob: Hashable, Sendable {
    /// When it runs.
    package enum Times: Hashable, Sendable {
        /// Once.
        case at(Moment)
        /// Each so long, from an anchor; nil: from when it was made.
        case every(Duration, anchor: Moment?)
        /// At the times of an expression, in a zone (nil: the gateway's own), each moved by its ``GatewayJob/stagger``.
        case cron(String, zone: String?)
        /// In a way that this version does not know, by its name.
        case other(String)
    }

    /// What it does.
    package enum Work: Hashable, Sendable {
        /// Puts a text before the main conversation.
        case event(String)
        /// Asks its agent.
        case turn(String)
        /// Something that this version does not know, by its name.
        case other(String)
    }

    /// What identifies it.
    package var id: String
    /// What people call it.
    package var name: String
    package var isEnabled: Bool
    package var times: Times
    package var work: Work
    /// The most that its runs are moved behind their times.
    package var stagger: Duration
    /// How much of each planned time is that; see whoever looks.
    package var offset = Duration.zero
    /// How long a run may take, by its own rules or the gateway's.
    package var limit: Duration
    /// Which revision of its definition this is; nil: the gateway does not count.
    package var revision: String?
    /// How it is doing.
    package var state: GatewayJobState
    /// All that the gateway shows of it.
    package var whole: JSON

    /// A job of `cron.list`; nil where it is none.
    package init?(_ json: JSON) {
        guard let id = json["id"]?.text, (1...200).contains(id.utf8.count) else { return nil }
        self.id = id
        let name = CleanText.line(json["displayName"]?.text ?? json["name"]?.text ?? "", limit: 80)
        self.name = name.isEmpty ? CleanText.line(id, limit: 80) : name
        isEnabled = json["enabled"] != .bool(false)
        times = Times(json["schedule"] ?? .null)
        work = Work(json["payload"] ?? .null)
        stagger = Self.stagger(json["schedule"] ?? .null)
        limit = Self.limit(json["payload"] ?? .null)
        revision = json["configRevision"]?.text
        state = GatewayJobState(json["state"] ?? .null, wantsDelivery: Self.wantsDelivery(json))
        whole = json
    }

    /// Whether this version knows both when it runs and what it does.
    package var isKnown: Bool {
        switch (times, work) {
        case (.other, _), (_, .other): false
        default: true
        }
    }

    /// Whether it runs once.
    package var runsOnce: Bool { if case .at = times { true } else { false } }

    /// Its schedule as text, to notice that somebody changed it.
    var mark: String { String(decoding: (whole["schedule"] ?? .null).bytes, as: UTF8.self) }

    private static func wantsDelivery(_ json: JSON) -> Bool {
        switch json["delivery"]?["mode"]?.text {
        case "announce", "webhook": true
        default: false
        }
    }

    /// Without a word of its own an expression at minute 0 of each hour named by a star is moved by up to five minutes.
    private static func stagger(_ schedule: JSON) -> Duration {
        guard schedule["kind"]?.text == "cron" else { return .zero }
        if let own = schedule["staggerMs"]?.milliseconds { return own }
        let fields = (schedule["expr"]?.text ?? "").utf8.split(separator: 0x20)
            .map { String(decoding: $0, as: UTF8.self) }
        let rest = fields.count == 6 && fields[0] == "0" ? fields.dropFirst() : fields[...]
        guard let minute = rest.first, let hour = rest.dropFirst().first else { return .zero }
        return minute == "0" && hour.contains("*") ? .seconds(300) : .zero
    }

    private static func limit(_ payload: JSON) -> Duration {
        // A year, as any other time that a gateway names: it is read again from a file.
        if let own = payload["timeoutSeconds"]?.double, own > 0 {
            return .seconds(Int64(min(own, 31_536_000)))
        }
        return payload["kind"]?.text == "agentTurn" ? .seconds(3600) : .seconds(600)
    }
}

/// How a job of a gateway is doing, as its list shows it.
package struct GatewayJobState: Hashable, Sendable {
    /// Its next run; nil: none is planned.
    package var next: Moment?
    /// Since when it is running; nil: it is not.
    package var runningSince: Moment?
    /// When it ran last.
    package var lastRun: Moment?
    /// How that ended: `ok`, `error` or `skipped`.
    package var lastStatus: String?
    /// Why it failed, as one clean line.
    package var lastError: String?
    /// How many runs in a row failed.
    package var errors: Int
    /// Whether what the last run said did not reach whom it was for.
    package var isUndelivered: Bool
    /// Why not.
    package var deliveryError: String?
    /// Why the gateway disabled it; nil: it did not.
    package var disabledBecause: String?

    init(_ json: JSON, wantsDelivery: Bool) {
        next = json["nextRunAtMs"]?.moment
        runningSince = json["runningAtMs"]?.moment
        lastRun = json["lastRunAtMs"]?.moment
        lastStatus = (json["lastRunStatus"] ?? json["lastStatus"])?.text
        lastError = Self.line(json["lastError"])
        errors = max(json["consecutiveErrors"]?.int ?? (lastStatus == "error" ? 1 : 0), 0)
        let delivery = json["lastDeliveryStatus"]?.text
        isUndelivered =
            delivery == "not-delivered"
            || delivery == nil && wantsDelivery && json["lastDelivered"] == .bool(false)
        deliveryError = Self.line(json["lastDeliveryError"])
        disabledBecause = json["autoDisabled"]?["reason"]?.text.map { CleanText.line($0, limit: 60) }
    }

    fileprivate static func line(_ json: JSON?) -> String? {
        json?.text.map { CleanText.line($0, limit: 200) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// A run that a gateway's scheduler has finished, of its log.
package struct GatewayRun: Hashable, Sendable {
    /// The job.
    package var job: String
    /// When it was noted.
    package var at: Moment
    /// When it began.
    package var began: Moment?
    /// `ok`, `error` or `skipped`.
    package var status: String?
    package var error: String?
    /// `delivered`, `not-delivered`, `unknown` or `not-requested`.
    package var delivery: String?
    package var deliveryError: String?

    /// An entry of `cron.runs`; nil where it is none.
    package init?(_ json: JSON) {
        guard let job = json["jobId"]?.text, let at = json["ts"]?.moment else { return nil }
        (self.job, self.at) = (job, at)
        began = json["runAtMs"]?.moment
        status = json["status"]?.text
        error = GatewayJobState.line(json["error"])
        delivery = json["deliveryStatus"]?.text
        deliveryError = GatewayJobState.line(json["deliveryError"])
    }

    /// The same for the same run, however often it is listed.
    var key: String { "\(job) \((began ?? at).microseconds / 1000)" }
}

extension GatewayJob.Times {
    fileprivate init(_ schedule: JSON) {
        let kind = CleanText.line(schedule["kind"]?.text ?? "none", limit: 40)
        switch kind {
        case "at":
            self = Self.moment(schedule["at"]).map { .at($0) } ?? .other(kind)
        case "every":
            let interval = schedule["everyMs"]?.milliseconds ?? .zero
            // A longer one than can be read has other times.
            let isKnown = interval > .zero && interval < JSON.longestSpan
            self = isKnown ? .every(interval, anchor: schedule["anchorMs"]?.moment) : .other(kind)
        case "cron":
            let text = schedule["expr"]?.text.flatMap { $0.utf8.count <= 200 ? $0 : nil }
            let zone = schedule["tz"]?.text.map { CleanText.line($0, limit: 80) }
            self = text.map { .cron(CleanText.line($0, limit: 200), zone: zone) } ?? .other(kind)
        default: self = .other(kind)
        }
    }

    /// ISO 8601, where without a zone UTC is meant, or the milliseconds since 1970.
    private static func moment(_ json: JSON?) -> Moment? {
        guard let text = json?.text, text.utf8.count <= 40 else { return json?.moment }
        if let milliseconds = Int64(text), (0..<9_000_000_000_000).contains(milliseconds) {
            return Moment(microseconds: milliseconds * 1000)
        }
        return try? Moment(iso8601: text, in: .utc)
    }
}

extension GatewayJob.Work {
    fileprivate init(_ payload: JSON) {
        let kind = CleanText.line(payload["kind"]?.text ?? "none", limit: 40)
        switch (kind, payload["text"]?.text, payload["message"]?.text) {
        case ("systemEvent", let text?, _): self = .event(text)
        case ("agentTurn", _, let message?): self = .turn(message)
        default: self = .other(kind)
        }
    }
}

extension JSON {
    /// A moment in milliseconds since 1970; nil where it is none.
    var moment: Moment? {
        guard let time = double, time > 0, time < 9e12 else { return nil }
        return Moment(microseconds: Int64(time) * 1000)
    }
}
