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
