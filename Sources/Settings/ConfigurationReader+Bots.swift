import Delivery
import Grouping
import Ledger
import Prompting
import Tracking

extension ConfigurationReader {
    /// A bot, or nil after every fault in it was reported.
    ///
    /// Its quiet hours are on the clocks of `zone`.
    func readBot(_ key: Field, _ value: Field, in zone: String? = nil) -> Configuration.Bot? {
        guard let name = key.text() else { return nil }
        if let fault = JobName.fault(in: name) { key.fault("\"\(name)\" is not a valid bot name: \(fault)") }
        var bot = Configuration.Bot(name: name, policy: ThreadPolicy(), soundName: nil, place: key.place)
        let keys = BotFields.backend.map(\.key)
        guard
            let fields = value.record(
                keys: ["backend", "notifications"] + keys, instead: CommonMistakes.bot)
        else { return nil }
        if let notifications = fields["notifications"] {
            readNotifications(notifications, into: &bot, in: zone ?? hostZone)
        }
        var parts = fields
        var kind = fields["backend"]
        if let map = fields["backend"], map.isMap {
            guard let members = map.record(keys: ["kind"] + keys) else {
                return nil
            }
            for (name, member) in members {
                parts[name]?.fault("\"\(name)\" is in backend, too", hint: "write it once")
                parts[name] = member
            }
            kind = members["kind"]
            if kind == nil {
                map.fault("this backend has no kind", hint: "write kind: anthropic or kind: openai")
            }
        }
        let given = keys.compactMap { parts[$0] }
        guard let kind else {
            given.first?.fault("this bot has no backend", hint: "write backend: anthropic or backend: openai")
            return given.isEmpty ? bot : nil
        }
        guard let word = kind.choice(of: BotFields.backends) else { return nil }
        var secrets = ReadSecrets { _ in leavesOutBots }
        let owner = key.naming(value)
        if let dialect = BotBackend.Dialect(rawValue: word) {
            bot.contact = readContact(dialect, parts, owner, &secrets)
        } else if word == BotGateway.kind {
            bot.contact = readGateway(parts, owner, &secrets)
        } else if word != BotFields.plain || parts["command"] != nil {
            bot.contact = readProgram(word, parts, owner, &secrets)
        } else {
            // It only speaks for its jobs.
            given.first?.fault("kind: \(word) has no such key without a command")
            return bot
        }
        readTools(parts, name, into: &bot, secrets)
        if let field = parts["maxTurns"], let count = field.value(BotFields.turns)?.int {
            bot.contact?.maxTurns = count
        }
        bot.keySources = secrets.sources[BotInUse.key] ?? []
        return bot.contact == nil ? nil : bot
    }

    private func readNotifications(_ field: Field, into bot: inout Configuration.Bot, in zone: String) {
        let rows = BotFields.notifications
        let keys = rows.map(\.key) + BotFields.others.map(\.key)
        guard let fields = field.record(keys: keys, later: BotFields.later) else { return }
        for row in rows {
            guard let field = fields[row.key] else { continue }
            let longest = row.longestHold
            if let value = longest.map({ field.hold(row.form, upTo: $0) }) ?? field.value(row.form) {
                row.set(&bot, value)
            }
        }
        if let shown = fields["shown"]?.choice(of: BotFields.yesOrNo.words) {
            bot.restraint.isShown = shown == "yes" || shown == "true"
        }
        if let preview = fields["preview"] {
            bot.hidesText = preview.scalar == BotFields.hidden
            if !bot.hidesText, let count = preview.value(BotFields.preview)?.int {
                bot.policy.previewCharacters = count
            }
        }
        if let sounds = fields["sounds"]?.record(keys: SoundKind.allCases.map(\.rawValue)) {
            for kind in SoundKind.allCases { bot.sounds[kind] = sounds[kind.rawValue]?.word() }
        }
        if let quiet = fields["quiet"] { bot.restraint.quiet = readHours(quiet, in: zone) }
    }

    /// Hours of the day, as a text or a list of texts; nil after every fault was reported.
    func readHours(_ field: Field, in zoneName: String) -> DailyHours? {
        let parts = field.isList ? field.list() ?? [] : [field]
        let texts = parts.compactMap { $0.word() }
        // A zone that does not exist is reported where it stands.
        guard texts.count == parts.count, let zone = zone(zoneName) else { return nil }
        do throws(DailyHoursError) {
            return try DailyHours(texts, in: zone)
        } catch {
            field.fault("\(error)")
            return nil
        }
    }

    // MARK: How it is asked

    /// How a bot is asked, or nil after every fault was reported.
    private func readContact(
        _ dialect: BotBackend.Dialect, _ parts: [String: Field], _ key: Field, _ secrets: inout ReadSecrets
    ) -> BotInUse? {
        let before = key.faults.problems.count
        for (name, _, _) in BotFields.ofPrograms + BotFields.ofGateways {
            parts[name]?.fault("kind: \(dialect.rawValue) has no such key")
        }
        let model = parts["model"]?.word()
        if parts["model"] == nil {
            key.fault("this bot has no model", hint: "write model: NAME, as its provider calls it")
        }
        let reach = reach(dialect, parts, key)
        let price = parts["price"].flatMap { read(price: $0) }
        let budget = parts["budget"].flatMap { read(budget: $0, hasPrice: parts["price"] != nil) }
        let system = parts["system"]?.text()
        let memory = parts["memory"]?.value(.path)?.text
        let session = parts["session"]?.choice(of: ["bot", "run"])
        let maxTokens = parts["maxTokens"]?.value(.number(1...10_000_000))?.int
        let context = parts["context"]?.value(BotFields.context)?.int
        if let field = parts["key"] { read(field, of: BotInUse.key, into: &secrets) }
        if dialect == .anthropic, parts["key"] == nil {
            key.fault("this bot has no key", hint: "write key: { file: /path }")
        }
        guard key.faults.problems.count == before, let reach, let model else { return nil }
        var backend = BotBackend(
            dialect, reach: reach, model: model, maxTokens: maxTokens ?? BotBackend.standardTokens)
        (backend.system, backend.price, backend.budget) = (system, price, budget)
        (backend.memory, backend.keepsSession, backend.context) = (memory, session != "run", context)
        return BotInUse(backend, secrets: FormSecrets(secrets.contents), fault: secrets.fault)
    }

    private func reach(
        _ dialect: BotBackend.Dialect, _ parts: [String: Field], _ key: Field
    ) -> HTTPReach? {
        var values = FormValues()
        for (name, shape) in [("url", FormField.Shape.address), ("allow", .exceptions)] {
            if let field = parts[name] { values[name] = value(of: field, as: shape) }
        }
        do throws(FormError) {
            if parts["url"] == nil, let standard = dialect.standardURL {
                values["url"] = .address(try HTTPAddress(standard))
            }
            return try HTTPReach(url: try values.address("url"), allow: values.exceptions("allow"))
        } catch {
            if case .missing = error {
                if parts["url"] == nil {
                    key.fault("this bot has no url", hint: "write url: http://127.0.0.1:11434/v1")
                }
            } else {
                (parts["url"] ?? key).fault("\(error)", bytes: error.range)
            }
            return nil
        }
    }

    func read(price field: Field) -> TokenPrice? {
        guard let fields = field.record(keys: ["input", "output"]) else { return nil }
        guard let input = fields["input"], let output = fields["output"] else {
            field.fault("a price has two parts", hint: "write price: { input: 3, output: 15 }")
            return nil
        }
        guard let input = amount(input), let output = amount(output) else { return nil }
        return TokenPrice(input: input, output: output)
    }

    /// A budget; one in USD can be counted only where there is a price.
    func read(budget field: Field, hasPrice: Bool) -> Budget? {
        guard let fields = field.record(keys: ["usd", "tokens", "per"]) else { return nil }
        _ = fields["per"]?.choice(of: ["month"])
        guard fields["usd"] != nil || fields["tokens"] != nil else {
            field.fault(
                "this budget has no amount",
                hint: "write budget: { usd: 20, per: month } or budget: { tokens: 1000000 }")
            return nil
        }
        var budget = Budget()
        if let usd = fields["usd"] {
            guard let amount = amount(usd) else { return nil }
            if amount < 0.000_001 {
                usd.fault("a budget is above 0", hint: "remove the bot's backend to stop it")
            }
            budget.usd = amount
            if !hasPrice {
                field.fault(
                    "a budget in USD needs a price",
                    hint: "write price: { input: 3, output: 15 }, in USD a million tokens")
            }
        }
        if let tokens = fields["tokens"] {
            guard let count = tokens.value(BotFields.tokenBudget)?.int else { return nil }
            budget.tokens = count
        }
        return budget
    }

    /// An amount of money, 0 or more.
    private func amount(_ field: Field) -> Double? {
        guard let text = field.word() else { return nil }
        guard let amount = Double(text), amount >= 0, amount < 1e9 else {
            field.fault("\"\(text)\" is not an amount in USD", hint: "write a number such as 2.50")
            return nil
        }
        return amount
    }
}

// A bot that is an agent behind an OpenClaw gateway.
extension ConfigurationReader {
    /// The gateway of a bot, or nil after every fault was reported.
    func readGateway(_ parts: [String: Field], _ key: Field, _ secrets: inout ReadSecrets) -> BotInUse? {
        let before = key.faults.problems.count
        let known = Set(BotFields.ofGateways.map(\.key) + ["url", "allow", "session", BotInUse.key])
        for (name, _, _) in BotFields.backend where !known.contains(name) {
            parts[name]?.fault(
                "kind: \(BotGateway.kind) has no such key",
                hint: name == "model" ? "the agent's model is set in the gateway; write agent: NAME" : nil)
        }
        let reach = gatewayReach(parts, key)
        var agent: String?
        if let field = parts["agent"], let name = field.word() {
            agent = name
            if !BotGateway.isAgent(name) {
                field.fault(
                    "\"\(name)\" is no agent's name",
                    hint: "write its id as the gateway lists it: openclaw agents list")
            }
        }
        let session = parts["session"]?.choice(of: BotGateway.Session.allCases.map(\.rawValue))
        if let field = parts["token"] ?? parts[BotInUse.key] {
            read(field, of: BotInUse.key, into: &secrets)
        }
        if parts["token"] != nil { parts[BotInUse.key]?.fault("a gateway has one token", hint: "remove key") }
        guard key.faults.problems.count == before, let reach else { return nil }
        var gateway = BotGateway(reach: reach)
        gateway.agent = agent
        gateway.authority = parts["ca"]?.value(.path)?.text
        gateway.session = session.flatMap(BotGateway.Session.init) ?? .synced
        var contact = BotInUse(nil, secrets: FormSecrets(secrets.contents), fault: secrets.fault)
        contact.gateway = gateway
        return contact
    }

    private func gatewayReach(_ parts: [String: Field], _ key: Field) -> HTTPReach? {
        guard let field = parts["url"] else {
            key.fault("this bot has no url", hint: "write url: \"ws://127.0.0.1:18789\"")
            return nil
        }
        guard let text = field.word() else { return nil }
        hideSecrets(ofAddress: text, field.faults)
        var allow: [AddressException] = []
        if let field = parts["allow"], case .exceptions(let named)? = value(of: field, as: .exceptions) {
            allow = named
        }
        do throws(FormError) {
            return try BotGateway.reach(text, allow: allow)
        } catch {
            switch error {
            case .unknownScheme:
                field.fault(
                    "\"\(text.prefix(40))\" is no address of a gateway",
                    hint: "write url: \"ws://127.0.0.1:18789\", or wss:// for another machine")
            case .plainHTTP(let host):
                field.fault(
                    "ws sends the token unencrypted to \(host)",
                    hint: "write wss://, or name the host under allow:")
            default: field.fault("\(error)")
            }
            return nil
        }
    }
}
