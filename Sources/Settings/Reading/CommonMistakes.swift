import Cron
import Ledger
import Timeline
import Yams

/// What a key that is not known here is called, or how else to say it.
enum Instead: Hashable, Sendable {
    /// Another key of the same map.
    case key(String)
    /// What to do, which may say what another key says; `VALUE` is what the key has in the file, `NAME` its map's name.
    case hint(String, key: String? = nil)

    /// The key that it stands for; nil: none.
    var key: String? {
        switch self {
        case .key(let key): key
        case .hint(_, let key): key
        }
    }

    /// The hint for a key of `map` with this value.
    func hint(of value: Field, in map: Field) -> String {
        switch self {
        case .key(let key): return "did you mean \"\(key)\"?"
        case .hint(let template, _):
            return template.replacing("VALUE", with: value.scalar ?? value.onlyElement ?? "...").replacing(
                "NAME",
                with: map.path.firstIndex(of: ".").map { String(map.path[$0...].dropFirst()) } ?? map.path)
        }
    }
}

/// Keys and words of other programs, and of daily speech, with those of this file.
///
/// To add one: a line in the table of its map.
enum CommonMistakes {
    private static let pause = Instead.hint("remove it; to pause the job: belfry job pause NAME")
    private static let retry = Instead.hint("write retry: { attempts: VALUE }")
    private static let channels = Instead.hint(
        "name the channel in a route: routes: [{ when: [failed], to: [desk] }]")
    private static func schedule(_ text: String) -> Instead {
        .hint("write schedule: \(text)", key: "schedule")
    }

    /// Keys of a job.
    static let job: [String: Instead] = [
        "cron": schedule("\"VALUE\""), "every": schedule("{ every: VALUE }"),
        "interval": schedule("{ every: VALUE }"), "after": schedule("{ after: VALUE }"),
        "at": schedule("{ at: VALUE }"), "words": schedule("{ words: VALUE }"), "when": .key("schedule"),
        "startup": schedule("startup"), "manual": schedule("manual"),
        "enabled": pause, "disabled": pause, "active": pause, "paused": pause,
        "cmd": .key("command"), "exec": .key("command"), "program": .key("command"), "args": .key("command"),
        "run": .key("shell"), "script": .key("shell"), "sh": .key("shell"), "bash": .key("shell"),
        "environment": .key("env"), "environ": .key("env"), "vars": .key("env"),
        "workdir": .key("cwd"), "working_dir": .key("cwd"), "workingDirectory": .key("cwd"),
        "directory": .key("cwd"), "dir": .key("cwd"),
        "retries": retry, "attempts": retry,
        "zone": .hint("write schedule: { cron: ..., zone: VALUE }"),
        "timezone": .hint("write schedule: { cron: ..., zone: VALUE }"),
        "channel": channels, "channels": channels, "to": channels, "routes": channels,
        "urgency": .hint("write notify: { urgency: VALUE }"), "icon": .hint("write notify: { icon: VALUE }"),
        "message": .hint("write notify: { message: VALUE }"),
        "name": .hint("remove it: the job is called NAME, by its key"),
        "description": .hint("write it as a comment: # VALUE"),
    ]

    /// Keys of a bot.
    static let bot: [String: Instead] = Dictionary(
        uniqueKeysWithValues: (BotFields.notifications.map(\.key) + BotFields.others.map(\.key)).map {
            ($0, .hint("write notifications: { \($0): VALUE }"))
        })

    /// Keys of a route.
    static let route: [String: Instead] = [
        "bots": .hint("write match: [bot=VALUE]"), "jobs": .hint("write match: [job=VALUE]"),
        "bot": .hint("write match: [bot=VALUE]"), "job": .hint("write match: [job=VALUE]"),
        "labels": .hint("write match: [host=db1]"), "label": .hint("write match: [host=db1]"),
        "urgency": .hint("write match: [urgency=VALUE]"), "hours": .key("during"),
        "time": .key("during"), "channels": .key("to"), "channel": .key("to"), "events": .key("when"),
        "matchers": .key("match"),
    ]

    /// Keys of the whole file.
    static let file: [String: Instead] = [
        "timezone": .key("zone"), "tz": .key("zone"), "tasks": .key("jobs"), "alerts": .key("routes"),
        "notifications": .key("routes"), "notify": .key("routes"), "cron": .key("jobs"),
        "schedule": .hint("write it below a job: jobs: { backup: { schedule: VALUE, command: [...] } }"),
        "command": .hint("write it below a job: jobs: { backup: { schedule: ..., command: [...] } }"),
        "version": .hint("remove it: the format has no versions"),
    ]

    /// Keys of a schedule.
    static let schedule: [String: Instead] = [
        "timezone": .key("zone"), "tz": .key("zone"), "interval": .key("every"), "expression": .key("cron"),
        "phrase": .key("words"), "start": .key("from"), "day": .key("weekday"),
    ]

    // MARK: Notifications

    /// How to write what stands in the place of the map `notify`.
    static func notify(_ field: Field, outcomes: [String]) -> String {
        let usual = "write notify: { when: [failed] }"
        let words = field.node.sequence.map { $0.compactMap(\.scalar?.string) } ?? [field.scalar ?? ""]
        switch words.first?.lowercased() {
        case "false", "no", "off", "none", "never", "n", "0", nil: return "write notify: { when: none }"
        case "true", "yes", "on", "y", "1", "always":
            return "write notify: { when: [completed, failed] }"
        default: break
        }
        let meant = words.map { outcomes.contains($0) ? $0 : JobFault.meant(by: $0, among: outcomes) }
        guard !meant.contains(nil) else { return usual }
        return "write notify: { when: [\(meant.compactMap(\.self).joined(separator: ", "))] }"
    }

    /// The kind of channel that is meant by another word for it; nil: nobody knows.
    static func channelKind(_ word: String) -> String? {
        switch word.lowercased() {
        case "email", "e-mail", "smtp", "sendmail", "msmtp": "mail"
        case "exec", "script", "program", "shell", "apprise": "command"
        case "http", "https", "url", "hook": "webhook"
        case "dbus", "notify-send", "popup", "notification": "desktop"
        case "mattermost": "slack"
        case "healthchecks", "healthchecks.io": "ping"
        default: nil
        }
    }

    /// Keys of a channel that stand for its kind.
    static let kind: Set = ["type", "form", "service", "driver", "provider"]

    // MARK: Texts where a list or map is wanted

    /// How to write a text that stands where the words of a command should.
    static func command(_ text: String) -> String {
        let words = text.split(separator: " ").map { plain(String($0)) }
        guard !needsShell(text), !words.isEmpty, text.count <= 60 else {
            return text.count <= 60 && !text.contains("\n")
                ? "write shell: \(plain(text))" : "write shell: instead of command:"
        }
        return "write command: [\(words.joined(separator: ", "))], or shell: \(plain(text))"
    }

    /// The same of a channel, which has no `shell`.
    static func channelCommand(_ text: String) -> String {
        guard text.count <= 60, !text.contains("\n") else { return "write command: [sh, -c, '...']" }
        let words = needsShell(text) ? ["sh", "-c", text] : text.split(separator: " ").map(String.init)
        return "write command: [\(words.map(plain).joined(separator: ", "))]"
    }

    private static func needsShell(_ text: String) -> Bool {
        text.contains { "|&;<>()$`*?~#\"'\\\n".contains($0) }
    }

    /// How to write variables that stand as `A=B`; nil: they do not.
    static func variables(_ field: Field) -> String? {
        let elements =
            field.node.sequence.map { $0.compactMap(\.scalar?.string) } ?? field.scalar.map { [$0] }
        let pairs = (elements ?? []).prefix(3).compactMap { element -> String? in
            guard let sign = element.firstIndex(of: "="), sign > element.startIndex else { return nil }
            return "\(element[..<sign]): \(plain(String(element[sign...].dropFirst())))"
        }
        return pairs.isEmpty ? nil : "write env: { \(pairs.joined(separator: ", ")) }"
    }

    /// A text as it stands in a list or map, quoted where YAML would read it otherwise.
    static func plain(_ text: String) -> String {
        let isOdd =
            text.isEmpty || text.first.map { "*&!%@`|>#\"'?: ".contains($0) } == true || text == "-"
            || text.contains { "{}[],".contains($0) }
            || [": ", " #"].contains { text.contains($0) } || text.hasPrefix("- ")
            || text.hasSuffix(":") || text.hasSuffix(" ")
        return isOdd ? SyntaxMistake.quoted(text) : text
    }

    // MARK: Schedules

    /// How to write what stands in the place of an expression; nil: it may be meant as one.
    static func schedule(_ text: String, in zone: ZoneRules?, _ zones: PhraseZones) -> String? {
        let words = text.lowercased().split(separator: " ").map(String.init)
        if let time = everyDay(text) { return "write schedule: \(time), for each day at \(text)" }
        switch words {
        case ["hourly"], ["daily"], ["weekly"], ["monthly"], ["yearly"]:
            return "write schedule: \"@\(words[0])\""
        case ["reboot"], ["boot"], ["on", "boot"], ["at", "startup"]: return "write schedule: startup"
        case ["never"], ["none"]: return "write schedule: manual"
        default: break
        }
        if let last = words.last, words.count == 1 || words == ["every", last],
            (try? Duration(text: last)) != nil
        {
            return "write schedule: { every: \(last) }"
        }
        let quotes = text.filter { "“”„‟«»‘’".contains($0) }
        if !quotes.isEmpty { return "write schedule: \"\(text.filter { !quotes.contains($0) })\"" }
        if text.contains("T") || text.contains("-"), (try? Moment(iso8601: text, in: zone ?? .utc)) != nil {
            return "write schedule: { at: \(text) }"
        }
        let isPhrase =
            (try? PhraseAnswer(text, now: Moment(seconds: 0), in: zone ?? .utc, zones: zones)) != nil
        let begins =
            words.first.map { ["every", "each", "at", "on", "in", "twice", "once"].contains($0) } ?? false
        return isPhrase || begins && words.count > 1 ? "write schedule: { words: \(plain(text)) }" : nil
    }

    /// The expression for each day at a time such as `22:00`; nil: it is no time of day.
    static func everyDay(_ text: String) -> String? {
        guard let second = CalendarRule.secondOfDay(in: text), second % 60 == 0 else { return nil }
        return "\"\(second / 60 % 60) \(second / 3600) * * *\""
    }
}
