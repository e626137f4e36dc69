import API
public import ArgumentParser
import Cron
import Host
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
