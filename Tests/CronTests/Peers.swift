import Cron
import FoundationEssentials
import TestSupport
import Testing
import Timeline

/// 20,000 random expressions, zones and starts, answered by two independent programs as well.
///
/// Every difference must fall in a class that is explained here; the classes are recognised by the question,
/// never by the answer.
@Suite struct `other programs` {
    struct Question {
        var text: String
        var zone: ZoneRules
        var start: Moment
        var cronsim: [Moment]?
        var croniter: [Moment]?
    }

    @Test func `agree with ours, or differ for a reason that is listed`() throws {
        let questions = try Self.ask(count: 20_000, seed: 20_263)
        var compared = (cronsim: 0, croniter: 0)
        for question in questions {
            let expression = try CronExpression(question.text)
            let ours = Self.answers(expression, question)
            let words = "\(question.text) in \(question.zone.name) after \(question.start.iso8601)"
            if let theirs = question.cronsim, !Self.isCronsimOwn(expression, question) {
                compared.cronsim += 1
                #expect(ours == theirs, "cronsim: \(words)")
            }
            if let theirs = question.croniter, try !Self.isCroniterOwn(expression, question, ours) {
                compared.croniter += 1
                // croniter takes only a bare star as open, as OCPS may be read.
                let ocps = try CronExpression(question.text, options: CronOptions(dayRule: .ocps))
                #expect(Self.answers(ocps, question) == theirs, "croniter: \(words)")
            }
        }
        #expect(compared.cronsim > 17_000 && compared.croniter > 12_000, "\(compared)")
    }

    private static func answers(_ expression: CronExpression, _ question: Question) -> [Moment] {
        Array(expression.occurrences(after: question.start, in: question.zone).prefix(3))
    }

    /// Two habits of cronsim: from a start inside the second pass of a repeated hour it names the first pass, a
    /// time in the past; and it reads `7-7/2` as `7/2`, from 7 to the end of the field.
    private static func isCronsimOwn(_ expression: CronExpression, _ question: Question) -> Bool {
        if hasSingleRange(question.text, stepped: true) { return true }
        guard expression.isFixedTime else { return false }
        let local = CivilTime(question.start, in: question.zone)
        guard case .overlap(_, let second) = question.zone.instants(of: local) else { return false }
        return question.start == second
    }

    /// Four habits of croniter: `8-8` is every value; a day field that lists every value is open like a star;
    /// `5#2` beside a day of the month must match as well; and near a change of the clock it runs fixed-time
    /// jobs in both passes and makes up for wildcard jobs.
    private static func isCroniterOwn(
        _ expression: CronExpression, _ question: Question, _ ours: [Moment]
    ) throws -> Bool {
        let fields = question.text.split(separator: " ")
        if hasSingleRange(question.text, stepped: false) || fields[4].contains("#") && fields[2] != "*" {
            return true
        }
        let everyDay = try CronExpression("0 0 * * *")
        let isFull =
            try (fields[2] != "*" && CronExpression("0 0 \(fields[2]) * *") == everyDay)
            || (fields[4] != "*" && CronExpression("0 0 * * \(fields[4])") == everyDay)
        if isFull { return true }
        guard let last = ours.last,
            let change = question.zone.nextTransition(after: question.start - .seconds(2 * 86_400))
        else { return false }
        return change <= last + .seconds(2 * 86_400)
    }

    /// Whether a term is a range of one value such as `8-8`, perhaps only one with a step.
    private static func hasSingleRange(_ text: String, stepped: Bool) -> Bool {
        text.split { $0 == " " || $0 == "," }.contains { term in
            let parts = term.split(separator: "/")
            let ends = parts[0].split(separator: "-")
            return ends.count == 2 && ends[0] == ends[1] && (!stepped || parts.count == 2)
        }
    }

    // MARK: Asking

    private static func ask(count: Int, seed: UInt64) throws -> [Question] {
        let zones = try [
            "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Sydney", "America/Sao_Paulo",
        ].map(SystemZones.zone)
        var maker = RandomExpressions(random: SeededGenerator(seed: seed))
        var questions = (0..<count).map { _ in
            Question(
                text: maker.commonExpression(), zone: maker.pick(zones),
                start: Moment(seconds: Int64(maker.number(1_500_000_000, 2_100_000_000))))
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("belfry-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let lines = questions.map { "\($0.text)\t\($0.zone.name)\t\($0.start.seconds)" }
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: folder.appendingPathComponent("in"))
        let python = try PythonTools.interpreter()
        let script = PythonTools.script("cron-peers.py")
        try #require(Shell.run("'\(python)' '\(script)' < in > out", in: folder.path) == 0)
        let output = try String(
            decoding: Data(contentsOf: folder.appendingPathComponent("out")), as: UTF8.self)
        let answers = output.split(separator: "\n")
        try #require(answers.count == count)
        for (number, line) in answers.enumerated() {
            let columns = line.split(separator: "\t").map { column in
                column == "-"
                    ? nil : column.split(separator: " ").compactMap { Int64($0) }.map(Moment.init(seconds:))
            }
            questions[number].cronsim = columns[0]
            questions[number].croniter = columns[1]
        }
        return questions
    }
}

extension RandomExpressions {
    /// An expression of the notation that all programs share.
    fileprivate mutating func commonExpression() -> String {
        let monthDay = number(0, 9) == 0 ? "L" : field(1, 28, openIn: 6)
        let weekday = number(0, 9) == 0 ? "\(number(0, 6))#\(number(1, 4))" : field(0, 6, openIn: 6)
        return [field(0, 59, openIn: 2), field(0, 23, openIn: 3), monthDay, field(1, 12, openIn: 8), weekday]
            .joined(separator: " ")
    }
}
