import Delivery
import Ledger
import Prompting
import Tracking

// A bot that is a program.
extension ConfigurationReader {
    /// The program of a bot of this kind, or nil after every fault was reported.
    func readProgram(
        _ kind: String, _ parts: [String: Field], _ key: Field, _ secrets: inout ReadSecrets
    ) -> BotInUse? {
        let before = key.faults.problems.count
        var dialect = ProgramDialect(rawValue: kind) ?? .text
        let isGeneric = !ProgramDialect.allCases.contains { $0.rawValue == kind }
        if isGeneric, let output = parts["output"] {
            dialect =
                output.choice(of: ProgramDialect.allCases.map(\.rawValue)).flatMap(ProgramDialect.init)
                ?? .text
        }
        for (name, _, _) in BotFields.backend {
            if let field = parts[name] { refuse(field, name, kind, dialect, isGeneric: isGeneric) }
        }
        var command = dialect.standardCommand
        if isGeneric || parts["command"] != nil {
            command = parts["command"]?.value(.words)?.elements.compactMap(\.text)
        }
        var program = BotProgram(dialect, command: command ?? [])
        program.model = parts["model"]?.word()
        program.system = parts["system"]?.text()
        program.memory = parts["memory"]?.value(.path)?.text
        program.inherited = parts["inherit"]?.list()?.compactMap { $0.word() } ?? []
        program.sandbox = parts["sandbox"].flatMap { read(sandbox: $0) }
        program.keepsSession = parts["session"]?.choice(of: ["bot", "run"]) != "run"
        program.price = parts["price"].flatMap { read(price: $0) }
        program.budget = parts["budget"].flatMap {
            read(budget: $0, hasPrice: parts["price"] != nil || dialect == .claude)
        }
        if let field = parts["key"] { read(field, of: BotInUse.key, into: &secrets) }
        var fault = secrets.fault
        if let field = parts["sandbox"], programFault(Sandbox.program) != nil {
            let text = "there is no bubblewrap on this machine, which makes sandboxes"
            if leavesOutBots {
                fault = fault ?? text
            } else {
                field.fault(text, hint: "apt install bubblewrap")
            }
        } else if program.sandbox == nil, let word = command?.first, let doubt = programFault(word) {
            (parts["command"] ?? parts["backend"] ?? key).warn("\(doubt); the prompts of this bot will fail")
        }
        guard key.faults.problems.count == before, command?.isEmpty == false else { return nil }
        var contact = BotInUse(nil, secrets: FormSecrets(secrets.contents), fault: fault)
        contact.program = program
        return contact
    }

    /// Reports a key that means nothing to such a program.
    private func refuse(
        _ field: Field, _ name: String, _ kind: String, _ dialect: ProgramDialect, isGeneric: Bool
    ) {
        switch name {
        case "command", "inherit", "memory", "sandbox", "system", "session", "team", "tools", "web":
            break
        case "output" where isGeneric: break
        case "model" where dialect == .text:
            field.fault(
                "Belfry cannot pass a model to this program", hint: "write it into command")
        case "key" where dialect == .text:
            field.fault(
                "Belfry cannot pass a key to this program",
                hint: "write inherit: [NAME], for a variable of Belfry's own environment")
        case "price" where dialect == .claude:
            field.fault("Claude reports its own cost", hint: "remove price")
        case "price" where dialect == .text, "budget" where dialect == .text:
            field.fault("this program does not report what it uses", hint: "remove \(name)")
        case "model", "key", "price", "budget": break
        default: field.fault("kind: \(kind) has no such key")
        }
    }

    private func read(sandbox field: Field) -> Sandbox? {
        guard let fields = field.record(keys: ["read", "write", "network"]) else { return nil }
        var sandbox = Sandbox()
        sandbox.read = fields["read"].map { paths($0) } ?? []
        sandbox.write = fields["write"].map { paths($0) } ?? []
        let network = fields["network"]?.choice(of: BotFields.yesOrNo.words)
        sandbox.hasNetwork = network == "yes" || network == "true"
        if let (path, outer) = sandbox.nested {
            field.fault(
                "\"\(path)\" is inside of \"\(outer)\", which the program may write: it could lead the path elsewhere",
                hint: "name one of them, or a folder outside of \(outer)")
        }
        return sandbox
    }

    func paths(_ field: Field) -> [String] {
        (field.list() ?? []).compactMap { element in
            guard let path = element.value(.path)?.text else { return nil }
            guard let fault = Sandbox.fault(in: path) else { return path }
            element.fault("\"\(path)\" \(fault)")
            return nil
        }
    }
}

// What a bot may do while it replies.
extension ConfigurationReader {
    /// The tool that may be granted for one job alone.
    private static let ofOneJob = "run_job:"

    /// The keys of a bot's tools, and what its tools reach.
    func readTools(
        _ parts: [String: Field], _ name: String, into bot: inout Configuration.Bot, _ secrets: ReadSecrets
    ) {
        if let field = parts["tools"] { bot.contact?.tools = read(tools: field) }
        if let field = parts["team"] { bot.contact?.team = read(team: field, of: name) }
        if let field = parts["web"] {
            var own = secrets
            let web = read(web: field, &own)
            bot.contact?.web = web
            bot.contact?.secrets = FormSecrets(own.contents)
            if bot.contact?.fault == nil { bot.contact?.fault = own.fault }
        }
        if let program = bot.contact?.program, program.sandbox != nil,
            let field = parts["tools"] ?? parts["team"]
        {
            field.warn(
                "a program in a sandbox does not reach Belfry: it can't call these tools",
                hint: "remove sandbox or the tools")
        }
        guard let contact = bot.contact, contact.backend != nil, let field = parts["sandbox"] else { return }
        guard let fields = field.record(keys: ["read"]) else { return }
        bot.contact?.folders = fields["read"].map { paths($0) } ?? []
    }

    /// The names of tools, each once.
    private func read(tools field: Field) -> [String] {
        let words = (field.list(of: tools) ?? []).compactMap { element -> String? in
            guard let word = element.word(), word.hasPrefix(Self.ofOneJob) else {
                return element.choice(of: tools)
            }
            let job = String(word.dropFirst(Self.ofOneJob.count))
            if let fault = JobName.fault(in: job) {
                element.fault("\"\(job)\" is not a valid job name: \(fault)")
            }
            return word
        }
        return words.unique
    }

    /// The bots of a team, each once; whether they are described is looked at when all are read.
    private func read(team field: Field, of name: String) -> [String] {
        let members = (field.list() ?? []).compactMap { element -> String? in
            guard let word = element.word() else { return nil }
            guard word != name else {
                element.fault("a bot is not of its own team")
                return nil
            }
            return word
        }
        if members.count > Self.largestTeam { field.fault("a team has at most \(Self.largestTeam) bots") }
        return members.unique
    }

    private static let largestTeam = 10

    private func read(web field: Field, _ secrets: inout ReadSecrets) -> BotWeb {
        var web = BotWeb()
        guard let fields = field.record(keys: ["allow", "search"]) else { return web }
        if let allow = fields["allow"], case .exceptions(let exceptions)? = value(of: allow, as: .exceptions)
        {
            web.allow = exceptions
        }
        web.search = fields["search"].flatMap { read(search: $0, &secrets) }
        return web
    }

    private func read(search field: Field, _ secrets: inout ReadSecrets) -> WebSearch? {
        guard let fields = field.record(keys: ["kind", "url", "key", "allow"]) else { return nil }
        guard
            let kind = fields["kind"]?.choice(of: WebSearch.Kind.allCases.map(\.rawValue))
                .flatMap(WebSearch.Kind.init)
        else {
            if fields["kind"] == nil {
                field.fault("this search has no kind", hint: "write kind: brave or kind: searxng")
            }
            return nil
        }
        if let key = fields["key"] {
            if kind == .searxng { key.fault("kind: searxng wants no key") }
            read(key, of: BotInUse.searchKey, into: &secrets)
        } else if kind == .brave {
            field.fault("this search has no key", hint: "write key: { file: /path }")
        }
        var values = FormValues()
        for (name, shape) in [("url", FormField.Shape.address), ("allow", .exceptions)] {
            if let field = fields[name] { values[name] = value(of: field, as: shape) }
        }
        do throws(FormError) {
            if fields["url"] == nil {
                guard let standard = kind.standardURL else {
                    field.fault("this search has no url", hint: "write url: https://search.example.org")
                    return nil
                }
                values["url"] = .address(try HTTPAddress(standard))
            }
            return WebSearch(
                kind, reach: try HTTPReach(url: try values.address("url"), allow: values.exceptions("allow")))
        } catch {
            (fields["url"] ?? field).fault("\(error)", bytes: error.range)
            return nil
        }
    }

    // MARK: Teams

    /// Reports members of teams that are no bots, and teams that lead back to themselves: each would wait for the other.
    func checkTeams(_ bots: [Configuration.Bot], _ fields: [String: Field], known: Set<String>) {
        let teams = bots.reduce(into: [:]) { $0[$1.name] = $1.contact?.team ?? [] }
        for (name, team) in teams.sorted(by: { $0.key < $1.key }) {
            guard let field = fields[name] else { continue }
            for member in team where !isMember(member, bots, known) {
                field.fault(
                    "\"\(member)\" is no bot that answers",
                    hint: "describe it under bots: with a backend, or leave it out")
            }
            if let way = circle(from: name, teams) {
                field.fault(
                    "the team leads back to the bot: \(way.joined(separator: " -> "))",
                    hint: "leave one of them out")
            }
        }
    }

    /// One that is described badly is another fault.
    private func isMember(_ name: String, _ bots: [Configuration.Bot], _ known: Set<String>) -> Bool {
        bots.first { $0.name == name }.map { $0.contact != nil }
            ?? (known.contains(name) && name != "belfry" || isOtherBot(name))
    }

    /// A way through teams that ends where it begins; nil: there is none.
    private func circle(from name: String, _ teams: [String: [String]]) -> [String]? {
        var seen: Set<String> = []
        var ways = [[name]]
        while let way = ways.popLast() {
            for member in teams[way.last ?? name] ?? [] {
                if member == name { return way + [name] }
                if seen.insert(member).inserted { ways.append(way + [member]) }
            }
        }
        return nil
    }
}

extension [String] {
    /// Each once, in the order of their first places.
    fileprivate var unique: [String] {
        enumerated().filter { !self[..<$0.offset].contains($0.element) }.map(\.element)
    }
}
