import Delivery
import Ledger
import Prompting
import Tracking

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
