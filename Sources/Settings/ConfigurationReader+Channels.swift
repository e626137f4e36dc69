import Delivery
import Timeline

extension ConfigurationReader {
    private static let webhookKeys = ["kind", "url", "secret", "allow", "timeout"]
    private static let laterKinds = ["telegram", "ntfy", "slack", "discord", "matrix", "teams", "gotify"]

    /// A channel with its secrets, or nil after every fault in it was reported.
    func readChannel(_ key: Field, _ value: Field) -> ChannelSetting? {
        guard let name = key.word() else { return nil }
        guard let entries = value.entries() else { return nil }
        guard let kind = entries.first(where: { $0.key.scalar == "kind" })?.value else {
            key.fault("this channel has no kind", hint: "write kind: desktop or kind: webhook")
            return nil
        }
        switch kind.choice(of: ["desktop", "webhook"], later: Self.laterKinds) {
        case "desktop":
            guard value.record(keys: ["kind"], later: ["sound", "urgency"]) != nil else { return nil }
            return ChannelSetting(name: name, form: .desktop(DesktopForm()), secrets: [], place: key.place)
        case "webhook": return readWebhook(name, key, value)
        default: return nil
        }
    }

    private func readWebhook(_ name: String, _ key: Field, _ value: Field) -> ChannelSetting? {
        guard let fields = value.record(keys: Self.webhookKeys, later: ["headers", "rate"]) else {
            return nil
        }
        let sources = fields["secret"].map(secretSources) ?? []
        var secrets: [String] = []
        var fault: String?
        for (field, source) in sources {
            do {
                secrets.append(try readSecret(source))
            } catch {
                fault = fault ?? "the secret can't be read from \(source): \(error)"
                guard !leavesOut else { continue }
                let value = field.entries()?.first?.value ?? field
                value.fault("the secret can't be read from \(source): \(error)")
            }
        }
        let allow = fields["allow"].map(exceptions) ?? []
        let timeout = fields["timeout"]?.duration() ?? .seconds(30)
        guard let urlField = fields["url"] else {
            key.fault("this webhook has no url", hint: "write url: https://host/path")
            return nil
        }
        guard let text = urlField.word() else { return nil }
        hideSecrets(ofAddress: text, urlField.faults)
        if fields["secret"] == nil {
            urlField.warn(
                "nothing is signed: a receiver can't distinguish these webhooks from forged ones",
                hint: "write secret: { file: /path } with a line whsec_...")
        }
        do {
            let url = try WebhookURL(text)
            let form = try WebhookForm(
                url: url, secrets: sources.map(\.source), allow: allow, timeout: timeout)
            var setting = ChannelSetting(
                name: name, form: .webhook(form), secrets: secrets, place: key.place)
            setting.fault = fault
            return setting
        } catch {
            let field: Field
            if case .badTimeout = error, let timeout = fields["timeout"] {
                field = timeout
            } else {
                field = urlField
            }
            field.fault("\(error)", bytes: error.range)
            return nil
        }
    }

    private func exceptions(_ field: Field) -> [WebhookException] {
        (field.list() ?? []).compactMap { element in
            guard let text = element.word() else { return nil }
            do throws(FormError) { return try WebhookException(text) } catch { element.fault("\(error)") }
            return nil
        }
    }

    // MARK: Secrets

    /// What stands before an `@` or in the path may be a secret, and an error may end in a log.
    private func hideSecrets(ofAddress text: String, _ faults: Faults) {
        guard let scheme = text.firstRange(of: "://") else { return }
        let host = text[scheme.upperBound...].prefix { !"/?#".contains($0) }
        let start = host.lastIndex(of: "@") ?? host.startIndex
        func stars(_ part: Substring) -> String { String(repeating: "*", count: part.count) }
        faults.hide(
            text,
            shownAs: text[..<scheme.upperBound] + stars(host[..<start]) + host[start...]
                + stars(text[host.endIndex...]))
    }

    /// One secret, or a list of them while one replaces another.
    private func secretSources(_ field: Field) -> [(field: Field, source: SecretSource)] {
        let fields = !field.isList ? [field] : field.list() ?? []
        return fields.compactMap { field in secretSource(field).map { (field, $0) } }
    }

    private func secretSource(_ field: Field) -> SecretSource? {
        if let text = field.scalar {
            field.faults.hide(text, shownAs: String(repeating: "*", count: text.count))
            field.fault(
                "a secret never stands in this file",
                hint: "write secret: { file: /path }, { credential: NAME } or { env: NAME }")
            return nil
        }
        guard let fields = field.record(keys: ["file", "credential", "env"]) else { return nil }
        guard fields.count == 1, let (kind, value) = fields.first, let text = value.word() else {
            if fields.count != 1 {
                field.fault("a secret comes from one place", hint: "write { file: /path }")
            }
            return nil
        }
        switch kind {
        case "file": return .file(text)
        case "credential": return .credential(text)
        default: return .environment(text)
        }
    }
}
