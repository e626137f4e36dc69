import Cron
import Delivery
import Grouping
import Timeline
import Tracking

/// The fields of a job, once.
///
/// To add one: a property with its default in ``JobSpec`` (and a line in its decoder), a row here, and the code that
/// uses the value. Files, drafts, policies, `job add`, `job show`, help, and the API's description then have it. The
/// schedule is no row: it has a language of its own.
package struct JobFields: Sendable {
    /// In the order of help and of the policies in `job show`.
    package var rows: [JobField]

    package init(_ rows: [JobField]) { self.rows = rows }

    package static let standard = JobFields(
        (basics + request).map { $0.without(\.policy).listed(in: .action) }
            + slots.map { $0.listed(in: .slots) }
            + (turns + wakes + results).map { $0.listed(in: .turns) }
            + notices.map { $0.listed(in: .notices) }
            + process)

    /// The fields that say what a job does: it has exactly one of them.
    package static let actions = ["command", "shell", "prompt", "url"]

    /// The maps of a file that may also be written as a text, each with the member that this is.
    package static let shorthands = ["url": "url"]

    /// The maps of a file that hold fields, each with an example.
    package static let maps: KeyValuePairs = [
        "url": "{ url: https://example.org/hook, method: POST }",
        "catchUp": "{ mode: none }", "retry": "{ attempts: 3 }", "leftovers": "{ wait: 30s, then: end }",
        "concurrency": "{ key: disk, max: 1 }", "limits": "{ memory: 2G }",
        "notify": "{ when: [failed] }", "ensure": "{ file: /srv/report.pdf }",
        "wake": "{ command: [/usr/local/bin/any-news] }", "progress": "{ read: rsync }",
    ]

    // MARK: What it does; no policies

    private static let basics: [JobField] = [
        JobField(
            "bot", .botName, .at(\.bot), "The bot that the job belongs to.", option: "bot"),
        JobField(
            "command", .words, .at(\.command), "The program and its arguments; not together with shell."),
        JobField(
            "shell", .text(), .at(\.shell), "Run this text with /bin/sh -c.", option: "shell"),
        JobField(
            "prompt", .text(), .at(\.prompt),
            "Ask the job's bot this; its reply becomes a message. Not together with a command or shell.",
            option: "prompt"),
        JobField(
            "env", .variables(orFiles: true), .environment,
            "A variable added to the environment: a text, or { file: PATH } for a secret; repeatable.",
            option: "env", isRemovable: true),
        JobField(
            "cwd", .path, .at(\.directory), "The folder it starts in.", option: "cwd", isRemovable: true),
    ]

    // MARK: What it requests; no policies

    private static let request: [JobField] = [
        JobField(
            "url.url", .text(), .address,
            "Call this address; the answer's body is the output. Not together with a command or shell.",
            option: "url", value: "address", check: { $0.request?.addressFault }),
        JobField(
            "url.method", .choice(URLAction.methods), .request(\.method),
            "The method (default: GET; POST with a body).", option: "method", check: needsRequest),
        JobField(
            "url.headers", .variables(orFiles: true), .headers,
            "A header of the request: a text, or { file: PATH } for a secret; repeatable.",
            option: "header", isRemovable: true,
            check: { needsRequest($0) ?? $0.request?.headersFault }),
        JobField(
            "url.body", .text(longest: 1 << 20), .request(\.body), "The text that the request sends.",
            option: "body", isRemovable: true, check: needsRequest),
        JobField(
            "url.expect", .list, .request(\.expect),
            "The statuses that count as success, such as 200, 2xx or 200-204 (default: 2xx).",
            option: "expect", isRemovable: true, check: { needsRequest($0) ?? $0.request?.expectFault }),
        JobField(
            "url.allow", .list, .request(\.allow),
            "Hosts and networks that may be called although they are not public, or in plain http.",
            option: "allow", isRemovable: true, check: { needsRequest($0) ?? $0.request?.allowFault }),
    ]

    private static let needsRequest: @Sendable (JobSpec) -> JobFault? = { spec in
        spec.request == nil ? JobFault("applies only to a job with a url", advice: "add --url ADDRESS") : nil
    }

    // MARK: What happens to slots

    private static let slots: [JobField] = [
        JobField(
            "overlap", .choice(OverlapPolicy.allCases.map(\.rawValue)), .word(\.overlap),
            "What to do when the previous run is still active: skip, queue-one, queue-all, replace or allow.",
            option: "overlap", value: "policy"),
        JobField(
            "catchUp.mode", .choice(CatchUpPolicy.Mode.allCases.map(\.rawValue)), .word(\.catchUp.mode),
            "Which slots missed while the daemon was down run later: none, latest or all.",
            option: "catch-up", value: "policy", draft: "catchUp",
            shown: { policies in
                let mode = policies[path: "catchUp.mode"]?.text ?? "none"
                let limits = [
                    policies.duration("catchUp.withinMs").map { "within \($0)" },
                    policies[path: "catchUp.burst"]?.int.map { "at most \($0)" },
                ].compactMap(\.self)
                let isLimited = mode != "none" && !limits.isEmpty
                return "catch-up: \(mode)" + (isLimited ? " (\(limits.joined(separator: ", ")))" : "")
            }),
        JobField(
            "catchUp.within", .duration(), .at(\.catchUp.within),
            "Catch up on slots no older than this.", option: "within", draft: "withinMs",
            shown: { _ in nil }),
        JobField(
            // What one job may catch up always fits into one transaction.
            "catchUp.burst", .number(1...5000), .burst,
            "With catch-up all, catch up on at most this many slots (default: 1000).", option: "burst",
            draft: "burst",
            check: { spec in
                guard spec.catchUp.mode != .all else { return nil }
                return JobFault("applies only to mode: all", advice: "add --catch-up all")
            }, shown: { _ in nil }),
        JobField(
            "spread", .duration(), .at(\.spread),
            "Delay the start by up to this long, always the same for one job (none: no delay).",
            option: "spread", isRemovable: true,
            shown: { policies in
                policies.duration("spreadMs").map {
                    "spread: \($0) (this job starts \(Self.offset(policies)) late)"
                }
            }),
    ]

    // MARK: How long, how often again, and beside which others

    private static let turns: [JobField] = [
        JobField(
            "timeout", .duration(), .at(\.timeout), "End a run that takes longer than this (none: never).",
            option: "timeout", isRemovable: true,
            shown: { policies in "timeout: \(policies.duration("timeoutMs") ?? "none")" }),
        JobField(
            "grace", .duration(orZero: true), .at(\.grace), "The time between TERM and KILL.",
            shown: { policies in policies.duration("graceMs").map { "grace period: \($0)" } }),
        JobField(
            "retry.attempts", .number(1...100), .attempts,
            "How many times a run is tried, including the first.", option: "attempts",
            shown: { policies in
                policies["attempts"]?.int.map { "attempts: \($0)" }
            }),
        JobField(
            "retry.backoff", .duration(), .at(\.backoff),
            "The longest wait before the second attempt; it doubles for each later one.", option: "backoff",
            shown: { $0.hasRetry ? $0.duration("backoffMs").map { "backoff: \($0)" } : nil }),
        JobField(
            "retry.onLost", .flag, .at(\.retriesLost),
            "Also retry a run whose outcome is unknown, as after a crash of the machine.",
            option: "retry-lost",
            check: { spec in
                guard spec.retriesLost, spec.attempts == 1 else { return nil }
                return JobFault(
                    "one attempt is never repeated", hint: "write attempts: 2, or more",
                    advice: "add --attempts 2, or more")
            }, shown: { $0["onLost"] == .bool(true) ? "lost runs are retried" : nil }),
        JobField(
            "leftovers.then", .choice(LeftoverPolicy.Step.allCases.map(\.rawValue)), .word(\.leftovers.then),
            "What to do with processes that an earlier attempt left running: end or fail.",
            option: "leftovers", value: "policy",
            shown: { policies in
                guard policies.hasRetry, let wait = policies.duration("leftovers.waitMs") else { return nil }
                return policies[path: "leftovers.then"]?.text == "fail"
                    ? "leftovers: fail after \(wait)" : "leftovers: end after \(wait)"
            }),
        JobField(
            "leftovers.wait", .duration(orZero: true), .at(\.leftovers.wait),
            "Wait this long for such processes first.", option: "leftovers-wait", shown: { _ in nil }),
        JobField(
            "priority", .number(-100...100), .at(\.priority),
            "Priority among waiting runs, -100 to 100; higher first.", option: "priority",
            shown: { $0["priority"]?.int.flatMap { $0 == 0 ? nil : "priority: \($0)" } }),
        JobField(
            "concurrency.key", .text(longest: 100), .concurrencyKey,
            "Run at most max (default: 1) runs with this key at a time; an empty key removes it.",
            option: "concurrency", value: "key[=max]", isRemovable: true, shown: { _ in nil }),
        JobField(
            "concurrency.max", .number(1...1_000_000), .concurrencyMax,
            "How many runs with the key are active at a time.",
            shown: { policies in
                policies[path: "concurrency.max"]?.int.map {
                    "concurrency: at most \($0) with key \(policies[path: "concurrency.key"]?.text ?? "")"
                }
            }),
    ]

    // MARK: What must be so before its bot is asked

    private static let wakes: [JobField] = [
        JobField(
            "wake.command", .words, .at(\.wakeRule.command),
            "A program and its arguments that decides whether the bot is asked; what it prints goes with the prompt.",
            option: "wake", isRemovable: true,
            check: { spec in
                guard spec.prompt != nil || spec.wake?.command == nil else {
                    return JobFault(
                        "applies only to a job with a prompt", hint: "write prompt, or remove wake")
                }
                return nil
            },
            shown: { policies in
                guard case .array(let words)? = policies[path: "wake.command"] else { return nil }
                return "asks if: " + words.compactMap(\.text).joined(separator: " ")
            }),
        JobField(
            "wake.timeout", .duration(), .at(\.wakeRule.timeout),
            "How long that program may take (default: 30s).",
            check: { spec in
                guard spec.wake?.command == nil, spec.wake != nil else { return nil }
                return JobFault("applies only to a command", hint: "write wake: { command: [...] }")
            }, shown: { _ in nil }),
    ]

    // MARK: What must be so at the end

    private static let results: [JobField] = [
        JobField(
            "session", .choice(PromptSession.allCases.map(\.rawValue)), .word(\.session),
            "What its bot is shown with a prompt: what was said before in the job's thread (bot), or nothing (run).",
            option: "session",
            check: { spec in
                guard spec.prompt == nil, spec.session != .run else { return nil }
                return JobFault("applies only to a job with a prompt", hint: "leave session out")
            }, shown: { $0["session"]?.text == "bot" ? "its bot sees what was said before" : nil }),
        JobField(
            "usually", .duration(), .at(\.usually),
            "How long a run usually takes; used for the finish time until three runs have completed.",
            option: "usually", isRemovable: true,
            shown: { $0.duration("usuallyMs").map { "usually takes \($0)" } }),
        JobField(
            "progress.read", .choice(ProgressReading.Tool.allCases.map(\.rawValue)), .at(\.progressTool),
            "The tool whose output is read for progress (default: any output that is clearly progress).",
            option: "progress-read", value: "tool", isRemovable: true,
            shown: { $0[path: "progress.read"]?.text.map { "progress read from: \($0)" } }),
        JobField(
            "progress.total", .size(least: 1), .at(\.progressTotal),
            "The total, in the tool's unit: bytes, lines, packages, or seconds for ffmpeg.",
            option: "progress-total", isRemovable: true,
            check: { spec in
                guard spec.progress?.tool == nil, spec.progress?.total != nil else { return nil }
                return JobFault(
                    "applies only to a named tool", hint: "write progress: { read: count, total: 100 }")
            }, shown: { _ in nil }),
        JobField(
            "ensure.file", .path, .at(\.checks.file),
            "A file that a run must have written, else it has failed.", option: "ensure-file",
            isRemovable: true, shown: { $0[path: "ensure.file"]?.text.map { "must write: \($0)" } }),
        JobField(
            "ensure.output", .text(longest: 1000), .at(\.checks.output),
            "What the output of a run must contain: a text, or a pattern such as '/done in \\d+ s/'.",
            option: "ensure-output", isRemovable: true,
            check: { EnsureRule.fault(inText: $0.ensure?.output) },
            shown: { $0[path: "ensure.output"]?.text.map { "must print: \($0)" } }),
        JobField(
            "ensure.reply", .text(longest: 1000), .at(\.checks.reply),
            "What the reply of its bot must contain: a text, or a pattern between slashes.",
            option: "ensure-reply", isRemovable: true,
            check: { spec in
                guard spec.prompt != nil || spec.ensure?.reply == nil else {
                    return JobFault("applies only to a job with a prompt", hint: "write output in its place")
                }
                return EnsureRule.fault(inText: spec.ensure?.reply)
            },
            shown: { $0[path: "ensure.reply"]?.text.map { "must reply: \($0)" } }),
        JobField(
            "ensure.command", .words, .at(\.checks.command),
            "A program and its arguments that must succeed after the run; it reads the output.",
            option: "ensure-command", isRemovable: true,
            shown: { policies in
                guard case .array(let words)? = policies[path: "ensure.command"] else { return nil }
                return "checked by: " + words.compactMap(\.text).joined(separator: " ")
            }),
        JobField(
            "ensure.timeout", .duration(), .at(\.checks.timeout),
            "How long that program may take (default: 1m).",
            check: { spec in
                guard spec.ensure?.command == nil else { return nil }
                return JobFault("applies only to a command", hint: "write ensure: { command: [...] }")
            }, shown: { _ in nil }),
    ]

    // MARK: What its processes are given

    private static let process: [JobField] =
        [
            JobField(
                "user", .text(), .at(\.rules.user), "The user it runs as.", option: "user",
                isRemovable: true, shown: { $0["user"]?.text.map { "user: \($0)" } }),
            JobField(
                "nice", .number(-20...19), .at(\.rules.nice), "Its nice level.", option: "nice",
                isRemovable: true),
            JobField(
                "umask", .mask, .umask, "Its file mode mask, in octal.", option: "umask", isRemovable: true),
            JobField(
                "stdin", .input, .input, "The file it reads as standard input; - for the text piped in now.",
                option: "stdin", isRemovable: true, shown: { $0["stdin"]?.text.map { "stdin: a \($0)" } }),
            JobField(
                "pty", .flag, .pty, "Run it on a terminal of 80 columns.", option: "pty",
                shown: { $0["pty"] == .bool(true) ? "runs on a terminal" : nil }),
        ]
        + JobLimit.allCases.map { limit in
            let form: JobForm =
                switch limit.unit {
                case .bytes: .size(least: [.core, .fileSize].contains(limit) ? 0 : 1)
                case .seconds: .seconds
                case .pieces: .number(1...1 << 30)
                }
            let name = limit.rawValue
            return JobField(
                "limits.\(name)", form, .limit(limit), "The most \(name) it may use.",
                shown: { $0[path: "limits.\(name)"].map { "\(name) limit: \(form.shown($0))" } })
        }
}

extension JobField {
    fileprivate func listed(in group: JobFieldGroup) -> JobField {
        var field = self
        field.group = group
        return field
    }

    fileprivate func without(_ name: WritableKeyPath<JobField, String?>) -> JobField {
        var field = self
        field[keyPath: name] = nil
        return field
    }
}

extension JSON {
    fileprivate var hasRetry: Bool { (self["attempts"]?.int ?? 1) > 1 }

    /// A member that counts milliseconds, in words.
    func duration(_ name: String) -> String? { self[path: name].map(JobForm.duration().shown) }
}

extension JobFields {
    /// How late a job starts because of its spread, in whole seconds.
    fileprivate static func offset(_ policies: JSON) -> String {
        Duration(json: policies[path: "spreadOffsetMs"])?.words ?? "0 s"
    }

    /// `completed, failed or lost`.
    static func either(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.joined() }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }
}
