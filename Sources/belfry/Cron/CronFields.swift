import API
public import ArgumentParser
import Cron
import Host
import TerminalView
import Timeline

/// An expression and how it is to be read.
struct CronFields: ParsableArguments {
    @Argument(help: ArgumentHelp("The expression, quoted as one word.", valueName: "expr"))
    var expression: String?
    /// What a shell makes of an expression without quotes.
    @Argument(help: .hidden) var rest: [String] = []
    @Option(
        help: ArgumentHelp(
            "The time zone, such as Europe/Berlin (default: this machine's).", valueName: "zone"))
    var zone: String?
    @Option(help: ArgumentHelp("What to do with a local time that the clock skips.", valueName: "rule"))
    var gap: CronOptions.Gap = .runAfter
    @Option(help: ArgumentHelp("What to do with a local time that occurs twice.", valueName: "rule"))
    var fold: CronOptions.Overlap = .first
    @Option(
        name: .customLong("class"),
        help: ArgumentHelp("Which expressions --gap and --fold apply to.", valueName: "class"))
    var jobClass: CronOptions.JobClass = .vixie
    @Option(help: ArgumentHelp("How day of month and day of week combine.", valueName: "rule"))
    var dayRule: CronOptions.DayRule = .vixie
    @Option(help: ArgumentHelp("The notation of the expression.", valueName: "dialect"))
    var dialect: CronOptions.Dialect = .unix
    @Option(help: ArgumentHelp("The text that H is derived from, such as a job's name.", valueName: "id"))
    var seed: String?
    @Flag(help: "Accept notations of other cron programs.")
    var lenient = false
    @Flag(help: "Print JSON instead of text.")
    var json = false

    var options: CronOptions {
        CronOptions(
            dialect: dialect, isLenient: lenient, seed: seed, dayRule: dayRule, gap: gap, overlap: fold,
            jobClass: jobClass)
    }

    /// The zone the text is to be read in.
    func rules(for expression: CronExpression?) throws(APIError) -> ZoneRules {
        guard let name = expression?.zoneName ?? zone else { return Zones.local }
        guard let rules = Zones.rules(name) else {
            throw Zones.refusal(name)
        }
        return rules
    }

    /// What can be said of the expression.
    func check() -> CronCheck {
        CronCheck(expression ?? "", options: options, zoneName: zone) { Zones.rules($0) != nil }
    }

    /// The schedule of a text that is an event or an interval, `@reboot` or `@every 15m`; `nil` for any other text.
    static func event(_ text: String) throws(CronError) -> Schedule? {
        let word = text.split { $0 == " " || $0 == "\t" }.first
        guard word == "@every" || word == "@reboot" else { return nil }
        return try Schedule(
            expression: text, zone: Zones.local.name, anchor: Moment(seconds: Moment.now.seconds))
    }

    /// The expression and what can be said of it.
    ///
    /// - Throws: ``APIError`` with the faults drawn under the text.
    func accepted() throws(APIError) -> (expression: CronExpression, check: CronCheck) {
        let check = check()
        guard let expression = check.expression else {
            throw APIError(check.faults, drawn: check.drawing)
        }
        return (expression, check)
    }

    /// Refuses a command line without an expression, and one with both an expression and `--stdin`.
    func requireExpression(orLines readsLines: Bool = false) throws {
        guard rest.isEmpty else {
            throw ValidationError("the expression is one word: put quotes around it, as in \"30 2 * * *\"")
        }
        guard readsLines == (expression != nil) else { return }
        throw ValidationError(
            readsLines
                ? "--stdin and an expression exclude each other" : "missing expected argument '<expr>'")
    }
}

extension CronOptions.Gap: ExpressibleByArgument {}
extension CronOptions.Overlap: ExpressibleByArgument {}
extension CronOptions.JobClass: ExpressibleByArgument {}
extension CronOptions.DayRule: ExpressibleByArgument {}
extension CronOptions.Dialect: ExpressibleByArgument {}

/// What `cron next` and `cron prev` take.
struct CronSearchFields: ParsableArguments {
    @OptionGroup var fields: CronFields
    @Option(
        help: ArgumentHelp(
            "Start after this time (default: now).", valueName: "iso"))
    var from: String?
    @Option(
        name: .customShort("n"), parsing: .unconditional,
        help: ArgumentHelp("How many times to show.", valueName: "count"))
    var count = 5
    @Flag(help: "Read JSON lines from standard input and answer in order.")
    var stdin = false

    func validate() throws {
        guard count > 0 else { throw ValidationError("-n is a number from 1 up") }
        try fields.requireExpression(orLines: stdin)
    }

    /// Prints what was asked for, or answers the lines of standard input.
    func answer(_ question: CronLines.Question) throws {
        guard !stdin else {
            let lines = CronLines(
                asked: question, options: fields.options, zone: fields.zone,
                from: from, count: count)
            _ = try lines.answerAll()
            return
        }
        let (expression, check) = try fields.accepted()
        let zone = try fields.rules(for: expression)
        let start = try from.map { try Zones.moment($0, of: "--from", in: zone) } ?? .now
        let found =
            question == .next
            ? expression.occurrences(after: start, in: zone) : expression.occurrences(before: start, in: zone)
        let warnings = check.warnings + [check.clockChangeWarning(in: zone, after: start)].compactMap { $0 }
        if fields.json {
            StandardOutput.print(
                try WireCoding.text(
                    CronAnswer(
                        expression: expression.text, zone: zone.name,
                        occurrences: found.prefix(count).map { $0.iso8601(in: zone) },
                        warnings: warnings.map { CronAnswer.Remark($0) })))
            return
        }
        let shown = Array(found.prefix(count))
        let times = CronTimes(zone)
        for moment in shown { StandardOutput.print(times.text(moment)) }
        if shown.isEmpty, !expression.neverFires {
            let side = question == .next ? "after" : "before"
            StandardError.print("belfry: it does not fire \(side) \(start.iso8601(in: zone))")
        }
        for warning in warnings { StandardError.print(prose: "note: \(warning.message)") }
    }
}

/// How times of an expression are shown: to people on a terminal, in ISO 8601 to programs.
struct CronTimes {
    private let zone: ZoneRules
    private let screen: Screen?

    init(_ zone: ZoneRules) {
        self.zone = zone
        screen = StandardOutput.isTerminal ? Screen(color: .auto) : nil
    }

    /// `Mon 23 Nov 03:00 (+01:00), in 11h`.
    func text(_ moment: Moment) -> String {
        guard let screen else { return moment.iso8601(in: zone) }
        let time = Timestamp(moment)
        return "\(screen.fullTime(time, in: zone)), \(screen.distance(time))"
    }
}
