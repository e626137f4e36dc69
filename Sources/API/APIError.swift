import Tracking

/// An error as the wire carries it and as people read it.
///
/// On the wire: `{"error":{"code","kind","message","hint"}}`; for a configuration with `faults`, `warnings` and
/// `notes`, for an expression
/// with `field`, `start`, `end` and `fix` of its first fault, and all of them in `errors`.
package struct APIError: Error, Hashable, Sendable {
    /// Its line in the table.
    package var code: ErrorCode
    /// One sentence; begins small, ends without a full stop.
    package var message: String
    /// How to fix it, where that is known; a sentence of its own with its full stop.
    package var hint: String?
    /// Every fault of a configuration that is refused, where they are known one by one.
    package var faults: [WireFault] = []
    /// What is allowed but perhaps not meant in a configuration that is refused.
    package var warnings: [WireFault] = []
    /// What could not be checked of a configuration that is refused, and how its phrases are understood.
    package var notes: [String] = []
    /// Every fault of an expression that is refused, the first one first.
    package var errors: [WireRemark] = []
    /// What people read instead of the message, with lines under the places at fault; begins as a sentence does.
    package var drawing: String?

    /// The error `code`, in the table's words unless better ones are given.
    ///
    /// Without a hint, one is made of the table's command where it has one.
    package init(_ code: ErrorCode, _ message: String? = nil, hint: String? = nil) {
        self.code = code
        self.message = message ?? code.row.sentence
        self.hint = hint ?? code.row.command.map { "See: \($0)" }
    }

    /// `belfry: no job "bakcup". Did you mean "backup"?`, without the `belfry: `.
    package var sentence: String {
        if let drawing { return drawing }
        guard let hint else { return message }
        return message + (message.last.map("?!.".contains) == true ? " " : ". ") + hint
    }
}

extension APIError: Codable {
    private enum Envelope: String, CodingKey { case error }
    private enum Key: String, CodingKey {
        case code, kind, message, hint, faults, warnings, notes, field, start, end, fix, errors, drawing
    }

    /// Reads the wire's form.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Envelope.self)
            .nestedContainer(keyedBy: Key.self, forKey: .error)
        code = try container.decode(ErrorCode.self, forKey: .code)
        message = try container.decode(String.self, forKey: .message)
        hint = try container.decodeIfPresent(String.self, forKey: .hint)
        faults = try container.decodeIfPresent([WireFault].self, forKey: .faults) ?? []
        warnings = try container.decodeIfPresent([WireFault].self, forKey: .warnings) ?? []
        notes = try container.decodeIfPresent([String].self, forKey: .notes) ?? []
        errors = try container.decodeIfPresent([WireRemark].self, forKey: .errors) ?? []
        drawing = try container.decodeIfPresent(String.self, forKey: .drawing)
    }

    /// Writes the wire's form.
    package func encode(to encoder: any Encoder) throws {
        var envelope = encoder.container(keyedBy: Envelope.self)
        var container = envelope.nestedContainer(keyedBy: Key.self, forKey: .error)
        try container.encode(code, forKey: .code)
        try container.encode(code.row.kind, forKey: .kind)
        try container.encode(message, forKey: .message)
        try container.encodeIfPresent(hint, forKey: .hint)
        if !faults.isEmpty { try container.encode(faults, forKey: .faults) }
        if !warnings.isEmpty { try container.encode(warnings, forKey: .warnings) }
        if !notes.isEmpty { try container.encode(notes, forKey: .notes) }
        try container.encodeIfPresent(drawing, forKey: .drawing)
        guard let first = errors.first else { return }
        try container.encodeIfPresent(first.field, forKey: .field)
        try container.encode(first.start, forKey: .start)
        try container.encode(first.end, forKey: .end)
        try container.encodeIfPresent(first.fix, forKey: .fix)
        try container.encode(errors, forKey: .errors)
    }
}

/// The messages of the argument parser, in the form of our own sentences.
package enum UsageSentence {
    /// `message` on one line; it begins small and ends without a full stop.
    package static func of(_ message: String) -> String {
        let line = message.split(separator: "\n").joined(separator: " ")
        let text = withoutPlaceholder(line.last == "." ? String(line.dropLast()) : line)
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    /// `is invalid for '--every': ...` without the ` <duration>` behind the name of the option.
    private static func withoutPlaceholder(_ text: String) -> String {
        let lead = "is invalid for '-"
        guard let start = text.firstRange(of: lead),
            let end = text[start.upperBound...].firstIndex(of: "'"),
            let blank = text[start.upperBound..<end].firstRange(of: " <")
        else { return text }
        return String(text[..<blank.lowerBound] + text[end...])
    }
}

/// What a person wrote, in quotes.
package enum Quoted {
    /// `text` in quotes, cut where it is longer than 60 characters and without what would act on a terminal: a sentence
    /// stays one.
    package static func of(_ text: String) -> String {
        let row = CleanText.row(text)
        return row.count > 60 ? "\"\(row.prefix(59))…\"" : "\"\(row)\""
    }
}

/// Counts with their nouns.
package enum Plural {
    /// `1 job`, `2 jobs`: the noun with an s unless there is exactly one.
    package static func of(_ count: Int, _ noun: String) -> String {
        count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
    }
}

// A table: every error the API and its clients know. Numbers are never given twice.

/// The stable number of an error.
package enum ErrorCode: String, Hashable, Sendable, Codable, CaseIterable {
    case badRequest = "E1001"
    case badJSON = "E1002"
    case badValue = "E1003"
    case tooLarge = "E1004"
    case noSuchPath = "E1005"
    case badMethod = "E1006"
    case notInThisVersion = "E1007"

    case badSchedule = "E1101"
    case badName = "E1102"
    case badConfig = "E1103"

    case noSuchBot = "E1201"
    case noSuchChannel = "E1202"
    case noSuchJob = "E1203"
    case noSuchRun = "E1204"
    case noSuchMessage = "E1205"
    case noSuchOutboxEntry = "E1206"
    case noOutput = "E1207"
    case noSuchAttempt = "E1208"
    case noSuchSubject = "E1209"
    case ambiguousID = "E1210"
    case noSuchQuestion = "E1211"
    case noSuchGatewayJob = "E1212"
    case noSuchSilence = "E1230"

    case overlap = "E1301"
    case jobFromFile = "E1302"
    case jobExists = "E1303"
    case runEnded = "E1304"
    case runNotEnded = "E1305"
    case entrySettled = "E1306"
    case changedMeanwhile = "E1307"
    case notRepeatable = "E1308"
    case botFromFile = "E1309"
    case botExists = "E1310"
    case botInUse = "E1311"
    case questionClosed = "E1312"
    case channelExists = "E1313"
    case channelFromFile = "E1314"
    case gatewayJobTaken = "E1315"
    case silenceEnded = "E1330"
    case notPausable = "E1340"
    case noToken = "E1360"
    case wrongScope = "E1361"
    case tooMany = "E1362"
    case linkClosed = "E1363"
    case noSuchToken = "E1364"
    case tokenExists = "E1365"
    case noSuchExpectation = "E1366"

    case timedOut = "E1401"

    case stopping = "E1501"
    case wardenAway = "E1502"
    case ledgerRefused = "E1503"
    case tooBusy = "E1504"
    case starting = "E1505"
    case gatewayRefused = "E1506"

    case noDaemon = "E1601"
    case notBelfry = "E1602"
    case connectionLost = "E1603"
    case outputLost = "E1604"
    case noAnswer = "E1605"

    case internalFault = "E1901"

    /// The error's row of the table.
    package var row: ErrorRow {
        switch self {
        case .badRequest: ErrorRow(400, .badRequest, exit: 2, "the request can't be understood")
        case .badJSON: ErrorRow(400, .badRequest, exit: 2, "the body is not the JSON that is wanted here")
        case .badValue: ErrorRow(422, .badRequest, exit: 2, "a value is refused")
        case .tooLarge: ErrorRow(413, .badRequest, exit: 2, "the request is too large")
        case .noSuchPath: ErrorRow(404, .badRequest, exit: 1, "the daemon knows no such path")
        case .badMethod: ErrorRow(405, .badRequest, exit: 1, "the path does not take this method")
        case .notInThisVersion: ErrorRow(501, .notInThisVersion, exit: 2, "that is not in this version")
        case .badSchedule: ErrorRow(422, .badRequest, exit: 2, "the schedule is refused")
        case .badName: ErrorRow(422, .badRequest, exit: 2, "the name is refused")
        case .badConfig: ErrorRow(422, .badConfig, exit: 2, "the configuration is refused")
        case .noSuchBot: ErrorRow(404, .notFound, exit: 4, "no such bot", "belfry bot list")
        case .noSuchChannel: ErrorRow(404, .notFound, exit: 4, "no such channel", "belfry channel list")
        case .noSuchJob: ErrorRow(404, .notFound, exit: 4, "no such job", "belfry job list")
        case .noSuchRun: ErrorRow(404, .notFound, exit: 4, "no such run", "belfry runs")
        case .noSuchMessage: ErrorRow(404, .notFound, exit: 4, "no such message", "belfry messages")
        case .noSuchOutboxEntry: ErrorRow(404, .notFound, exit: 4, "no such outbox entry", "belfry outbox")
        case .noOutput: ErrorRow(404, .notFound, exit: 4, "the run's output is not kept")
        case .noSuchAttempt: ErrorRow(404, .notFound, exit: 4, "no such attempt")
        case .noSuchSubject:
            ErrorRow(404, .notFound, exit: 4, "no such message, run, item or outbox entry")
        case .noSuchQuestion:
            ErrorRow(404, .notFound, exit: 4, "no such question", "belfry questions")
        case .noSuchSilence: ErrorRow(404, .notFound, exit: 4, "no such silence", "belfry silence list")
        case .noSuchGatewayJob:
            ErrorRow(404, .notFound, exit: 4, "the gateway has no such job", "belfry import openclaw")
        case .ambiguousID: ErrorRow(422, .badRequest, exit: 2, "the short id is that of several things")
        case .overlap: ErrorRow(409, .refused, exit: 5, "the job has a run that has not ended")
        case .jobFromFile: ErrorRow(409, .refused, exit: 5, "the job comes from a file")
        case .jobExists: ErrorRow(409, .refused, exit: 5, "a job of that name exists")
        case .runEnded: ErrorRow(409, .refused, exit: 5, "the run has ended")
        case .runNotEnded: ErrorRow(409, .refused, exit: 5, "the run has not ended")
        case .entrySettled: ErrorRow(409, .refused, exit: 5, "the entry's state does not allow that")
        case .changedMeanwhile: ErrorRow(409, .refused, exit: 5, "somebody changed it at the same time")
        case .notRepeatable: ErrorRow(409, .refused, exit: 5, "the run can't be repeated")
        case .botFromFile: ErrorRow(409, .refused, exit: 5, "the bot comes from a file")
        case .botExists: ErrorRow(409, .refused, exit: 5, "a bot of that name exists")
        case .botInUse: ErrorRow(409, .refused, exit: 5, "jobs belong to the bot")
        case .questionClosed: ErrorRow(409, .refused, exit: 5, "the question is closed")
        case .channelExists: ErrorRow(409, .refused, exit: 5, "a channel of that name exists")
        case .channelFromFile: ErrorRow(409, .refused, exit: 5, "the channel comes from a file")
        case .silenceEnded: ErrorRow(409, .refused, exit: 5, "the silence has ended")
        case .gatewayJobTaken: ErrorRow(409, .refused, exit: 5, "the gateway's job is run by Belfry already")
        case .notPausable: ErrorRow(409, .refused, exit: 5, "the run can't be paused or resumed now")
        case .noToken:
            ErrorRow(401, .refused, exit: 5, "a token is needed", "belfry token add --help")
        case .wrongScope: ErrorRow(403, .refused, exit: 5, "the token does not allow that")
        case .tooMany: ErrorRow(429, .refused, exit: 5, "too many requests in a short time")
        case .linkClosed: ErrorRow(410, .refused, exit: 5, "the link is not valid")
        case .noSuchToken: ErrorRow(404, .notFound, exit: 4, "no such token", "belfry token list")
        case .noSuchExpectation:
            ErrorRow(404, .notFound, exit: 4, "no such expectation", "belfry expect list")
        case .tokenExists: ErrorRow(409, .refused, exit: 5, "a token of that name exists")
        case .timedOut: ErrorRow(504, .expired, exit: 6, "it took too long")
        case .stopping: ErrorRow(503, .unavailable, exit: 3, "the daemon is stopping")
        case .wardenAway: ErrorRow(503, .unavailable, exit: 1, "the warden does not answer", "belfry doctor")
        case .ledgerRefused: ErrorRow(503, .unavailable, exit: 1, "the ledger could not be used")
        case .starting:
            ErrorRow(503, .unavailable, exit: 3, "the daemon is starting; its jobs are not loaded yet")
        case .gatewayRefused: ErrorRow(502, .unavailable, exit: 1, "the gateway could not be asked")
        case .tooBusy: ErrorRow(503, .unavailable, exit: 1, "the daemon has too many connections")
        case .noDaemon: ErrorRow(503, .noDaemon, exit: 3, "no daemon answers", "belfryd")
        case .notBelfry: ErrorRow(502, .unavailable, exit: 1, "what answers is not a Belfry daemon")
        case .connectionLost: ErrorRow(502, .unavailable, exit: 3, "the daemon closed the connection early")
        case .outputLost: ErrorRow(500, .outputLost, exit: 1, "standard output can't be written")
        case .noAnswer: ErrorRow(504, .noDaemon, exit: 3, "the daemon does not answer", "belfry doctor")
        case .internalFault: ErrorRow(500, .internalFault, exit: 1, "something went wrong inside the daemon")
        }
    }
}

/// One line of the table of errors.
package struct ErrorRow: Hashable, Sendable {
    /// The HTTP status it is answered with.
    package var status: Int
    /// What a script branches on.
    package var kind: ErrorKind
    /// What `belfry` exits with: 1 failed, 2 usage, 3 no daemon, 4 not found, 5 refused, 6 timed out.
    package var exitCode: Int32
    /// The sentence where nothing better is known; begins small, ends without a full stop.
    package var sentence: String
    /// The command that helps, where one does.
    package var command: String?

    init(_ status: Int, _ kind: ErrorKind, exit: Int32, _ sentence: String, _ command: String? = nil) {
        self.status = status
        self.kind = kind
        self.exitCode = exit
        self.sentence = sentence
        self.command = command
    }
}

/// What sort of error it is; what a script branches on.
package enum ErrorKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// The request can't be understood, or a value in it is refused.
    case badRequest
    /// The behaviour belongs to a later version.
    case notInThisVersion
    /// The configuration is refused.
    case badConfig
    /// The named thing does not exist.
    case notFound
    /// A policy, or the state of things, refuses it.
    case refused
    /// It took too long, or has expired.
    case expired
    /// The daemon can't do it now.
    case unavailable
    /// No daemon answers.
    case noDaemon
    /// What was to be printed could not be written.
    case outputLost
    /// A fault of Belfry itself.
    case internalFault
}
