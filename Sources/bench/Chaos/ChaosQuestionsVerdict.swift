import Delivery
import Grouping
import Host
import Ledger
import LedgerSQLite
import Timeline
import Tracking

/// What the ledger, the askers, those who answered and the receivers show of the questions when all has ended.
struct ChaosQuestionsVerdict {
    private(set) var asked = 0
    /// Whether any were to be asked.
    let areAsked: Bool
    /// How many were closed in each way; an answer counts under the place where it was given.
    private(set) var ends: [String: Int] = [:]
    /// How many were given two answers or more, and how many of those were refused.
    private(set) var contested = 0
    private(set) var refused = 0
    /// How many were asked before a kill and closed after it.
    private(set) var outlived = 0
    private(set) var (notices, servers) = (0, 0)
    /// What is wrong; empty when all is well.
    private(set) var faults: [String] = []

    /// Reads the ledger of a home whose daemon has stopped.
    init(
        _ questions: ChaosQuestions, _ ledger: SQLiteLedger, _ runs: [RunRecord], kills: [Moment],
        webhooks: [String: WebhookBook], folder: String
    ) async throws {
        areAsked = questions.areAsked
        let records = try await ledger.questions(limit: .max)
        (asked, notices, servers) = (records.count, questions.desktop.notices, questions.desktop.servers)
        for record in records {
            guard let end = record.end else {
                fault("\(record.question.text) is still open")
                continue
            }
            ends[end.by ?? "\(end.state)", default: 0] += 1
            if kills.contains(where: { record.question.askedAt < $0 && $0 < end.at }) { outlived += 1 }
        }
        try await judgeEvents(records, ledger)
        judgeAttempts(records, Dictionary(grouping: questions.attempts, by: \.question))
        judgeCommands(records, questions.asked)
        judgeJobs(records, runs, folder: folder)
        for (channel, book) in webhooks { judgeWebhooks(records, book, on: channel) }
    }

    /// What happened, in words.
    var words: String {
        let ends = ends.sorted { $0.key < $1.key }.map { "\($0.value) by \($0.key)" }.joined(separator: ", ")
        return """
            \(asked) questions closed once each (\(ends)), \(outlived) of them across a kill, \(contested) answered \
            twice with \(refused) answers refused, \(notices) notices on \(servers) notification servers
            """
    }

    /// What never came to pass.
    var unproved: [String] {
        guard areAsked else { return [] }
        return ["cli", "link", "desk", QuestionEnd.byDefault, "expired", "withdrawn"].filter {
            ends[$0] == nil
        }
        .map { "no question was closed by \($0)" } + (contested == 0 ? ["no question was contested"] : [])
    }

    private mutating func fault(_ text: String) { faults.append(text) }

    /// Each end is one event.
    private mutating func judgeEvents(_ records: [QuestionRecord], _ ledger: SQLiteLedger) async throws {
        var ends: [String: [QuestionEnd?]] = [:]
        var last: Int64 = 0
        while case let events = try await ledger.events(after: last, limit: 1000), let newest = events.last {
            last = newest.seq
            for event in events {
                switch event.event.fact {
                case .questionAnswered(let news), .questionExpired(let news), .questionWithdrawn(let news):
                    ends[news.id, default: []].append(news.end)
                default: break
                }
            }
        }
        for record in records where ends[record.id] ?? [] != [record.end] {
            fault(
                "\(record.question.text) has the end \(words(record.end)), and the events \(ends[record.id] ?? [])"
            )
        }
    }

    private func words(_ end: QuestionEnd?) -> String {
        guard let end else { return "none" }
        return "\(end.state) \(end.answer ?? "") by \(end.by ?? "nobody")"
    }

    /// One answer was accepted at most, and it is the one that counts.
    private mutating func judgeAttempts(
        _ records: [QuestionRecord], _ attempts: [String: [ChaosQuestions.Attempt]]
    ) {
        for record in records {
            let given = attempts[record.id] ?? []
            if given.count > 1 { contested += 1 }
            refused += given.count { $0.isAccepted == false }
            let accepted = given.filter { $0.isAccepted == true }
            if accepted.count > 1 {
                fault("\(record.question.text): \(accepted.count) answers were accepted: \(accepted)")
            }
            for attempt in accepted where record.end?.answer != attempt.answer {
                fault("\(record.question.text): accepted \(attempt), and has the end \(words(record.end))")
            }
        }
    }

    /// Who asked got the answer that counts, or nobody asked any more.
    private mutating func judgeCommands(_ records: [QuestionRecord], _ asked: [ChaosQuestions.Asked]) {
        for command in asked {
            let tag = ChaosQuestions.tag(command.number)
            let own = records.filter { $0.question.text.hasPrefix(tag) }
            let printed = (try? SmallFile.text(command.output))?.split(separator: "\n").last.map(String.init)
            guard let record = own.first else {
                // The daemon was away when it was asked.
                if [0, 1, 6].contains(command.code) {
                    fault("\(tag) is unknown, and its command ended well")
                }
                continue
            }
            if own.count > 1 { fault("\(tag) was asked \(own.count) times") }
            guard let end = record.end else { continue }
            if end.by == QuestionEnd.byDefault, command.plan != .fallback {
                fault("\(tag) has no default, and was answered by it")
            }
            if command.plan == .fallback, end.by != QuestionEnd.byDefault {
                fault("\(tag) has a default, and the end \(words(end))")
            }
            if end.state == .withdrawn {
                if !command.isKilled { fault("\(tag) was withdrawn, and its command lived") }
            } else if !command.isKilled {
                judge(end, code: command.code, printed: printed, tag)
            }
        }
    }

    private mutating func judge(_ end: QuestionEnd, code: Int32?, printed: String?, _ tag: String) {
        let right: Int32 = end.answer.map { $0 == ChaosQuestions.choices.first ? 0 : 1 } ?? 6
        if code != right || end.answer != nil && printed != end.answer {
            fault(
                "\(tag) has the end \(words(end)); its asker ended with \(code ?? -1) and \(printed ?? "nothing")"
            )
        }
    }

    /// A job that asked and lived on has written down what it was answered.
    private mutating func judgeJobs(_ records: [QuestionRecord], _ runs: [RunRecord], folder: String) {
        let text = (try? SmallFile.text("\(folder)/\(ChaosQuestions.jobFile)", limit: 1 << 26)) ?? ""
        var lines: [String: [Substring]] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            lines[String(words.first ?? "")] = words
        }
        let questions = Dictionary(grouping: records) { $0.run ?? "" }
        for run in runs where run.job == ChaosQuestions.job && run.state == .completed {
            guard let own = questions[run.id] else {
                fault("\(run.name) has completed without its question")
                continue
            }
            guard own.count == 1, let end = own[0].end, let line = lines[run.id], line.count > 1 else {
                fault("\(run.name) asked \(own.count) questions, and wrote \(lines[run.id] ?? [])")
                continue
            }
            judge(end, code: Int32(line[1]), printed: line.count > 2 ? String(line[2]) : nil, run.name)
        }
    }

    /// Every receiver that heard of an end heard the same one.
    private mutating func judgeWebhooks(
        _ records: [QuestionRecord], _ book: WebhookBook, on channel: String
    ) {
        let ends = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0.end) })
        var seen: [String: Int] = [:]
        for delivery in book.deliveries.values {
            guard let question = delivery.question else { continue }
            seen["\(delivery.type) \(question.id)", default: 0] += 1
            guard question.state != "open", let end = ends[question.id] ?? nil else { continue }
            if question.state != end.state.rawValue || question.answer != end.answer {
                fault("\(channel) heard \(question), and the end is \(words(end))")
            }
        }
        for (what, times) in seen where times > 1 { fault("\(channel) heard of \(what) under \(times) ids") }
    }
}
