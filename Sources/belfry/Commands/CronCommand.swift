import API
import ArgumentParser
import Cron
import Host
import Timeline

struct CronCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cron", abstract: "Explains, checks and previews cron expressions.",
        subcommands: [
            CronNextCommand.self, CronPreviousCommand.self, CronExplainCommand.self, CronCheckCommand.self,
            CronWordsCommand.self,
        ])
}

struct CronNextCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next", abstract: "Shows when an expression fires next.",
        discussion: #"""
              belfry cron next "30 2 * * *" --zone Europe/Berlin --from 2026-03-28 -n 3
              echo '{"id":1,"expr":"@daily","zone":"UTC"}' | belfry cron next --stdin
            """#)

    @OptionGroup var search: CronSearchFields

    func run() throws { try search.answer(.next) }
}

struct CronPreviousCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prev", abstract: "Shows when an expression fired before, nearest first.",
        discussion: #"  belfry cron prev "0 0 29 2 *" --from 2026-01-01 -n 2"#)

    @OptionGroup var search: CronSearchFields

    func run() throws { try search.answer(.previous) }
}

struct CronExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Describes an expression in words, with warnings and its next 3 occurrences.",
        discussion: #"  belfry cron explain "30 2 * * MON-FRI" --zone Europe/Berlin"#)

    @OptionGroup var fields: CronFields

    func validate() throws { try fields.requireExpression() }

    func run() throws {
        let event: Schedule?
        do throws(CronError) {
            event = try CronFields.event(fields.expression ?? "")
        } catch {
            throw APIError(error.faults, drawn: error.drawing)
        }
        if let event { return try explain(event) }
        let (expression, check) = try fields.accepted()
        let zone = try fields.rules(for: expression)
        let now = Moment.now
        let warnings = check.warnings + [check.clockChangeWarning(in: zone, after: now)].compactMap { $0 }
        if fields.json {
            let answer = CronExplanation(
                expression: expression.text, zone: zone.name, words: expression.words,
                canonical: expression.description,
                occurrences: expression.occurrences(after: now, in: zone).prefix(3).map {
                    $0.iso8601(in: zone)
                },
                warnings: warnings.map { CronAnswer.Remark($0) }, notes: notes(on: expression))
            StandardOutput.print(try WireCoding.text(answer))
            return
        }
        StandardOutput.print(expression.words)
        let schedule = Schedule.cron(expression, zone: zone.name)
        let lines = schedule.preview(after: now, in: zone, count: 3)
        let times = CronTimes(zone)
        for line in lines {
            let time = times.text(line.moment)
            let note = line.noteWords.map { "  \($0)" } ?? ""
            StandardOutput.print(line.isSlot ? "  \(time)\(note)" : "  (\(time))\(note)")
        }
        if lines.isEmpty, !expression.neverFires {
            StandardOutput.print(prose: "note: it does not fire any more")
        }
        for warning in warnings {
            let field = warning.field.map { "\($0.title): " } ?? ""
            StandardOutput.print(prose: "note: \(field)\(warning.message)")
        }
        for note in notes(on: expression) { StandardOutput.print(prose: "note: \(note)") }
    }

    /// What is easily overlooked in the dates, and what `H` stands for.
    private func notes(on expression: CronExpression) -> [String] {
        var plain = fields.options
        plain.seed = nil
        guard let seed = fields.seed, (try? CronExpression(expression.text, options: plain)) == nil else {
            return expression.notes
        }
        return ["with the seed \"\(seed)\" this is \(expression.description)"] + expression.notes
    }

    private func explain(_ event: Schedule) throws {
        let zone = try fields.rules(for: nil)
        let slots = event.slots(after: .now, through: .distantFuture, in: zone, limit: 3)
        let times = slots.map { $0.iso8601(in: zone) }
        var canonical = "@reboot"
        if case .every(let interval, _) = event { canonical = "@every \(interval.text)" }
        guard !fields.json else {
            let answer = CronExplanation(
                expression: fields.expression ?? "", zone: zone.name, words: event.words(in: zone),
                canonical: canonical, occurrences: times, warnings: [], notes: [])
            StandardOutput.print(try WireCoding.text(answer))
            return
        }
        StandardOutput.print(event.words(in: zone))
        let shown = CronTimes(zone)
        for slot in slots { StandardOutput.print("  \(shown.text(slot))") }
        if !times.isEmpty {
            StandardOutput.print(prose: "note: this preview starts now; a job counts from its creation")
        }
    }
}

struct CronCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks an expression; exits 1 and points at the error if it is not valid.",
        discussion: """
              belfry cron check "0 9 * * mon-fri"
            """)

    @OptionGroup var fields: CronFields
    @Flag(help: "Read JSON lines from standard input and answer in order; exit 1 if any is refused.")
    var stdin = false

    func validate() throws { try fields.requireExpression(orLines: stdin) }

    func run() throws {
        guard !stdin else {
            let lines = CronLines(asked: .check, options: fields.options, zone: fields.zone)
            guard try lines.answerAll() == 0 else { throw ExitCode(1) }
            return
        }
        _ = try fields.rules(for: nil)
        let (verdict, drawing) = verdict()
        if fields.json {
            StandardOutput.print(try WireCoding.text(verdict))
        } else if verdict.error == nil {
            StandardOutput.print(drawing)
        } else {
            StandardError.print(drawing)
        }
        if verdict.error != nil { throw ExitCode(1) }
    }

    private func verdict() -> (CronVerdict, drawing: String) {
        let text = fields.expression ?? ""
        do throws(CronError) {
            if try CronFields.event(text) != nil { return (CronVerdict(text), text) }
        } catch {
            return (CronVerdict(text, faults: error.faults), error.drawing)
        }
        let check = fields.check()
        return (CronVerdict(text, warnings: check.warnings, faults: check.faults), check.drawing)
    }
}

struct CronWordsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "words",
        abstract: "Turns an English phrase into a schedule; exits 1 if it is not understood.",
        discussion: #"""
            Prints the schedule, what it means and its next 3 times. A phrase with two
            readings is refused with both. English only.

              belfry cron words "every weekday at 9:30"
              belfry cron words "mon-fri 8 to 18 every half hour in Berlin"
            """#)

    @Argument(help: ArgumentHelp("The phrase, quoted or not.", valueName: "phrase"))
    var phraseWords: [String]
    @Option(
        help: ArgumentHelp(
            "The time zone, such as Europe/Berlin (default: this machine's).", valueName: "zone"))
    var zone: String?
    @Flag(help: "Print JSON instead of text.")
    var json = false

    func run() throws {
        let phrase = phraseWords.joined(separator: " ")
        guard let rules = zone.map(Zones.rules) ?? Zones.local else { throw Zones.refusal(zone ?? "") }
        let now = Moment(seconds: Moment.now.seconds)
        let read: PhraseAnswer
        do throws(CronError) {
            read = try PhraseAnswer(phrase, now: now, in: rules, zones: Zones.ofPhrases)
        } catch {
            if json {
                StandardOutput.print(try WireCoding.text(CronPhraseAnswer(error)))
            } else {
                StandardError.print(error.drawing)
                if (try? CronExpression(phrase)) != nil {
                    StandardError.print("This is an expression already: belfry cron explain \"\(phrase)\"")
                }
            }
            throw ExitCode(1)
        }
        if zone != nil, read.zone.name != rules.name {
            throw ValidationError(
                "the phrase names the time zone \(read.zone.name), and --zone is \(rules.name)")
        }
        let answer = CronPhraseAnswer(phrase, read, after: now)
        if json { return try StandardOutput.print(json: answer) }
        let schedules = read.schedule.members
        for schedule in schedules {
            var text = schedule.text
            if case .cron(let expression, let zone) = schedule {
                text = (read.namesZone ? "CRON_TZ=\(zone) " : "") + expression.description
            }
            StandardOutput.print(text)
        }
        for schedule in schedules {
            let words = CronPhraseAnswer.words(schedule, in: read.zone, countedFrom: now)
            StandardOutput.print(words + (read.namesZone ? ", \(read.zone.name) time" : ""))
        }
        let times = CronTimes(read.zone)
        for slot in read.slots(after: now) ?? [] { StandardOutput.print("  \(times.text(slot))") }
        for note in read.notes + (answer.remarks ?? []) { StandardOutput.print(prose: "note: \(note)") }
    }
}
