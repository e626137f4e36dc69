import Delivery
import Grouping
import Ledger
import Prompting
import Tracking

/// A key of how a bot's messages are shown.
struct BotField: Sendable {
    /// Its name in the file.
    let key: String
    /// Its type and limits.
    let form: JobForm
    /// One sentence, for editors.
    let doc: String
    /// The longest of a duration that holds something back; nil: it holds nothing back.
    var longestHold: Duration?
    /// Sets its value, one of its form.
    let set: @Sendable (inout Configuration.Bot, JSON) -> Void
}

/// The keys of a bot, once: the file and its schema are made of them.
///
/// To add one: a property of ``Configuration/Bot``, and a row here.
enum BotFields {
    /// The keys of `notifications`.
    static let notifications = [
        BotField(key: "sound", form: .text(), doc: "A sound of the freedesktop sound theme.") {
            $0.soundName = $1.text
        },
        BotField(key: "icon", form: .icon, doc: "The icon of its notifications: a name or an absolute path.")
        {
            $0.icon = $1.text
        },
        BotField(
            key: "urgency", form: .choice(Urgency.allCases.map(\.rawValue)),
            doc: "How much its notifications disturb (default: normal; a failure: critical)."
        ) { $0.urgency = $1.text.flatMap(Urgency.init) },
        BotField(
            key: "wait", form: .duration(orZero: true),
            doc: "How long the first message of a quiet thread waits for more (default: 1500ms; up to 1d).",
            longestHold: .seconds(86_400)
        ) { bot, value in
            if let wait = Duration(json: value) { bot.policy.wait = wait }
        },
        BotField(
            key: "ringAgainAfter", form: .duration(orZero: true),
            doc: "After this time new messages of an unread thread alert again (default: 5m)."
        ) { bot, value in
            if let again = Duration(json: value) { bot.policy.ringAgainAfter = again }
        },
        BotField(
            key: "alertAfter", form: .number(1...100),
            doc: "Notify of failures of its jobs from this many in a row on (default: 1)."
        ) { bot, value in
            if let count = value.int { bot.restraint.alertAfter = count }
        },
        BotField(
            key: "failures", form: .choice(["changes", "each"]),
            doc:
                "Whether people are sent a failure of a scheduled job only when it changes (default), or each."
        ) { bot, value in
            bot.restraint.sendsEachFailure = value.text == "each"
        },
        BotField(
            key: "ackFor", form: .duration(orZero: false),
            doc:
                "How long a failure of its jobs stays acknowledged, before one reminder (default: forever)."
        ) { bot, value in
            bot.restraint.acknowledgedFor = Duration(json: value)
        },
        BotField(
            key: "budget", form: .number(1...1000),
            doc: "How often an hour it may interrupt on one channel; the rest is shown together later."
        ) { bot, value in
            bot.restraint.budget = value.int
        },
    ]

    /// How long a preview may be.
    static let preview = JobForm.number(10...500)
    /// The text of a preview that hides everything.
    static let hidden = "hidden"

    /// The words for yes and no, and their schema.
    static let yesOrNo = (
        words: ["yes", "no", "true", "false"],
        schema: JSON.object(["enum": .array([.string("yes"), .string("no"), .bool(true), .bool(false)])])
    )

    /// Those that the file reads by themselves.
    static let others: [(key: String, schema: JSON, doc: String)] = [
        (
            "shown", yesOrNo.schema,
            "Whether it notifies at all (default: yes); its questions are shown in any case."
        ),
        (
            "preview",
            .object(["anyOf": .array([preview.schema, SchemaParts.words([hidden])])]),
            "How many characters of a message are shown (default: 100); hidden: only that there is one."
        ),
        (
            "sounds",
            SchemaParts.object(SoundKind.allCases.map { .init($0.rawValue, SchemaParts.word()) }),
            "Sounds by the kind of news, instead of sound."
        ),
        (
            "quiet", SchemaParts.hours,
            "The hours in which only what is critical is shown, such as 22:00-07:00; the rest is shown when they end."
        ),
    ]

    /// Keys of later versions.
    static let later = ["level", "digest"]

    /// The kinds of what answers messages, and those of later versions.
    static let backends =
        [plain] + ProgramDialect.allCases.map(\.rawValue).filter { $0 != ProgramDialect.text.rawValue }
        + BotBackend.Dialect.allCases.map(\.rawValue) + [BotGateway.kind]
    /// Any program, or none at all.
    static let plain = "command"

    /// The most turns of a reply.
    static let turns = JobForm.number(1...100)

    /// The tokens that a model reads and writes at a time.
    static let context = JobForm.number(1024...10_000_000)

    /// The tokens of a budget.
    static let tokenBudget = JobForm.number(1...1_000_000_000_000)

    /// The keys of how a bot is asked: they may stand in `backend`, or beside it.
    static let backend = ofProviders + ofPrograms + ofGateways

    private static let ofProviders: [(key: String, schema: JSON, doc: String)] = [
        ("url", SchemaParts.word(), "Where its API is; Anthropic's address is known."),
        ("model", SchemaParts.word(), "The model, as the provider calls it."),
        ("key", FormField.Shape.secrets.schema, "Where the provider's key is read from."),
        ("maxTokens", JobForm.number(1...10_000_000).schema, "The most tokens of a reply (default: 4096)."),
        (
            "context", context.schema,
            "How many tokens the model reads and writes at a time: before what was said fills it, the bot summarizes it."
        ),
        ("system", SchemaParts.word(), "Who the bot is and how it behaves."),
        (
            "memory", SchemaParts.word(),
            "An absolute path: what the file says is shown to the bot with each prompt, at most 64 KiB."
        ),
        (
            "session", SchemaParts.words(["bot", "run"] + BotGateway.Session.allCases.map(\.rawValue)),
            "bot (default): the bot is shown what was said before in its thread; run: each prompt stands alone. "
                + "Of a gateway's agent synced (default), direct or isolated."
        ),
        (
            "tools", SchemaParts.list(of: SchemaParts.word()),
            "The tools that it may call; without them it may call none. run_job:NAME is the one of that job alone."
        ),
        (
            "team", SchemaParts.list(of: SchemaParts.word()),
            "The bots that it may hand subtasks to, at most 10."
        ),
        (
            "web",
            SchemaParts.object([
                .init("allow", FormField.Shape.exceptions.schema),
                .init(
                    "search",
                    SchemaParts.object(
                        [
                            .init("kind", SchemaParts.words(WebSearch.Kind.allCases.map(\.rawValue))),
                            .init("url", SchemaParts.word()), .init("key", FormField.Shape.secrets.schema),
                            .init("allow", FormField.Shape.exceptions.schema),
                        ], required: ["kind"])),
            ]), "What of the web its tools reach beside public pages, and who searches for it."
        ),
        (
            "sandbox",
            SchemaParts.object([
                .init("read", SchemaParts.list(of: SchemaParts.text("^/"))),
                .init("write", SchemaParts.list(of: SchemaParts.text("^/"))),
                .init("network", yesOrNo.schema),
            ]),
            "What a program may reach beside the system: folders, and the network. Of other bots read alone: the folders that its tools may read."
        ),
        ("maxTurns", turns.schema, "The most turns of a reply that calls tools (default: 20)."),
        (
            "price", SchemaParts.amounts(["input", "output"]),
            "What a million tokens cost in USD; without it no cost is shown."
        ),
        (
            "budget",
            SchemaParts.amounts(
                [],
                optional: [
                    .init("usd", SchemaParts.amount), .init("tokens", tokenBudget.schema),
                    .init("per", SchemaParts.words(["month"])),
                ]),
            "The most it may cost, or use, in a month; it is asked nothing beyond."
        ),
        (
            "allow", FormField.Shape.exceptions.schema,
            "What may be reached although it is not public, such as 127.0.0.1/32."
        ),
    ]

    /// Those of bots that are agents behind gateways alone.
    static let ofGateways: [(key: String, schema: JSON, doc: String)] = [
        ("token", FormField.Shape.secrets.schema, "Where the gateway's shared token is read from."),
        ("agent", SchemaParts.word(), "The agent's id in the gateway (default: the gateway's own choice)."),
        (
            "ca", SchemaParts.word(),
            "The certificate of a wss gateway, or of its issuer, as a PEM file (default: those that the machine trusts)."
        ),
    ]

    /// Those of bots that are programs alone.
    static let ofPrograms: [(key: String, schema: JSON, doc: String)] = [
        (
            "command", JobForm.words.schema,
            "The program that replies; it reads the prompt on standard input, or in place of {prompt}."
        ),
        (
            "output", SchemaParts.words(ProgramDialect.allCases.map(\.rawValue)),
            "How the program prints its reply (default: text)."
        ),
        (
            "inherit", SchemaParts.list(of: SchemaParts.word()),
            "Variables of Belfry's own environment that the program gets, too; NAME* are all that begin so."
        ),
    ]
}
