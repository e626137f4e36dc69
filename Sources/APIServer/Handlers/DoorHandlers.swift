import API
import Cron
import Delivery
import Engine
import Host
import Ledger
import Timeline
import Tracking
import WebhookChannel

extension DaemonHandler {
    func tokens() async throws(APIError) -> [WireToken] {
        try await reading(await control.ledger.tokens()).map { WireToken($0) }
    }

    /// Makes a token that allows what the draft names; publishing where it names nothing.
    func addToken(_ draft: TokenDraft) async throws(APIError) -> WireNewToken {
        if let fault = JobName.fault(in: draft.name) {
            throw APIError(.badName, "the name \(Quoted.of(draft.name)): \(fault)")
        }
        if let job = draft.job, let fault = JobName.fault(in: job) {
            throw APIError(.badName, "the job \(Quoted.of(job)): \(fault)")
        }
        let scopes = draft.scopes ?? []
        guard !scopes.isEmpty || draft.job != nil else {
            throw APIError(
                .badValue, "the token would allow nothing",
                hint: "Name what it allows: \(TokenScope.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        let secret = try Self.secret(of: draft)
        var record = TokenRecord(
            id: control.makeID(), name: draft.name, digest: DoorToken.digest(of: secret), scopes: Set(scopes),
            job: draft.job,
            madeAt: control.clock.now)
        record.signature = draft.signed
        try await asking(await control.addToken(record))
        if draft.signed != nil { try await keep(secret, of: draft.name) }
        return WireNewToken(secret: secret, token: WireToken(record))
    }

    func removeToken(_ name: String) async throws(APIError) {
        try await asking(await control.removeToken(name))
        try removeHookSecret(of: name)
    }

    /// The secret of a new token: the one that the service gave, or one that nobody can guess.
    private static func secret(of draft: TokenDraft) throws(APIError) -> String {
        guard let signed = draft.signed else {
            guard draft.secret == nil else {
                throw APIError(
                    .badValue, "only a token for signed hooks takes a secret", hint: "Add --signed.")
            }
            return DoorToken.make()
        }
        guard draft.job != nil, draft.scopes?.isEmpty != false else {
            throw APIError(
                .badValue, "a token for signed hooks is for one job, and allows nothing else",
                hint: "Name the job with --job, and no scope.")
        }
        if let secret = draft.secret {
            guard secret.utf8.count >= 16 else {
                throw APIError(.badValue, "the secret is shorter than 16 characters")
            }
            if signed == .standard, (try? WebhookSecret.list(secret)) == nil {
                throw APIError(.badValue, "the secret does not begin with whsec_, or with whpk_")
            }
            return secret
        }
        guard signed != .slack else {
            throw APIError(
                .badValue, "Slack makes the secret", hint: "Pipe its signing secret in: --secret - < FILE")
        }
        return signed == .standard ? "whsec_" + Base64.encode(DoorToken.bytes()) : DoorToken.make()
    }

    /// Keeps the secret that signatures are checked with, for nobody else to read.
    private func keep(_ secret: String, of name: String) async throws(APIError) {
        let path = hookSecretPath(name)
        do {
            try PrivateFolder.make(SmallFile.parent(of: path), within: identity.state)
            try SmallFile.replace(path, with: Array((secret + "\n").utf8), isDurable: true)
        } catch {
            // A token whose secret nobody has would refuse everything.
            try await asking(await control.removeToken(name))
            throw APIError(.internalFault, "the secret can't be kept: \(error)")
        }
    }
}

extension DaemonHandler {
    func expectations() async throws(APIError) -> [WireExpectation] {
        try await asking(await control.expectations()).map { wire($0.0, dueAt: $0.dueAt) }
    }

    /// Makes an expectation, or changes the one of that name.
    func expect(_ draft: ExpectationDraft) async throws(APIError) -> WireExpectation {
        if let fault = JobName.fault(in: draft.name) {
            throw APIError(.badName, "the name \(Quoted.of(draft.name)): \(fault)")
        }
        guard !["add", "list", "rm"].contains(draft.name) else {
            throw APIError(.badName, "a subcommand of belfry expect has the name \(Quoted.of(draft.name))")
        }
        guard links != nil else { throw APIError(.internalFault, "the key of addresses can't be read") }
        let schedule = try ScheduleSpec(draft.schedule, reading)
        switch schedule.kind {
        case .cron, .calendar, .every, .several: break
        case .after, .at, .startup, .manual:
            throw APIError(
                .badSchedule, "an expectation has a schedule that repeats, not \(schedule.kind.rawValue)",
                hint: "Give --every 1d, or --cron \"0 3 * * *\".")
        }
        let grace = try Self.grace(draft.grace ?? "1h")
        let (made, dueAt) = try await asking(
            await control.expect(draft.name, schedule, grace: grace) { [links] seed in
                DoorToken.digest(of: links?.pingKey(of: seed) ?? "")
            })
        return wire(made, dueAt: dueAt)
    }

    func removeExpectation(_ name: String) async throws(APIError) {
        try await asking(await control.removeExpectation(name))
    }

    private static func grace(_ text: String) throws(APIError) -> Duration {
        guard let grace = try? Duration(text: text[...]), grace > .zero, grace <= .seconds(366 * 86_400)
        else {
            throw APIError(.badValue, "the grace \(Quoted.of(text)) is not a time such as 30m, up to 366d")
        }
        return grace
    }

    private func wire(_ expectation: ExpectationRecord, dueAt: Moment?) -> WireExpectation {
        let record = expectation.reports
        var wire = WireExpectation(
            name: expectation.name, schedule: WireSchedule(expectation, control.host.zones),
            grace: expectation.grace.text, state: record.state)
        wire.reason = record.reason?.rawValue
        wire.lateSince = Timestamp(record.lateSince)
        wire.lastPing = Timestamp(record.lastPing)
        wire.dueAt = Timestamp(dueAt)
        wire.message = record.message
        if let base = control.activeConfiguration.configuration.listen?.linkBase {
            wire.url = links.map { base + Door.pingLead + $0.pingKey(of: expectation.seed) }
        }
        return wire
    }
}

extension ExpectationRecord.Reports {
    fileprivate var state: String {
        if lateSince != nil { return "late" }
        if startedAt != nil { return "started" }
        return lastPing == nil ? "new" : "up"
    }
}

extension WireSchedule {
    /// When an expectation must report.
    fileprivate init(_ expectation: ExpectationRecord, _ zones: @escaping ZoneLookup) {
        let spec = expectation.schedule
        let read = try? spec.read(seed: expectation.name, since: expectation.madeAt, zones: zones)
        if let members = spec.members {
            self.init(
                several: members.map { WireSchedule(kind: $0.kind.rawValue, text: $0.text, zone: $0.zone) })
        } else {
            self.init(kind: spec.kind.rawValue, text: spec.text, zone: read?.0.zoneName)
        }
        phrase = spec.phrase
        guard let (schedule, rules) = read else { return }
        if case .every = schedule { return }
        words = schedule.words(in: rules[schedule.zoneName])
    }
}
