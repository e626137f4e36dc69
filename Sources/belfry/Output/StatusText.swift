import API
import TerminalView
import Timeline
import Tracking

/// Texts that `status`, `doctor` and `channel list` share.
enum StatusText {
    /// `hook, webhook: failing since 02:10:00 (status 500)`.
    static func channel(_ channel: WireChannel, _ screen: Screen) -> String {
        let state = screen.paint(words(ofChannel: channel.state), color(ofChannel: channel.state))
        var text = "\(channel.name), \(channel.kind): \(state)"
        if channel.state != "working", let since = channel.since { text += " since \(screen.time(since))" }
        if let error = channel.lastError { text += " (\(PlainText.preview(error)))" }
        return text
    }

    /// Prints each problem: what is wrong, after `!`, or `-` for a warning; and below it a hint.
    static func print(_ problems: [WireProblem], on screen: Screen) {
        for problem in problems {
            let mark = problem.isWarning ? screen.paint("- ", .dim) : screen.paint("! ", .yellow)
            screen.print(mark + PlainText.oneLine(problem.message), hang: 2)
            guard let hint = problem.hint else { continue }
            screen.print(screen.paint("  " + PlainText.oneLine(hint), .dim), hang: 2)
        }
    }

    /// The state of a channel as people read it.
    static func words(ofChannel state: String) -> String { state == "leftOut" ? "left out" : state }

    static func color(ofChannel state: String) -> TerminalColor {
        switch state {
        case "working", "untried": .green
        case "away": .dim
        case "failing": .yellow
        default: .red
        }
    }

    static func color(ofEntry state: String) -> TerminalColor {
        switch state {
        case "delivered": .green
        case "pending", "waiting", "sending", "held": .yellow
        case "dead", "expired": .red
        default: .dim
        }
    }
}

/// The note beside an outbox entry: why it waits and until when, or what went wrong.
enum OutboxNote {
    /// `again in 4m, its channel fails (http://10.0.0.7 answered 500)`; empty when there is nothing to say.
    static func text(_ entry: WireOutboxEntry, _ now: Moment) -> String {
        // What went wrong on the way there is no news of what arrived.
        if entry.state == "delivered" { return entry.detail ?? "" }
        let wait = entry.waitsFor ?? ""
        return text(
            wait, of: entry.channel, nextAt: entry.nextAt,
            error: wait.hasPrefix("channel") ? entry.channelError : entry.lastError, now)
    }

    /// The same of what a verdict let through; empty while it is under way.
    static func text(_ delivery: WireDelivery, on channel: String, _ now: Moment) -> String {
        text(delivery.waitsFor ?? "", of: channel, nextAt: delivery.nextAt, error: delivery.error, now)
    }

    private static func text(
        _ waitsFor: String, of channel: String, nextAt: Timestamp?, error: String?, _ now: Moment
    ) -> String {
        let again = nextAt.flatMap {
            $0.moment > now ? "again in \(DisplayDuration.text($0.moment - now))" : nil
        }
        switch waitsFor {
        case "away": return error ?? "nobody is there to show it"
        case "channelFailing":
            return [again ?? "again soon", because("its channel fails", error)].joined(separator: ", ")
        case "channelDisabled":
            return because("its channel was given up; try it: belfry channel test \(channel)", error)
        case "channelMissing": return "its channel is not in the configuration"
        case "channelLeftOut": return because("its channel was left out at the start", error)
        case "rule":
            guard let until = nextAt?.moment, until > now else { return "held by a rule" }
            return "held by a rule for \(DisplayDuration.text(until - now))"
        case "earlier": return "waits for an earlier one of the same item or run"
        default: return [again, error].compactMap { $0 }.joined(separator: ", ")
        }
    }

    private static func because(_ what: String, _ error: String?) -> String {
        error.map { "\(what) (\($0))" } ?? what
    }
}

/// Bots in words.
enum BotText {
    /// `1,234 input tokens (1,000 cached), 56 output tokens, $0.0123`.
    static func usage(_ usage: WireUsage) -> String {
        let tokens = UsageWords.tokens(
            read: usage.inputTokens, cached: usage.cachedTokens, written: usage.outputTokens)
        return usage.costUsd.map { "\(tokens), \(dollars($0))" } ?? tokens
    }

    /// The same, after `2 replies: `.
    static func usage(_ usage: WireUsage, replies: Int) -> String {
        "\(replies) \(replies == 1 ? "reply" : "replies"): \(Self.usage(usage))"
    }

    /// `$4.97 left of $5.00, 0.6% used`.
    static func budget(_ budget: WireBudget) -> String {
        let money = budget.usd.map { "\(dollars(budget.leftUsd ?? 0)) left of \(dollars($0))" }
        let tokens = budget.tokens.map {
            "\(UsageWords.grouped(Int64(budget.leftTokens ?? 0))) left of \(UsageWords.tokens($0))"
        }
        return [money, tokens, "\(budget.percent)% used"].compactMap(\.self).joined(separator: ", ")
    }

    /// `reads /srv/docs; writes /srv/notes; no network`.
    static func sandbox(_ sandbox: WireSandbox) -> String {
        let reads = sandbox.read.isEmpty ? nil : "reads \(sandbox.read.joined(separator: ", "))"
        let writes = sandbox.write.isEmpty ? nil : "writes \(sandbox.write.joined(separator: ", "))"
        let parts = [reads, writes, sandbox.network ? "has the network" : "no network"]
        return parts.compactMap(\.self).joined(separator: "; ")
    }

    /// `4 messages since 10:00:00, resumed as 5d1c-fix`.
    static func session(_ session: WireBotSession, _ screen: Screen) -> String {
        let isMost = session.messages >= WireBotSession.most
        let count = "\(UsageWords.grouped(Int64(session.messages)))\(isMost ? " or more" : "")"
        let messages = session.messages == 0 ? "new" : "\(count) message\(session.messages == 1 ? "" : "s")"
        let since = session.since.map { " since \(screen.time($0))" } ?? ""
        let summary = session.summary == nil ? "" : ", the older ones as the bot's summary"
        return messages + since + summary
            + (session.id.map { ", resumed as \(PlainText.oneLine($0))" } ?? "")
    }

    /// `last reply: first word after 120 ms, complete after 4 s`; nil: it never replied.
    static func latency(_ bot: WireBot) -> String? {
        let first = bot.firstWordMs.map { "first word after \(RunText.delay($0))" }
        let whole = bot.latencyMs.map { "complete after \(RunText.delay($0))" }
        let parts = [first, whole].compactMap(\.self)
        return parts.isEmpty ? nil : "last reply: " + parts.joined(separator: ", ")
    }

    /// `10:00:01 api.example.org refused the key (401); check bots.sage.key`.
    static func error(_ error: WireBotError, of bot: String, _ screen: Screen) -> String {
        "\(screen.time(error.at)) " + because(error.message ?? error.reason, of: bot)
    }

    /// `10:00:01 you: Summarize it.`.
    static func last(_ message: WireMessage, _ screen: Screen) -> String {
        let words = MessageText.preview(of: message, glyphs: false).drop { $0 == " " || $0 == "*" }
        return "\(screen.time(message.at)) \(words)"
    }

    /// `blocked: api.example.org refused the key (401)`.
    static func status(_ bot: WireBot) -> String {
        guard let status = bot.status else { return "-" }
        guard let message = bot.message else { return status }
        return "\(status): \(PlainText.preview(because(message, of: bot.name), limit: 60))"
    }

    /// `3 online, 1 blocked (sage)`.
    static func counts(_ bots: [WireBotState], _ screen: Screen) -> String {
        ["working", "online", "blocked", "offline"].compactMap { status in
            let names = bots.filter { $0.status == status }.map { PlainText.oneLine($0.name) }
            guard !names.isEmpty else { return nil }
            let isFine = status == "working" || status == "online"
            let list = isFine ? "" : " (\(names.prefix(5).joined(separator: ", ")))"
            return screen.paint("\(names.count) \(status)\(list)", color(of: status))
        }.joined(separator: ", ")
    }

    static func color(of status: String?) -> TerminalColor {
        switch status {
        case "working": .cyan
        case "blocked": .yellow
        case "offline": .red
        default: .normal
        }
    }

    /// Sentences of failures name the bot first, which stands there already.
    private static func because(_ text: String, of bot: String) -> String {
        PlainText.oneLine(text.hasPrefix("\(bot): ") ? String(text.dropFirst(bot.count + 2)) : text)
    }

    /// `$5.00`.
    static func dollars(_ usd: Double) -> String {
        UsageWords.dollars(micros: Int64((min(max(usd, -1e9), 1e9) * 1_000_000).rounded()))
    }
}
