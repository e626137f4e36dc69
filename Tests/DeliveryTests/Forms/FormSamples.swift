import Delivery
import Grouping
import Timeline
import Tracking

/// Bulletins of what really happens, and forms as a file describes them.
enum Sample {
    static let noon = Moment(seconds: 1_800_000_000)
    static let runID = "01900000-0000-7000-8000-000000000001"

    private static let policy = JobPolicy(hears: Set(JobNews.allCases))

    /// A run of `backup` that failed with exit code 3.
    static func failure(of bot: String = "ops", text: String = "no tape in the drive") -> Bulletin {
        var fact = JobFact(run: 7, state: .failed, reason: .exitCode, exitCode: 3, text: text, at: noon)
        fact.took = .seconds(12)
        let item = JobItem(job: "backup", bot: bot).version(of: fact, at: noon, policy: policy)
        return bulletin(
            .runFailed(Fact.End(run, reason: .exitCode)), item,
            run: ["state": .string("failed"), "exitCode": .int(3), "outputTail": .string("tar: x\nno tape")])
    }

    /// The first success after three failures.
    static var recovery: Bulletin {
        let fact = JobFact(run: 8, state: .completed, at: noon)
        let item = JobItem(job: "backup", bot: "ops")
            .version(ofRecovery: fact, after: 3, outage: .seconds(7200), policy: policy)
        return bulletin(
            .runRecovered(Fact.Recovery(run, outage: .seconds(7200), failures: 3)), item,
            run: ["state": .string("completed"), "exitCode": .int(0)])
    }

    /// A run that has begun.
    static var start: Bulletin {
        let item = JobItem(job: "backup", bot: "ops")
            .version(of: JobFact(run: 7, state: .starting, at: noon), at: noon, policy: policy)
        let live = JSON.object(["progress": .double(0.25), "timeRemaining": .int(90)])
        return bulletin(.runStarted(run), item, run: ["state": .string("running"), "live": live])
    }

    /// Messages of a bot.
    static func messages(
        _ texts: [String], urgency: Urgency = .normal, reason: RingReason = .first
    ) -> Bulletin {
        let last = texts.map { Message(id: $0, bot: "ops", thread: "main", text: $0, at: noon) }
        let item = ItemSnapshot(
            key: .thread(bot: "ops", thread: "main"), revision: 1, bot: "ops", urgency: urgency,
            reason: reason, at: noon, content: .messages(count: texts.count, last: last))
        return Bulletin(Matter(item, only: nil), at: noon, notice: NoticeComposer.compose(item))
    }

    /// A bulletin of these very texts.
    static func texts(title: String = "t", body: String) -> Bulletin {
        var bulletin = messages(["m"])
        (bulletin.notice.title, bulletin.notice.body, bulletin.notice.markup) = (title, body, nil)
        return bulletin
    }

    static let run = Fact.Run(job: "backup", id: runID, bot: "ops")

    /// What is sent of a run, as an event of its own, at this moment of its life.
    static func event(_ fact: Fact, at moment: Moment, run: KeyValuePairs<String, JSON?>) -> Bulletin {
        let item = JobItem(job: "backup", bot: "ops")
            .version(of: JobFact(run: 7, state: .running, at: moment), at: moment, policy: policy)
        var bulletin = bulletin(fact, item, run: run)
        bulletin.at = moment
        return bulletin
    }

    private static func bulletin(
        _ fact: Fact, _ item: ItemSnapshot, run: KeyValuePairs<String, JSON?>
    ) -> Bulletin {
        var object = JSON.object(run)
        object["id"] = .string(runID)
        object["name"] = .string("backup#7")
        object["job"] = .string("backup")
        return Bulletin(
            Matter(fact), at: noon, notice: NoticeComposer.compose(item),
            objects: [JSON.Member("run", object)])
    }

    /// A form of these settings.
    static func form<Form: HTTPService>(_: Form.Type, _ settings: KeyValuePairs<String, String>) throws
        -> Form
    {
        var values = FormValues()
        for (key, text) in settings {
            switch Form.fields.first(where: { $0.name == key })?.shape {
            case .address: values[key] = .address(try HTTPAddress(text))
            case .secrets: values[key] = .secrets([.file(text)])
            case .duration: values[key] = .duration(.seconds(Int64(text) ?? 0))
            default: values[key] = .word(text)
            }
        }
        return try Form(values)
    }

    static func ntfy() throws -> NtfyForm { try form(NtfyForm.self, ["url": "https://ntfy.sh/alerts"]) }
    static func slack() throws -> SlackForm { try form(SlackForm.self, ["webhook": "/x"]) }
    static func mattermost() throws -> SlackForm {
        try form(SlackForm.self, ["webhook": "/x", "url": "https://chat.example.org"])
    }
    static func discord() throws -> DiscordForm { try form(DiscordForm.self, ["webhook": "/x"]) }
    static func gotify() throws -> GotifyForm {
        try form(GotifyForm.self, ["url": "https://e.org/gotify/", "token": "/x"])
    }
    static func telegram() throws -> TelegramForm {
        try form(TelegramForm.self, ["chat": "-100", "topic": "7", "token": "/x"])
    }
    static func matrix() throws -> MatrixForm {
        try form(MatrixForm.self, ["url": "https://e.org", "token": "/x", "room": "!a/b:e.org"])
    }
    static func teams() throws -> TeamsForm {
        try form(TeamsForm.self, ["url": "https://prod.logic.azure.com", "webhook": "/x"])
    }
    static func cloudEvents(_ mode: String = "binary") throws -> CloudEventsForm {
        try form(CloudEventsForm.self, ["url": "https://e.org/in", "mode": mode])
    }
    static func alertmanager() throws -> AlertmanagerForm {
        try form(AlertmanagerForm.self, ["url": "https://e.org/am"])
    }
    static func pagerDuty() throws -> PagerDutyForm { try form(PagerDutyForm.self, ["key": "/x"]) }
    static func ping() throws -> PingForm { try form(PingForm.self, ["key": "/x"]) }
    static func liveActivity() throws -> LiveActivityForm {
        try form(LiveActivityForm.self, ["url": "https://e.org/push"])
    }
}

extension HTTPForm {
    /// What is queued of a bulletin, as JSON.
    func json(_ bulletin: Bulletin) -> JSON? { JSON(parsing: render(bulletin)[...]) }

    /// The request of a bulletin with these secrets.
    func sent(_ bulletin: Bulletin, _ secrets: [String: String] = [:]) -> HTTPRequest {
        request(
            Parcel(
                id: "01900000-aaaa", type: bulletin.matter.type, timestamp: bulletin.at,
                body: render(bulletin),
                attempt: 1),
            secrets: FormSecrets(secrets.mapValues { [$0] }))
    }

}

extension HTTPLevelForm {
    /// What is posted of a bulletin's notice, as JSON.
    func json(_ bulletin: Bulletin) -> JSON? { sent(bulletin).json }

    /// The request that posts a bulletin's notice with these secrets.
    func sent(_ bulletin: Bulletin, _ secrets: [String: String] = [:]) -> HTTPRequest {
        step(.post(bulletin.notice, at: bulletin.at), secrets)
    }

    /// The request of a step.
    func step(_ step: LevelStep, _ secrets: [String: String] = [:]) -> HTTPRequest {
        request(step, secrets: FormSecrets(secrets.mapValues { [$0] }))
    }

    func answer(_ body: String, status: Int = 200) -> HTTPAnswer {
        HTTPAnswer(status: status, body: Array(body.utf8), receiver: "https://e.org")
    }
}

extension HTTPService {
    /// What an answer means, in one line, and whether it is tried again.
    func verdict(_ status: Int, _ body: String) -> DeliveryError? {
        judge(HTTPAnswer(status: status, body: Array(body.utf8), receiver: "https://e.org"))
    }
}

extension HTTPRequest {
    var json: JSON? { JSON(parsing: body[...]) }
    var text: String { String(decoding: body, as: UTF8.self) }

    subscript(header: String) -> String? { headers.first { $0.name == header }?.value }
}

extension JSON {
    /// The element at a place of a list.
    subscript(place: Int) -> JSON? { elements.indices.contains(place) ? elements[place] : nil }

    var shown: String { String(decoding: bytes, as: UTF8.self) }
}
