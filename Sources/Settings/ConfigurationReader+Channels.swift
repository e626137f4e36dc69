import Cron
import Delivery
import Ledger
import Timeline
import Tracking

extension ConfigurationReader {
    /// A channel with its secrets, or nil after every fault in it was reported.
    func readChannel(_ key: Field, _ value: Field) -> ChannelSetting? {
        guard let name = key.word() else { return nil }
        guard let entries = value.entries() else { return nil }
        let kinds = forms.map { $0.kind.rawValue }
        guard let kind = entries.first(where: { $0.key.scalar == "kind" })?.value else {
            // Which of them are secrets is not known without the kind.
            for (field, value) in entries { hideSecrets(of: value, at: field.scalar ?? "") }
            let other = entries.map(\.key).first { key in
                let name = (key.scalar ?? "").lowercased()
                return CommonMistakes.kind.contains(name) || NearestName.of(name, among: ["kind"]) != nil
            }
            if let other {
                other.fault("unknown key \"\(other.scalar ?? "")\"", hint: "did you mean \"kind\"?")
                return nil
            }
            key.naming(value).fault(
                "this channel has no kind", hint: "write kind: and one of \(kinds.joined(separator: ", "))")
            return nil
        }
        if let other = kind.scalar, let meant = CommonMistakes.channelKind(other), kinds.contains(meant) {
            kind.fault("\"\(other)\" is not known here", hint: "write kind: \(meant)")
            return nil
        }
        guard let word = kind.choice(of: kinds, later: ChannelForms.laterKinds),
            let form = forms.first(where: { $0.kind.rawValue == word })
        else { return nil }
        return read(form, name, key, value)
    }

    /// A channel of this form.
    private func read(
        _ form: any ChannelForm.Type, _ name: String, _ key: Field, _ value: Field
    ) -> ChannelSetting? {
        let others = ChannelSafety.fields(of: form)
        guard
            let fields = value.record(
                keys: ["kind"] + (form.fields + others).map(\.name), later: form.laterFields)
        else { return nil }
        let main = form.fields.first.flatMap { fields[$0.name] }
        var values = FormValues()
        var secrets = ReadSecrets { leavesOutChannel(name, $0) }
        for described in form.fields {
            guard let field = fields[described.name] else {
                if let doubt = described.doubt { main?.warn(doubt, hint: described.hint) }
                continue
            }
            if described.shape == .secrets {
                read(field, of: described.name, into: &secrets)
                values[described.name] = .secrets(secrets.sources[described.name] ?? [])
            } else {
                values[described.name] = self.value(of: field, as: described.shape)
            }
        }
        do throws(FormError) {
            var setting = ChannelSetting(
                name: name, form: try form.init(values), secrets: FormSecrets(secrets.contents),
                place: key.place)
            if let doubt = setting.form.doubt { (main ?? key).warn(doubt.message, hint: doubt.hint) }
            if case .program(let program) = setting.form.carrier {
                look(for: program, fields, main: main ?? key)
            }
            setting.sources = secrets.sources
            setting.safety = readSafety(of: name, fields)
            if secrets.fault == nil { secrets.fault = fault(in: setting, fields, secrets) }
            setting.fault = secrets.fault
            return setting
        } catch {
            report(error, in: form, fields, main: main ?? key, key.naming(value))
            return nil
        }
    }

    /// What keeps a channel from failing unnoticed.
    private func readSafety(of name: String, _ fields: [String: Field]) -> ChannelSafety {
        var safety = ChannelSafety()
        if let field = fields[ChannelSafety.fallbackKey], let other = field.word() {
            if other == name {
                field.fault("a channel can't be its own fallback", hint: "name another channel")
            } else {
                safety.fallback = other
            }
        }
        if let field = fields[ChannelSafety.waitKey],
            let wait = duration(field, in: ChannelSafety.waits, "1m to 7d")
        {
            if fields[ChannelSafety.fallbackKey] == nil {
                field.fault("there is no fallback to wait with", hint: "add fallback: and a channel's name")
            }
            safety.fallbackAfter = wait
        }
        if let field = fields[ChannelSafety.heartbeatKey] {
            safety.heartbeat = duration(field, in: ChannelSafety.heartbeats, "1m to 31d")
        }
        return safety
    }

    private func duration(_ field: Field, in range: ClosedRange<Duration>, _ words: String) -> Duration? {
        guard let duration = field.duration() else { return nil }
        if !range.contains(duration) { field.fault("it may be \(words)") }
        return duration
    }

    /// Reports fallbacks that are no channels.
    func checkFallbacks(of settings: [ChannelSetting], _ keys: [String: Field], channels: Set<String>) {
        for setting in settings {
            guard let other = setting.safety.fallback, !channels.contains(other), !isOtherChannel(other)
            else {
                continue
            }
            keys[setting.name]?.fault(
                "the fallback \"\(other)\" of this channel does not exist",
                hint: Field.meant(other, of: channels.sorted()))
        }
    }

    /// Warns where the program of the form is missing.
    private func look(for form: any ProgramForm, _ fields: [String: Field], main: Field) {
        guard let word = form.command.first, let fault = programFault(word) else { return }
        let kind = type(of: form)
        (fields[kind.programKey] ?? main).warn(
            "\(fault), so nothing is delivered there", hint: kind.missingHint)
    }

    /// Why the form can't work with the secrets that were read: a fault, or what leaves the channel out.
    private func fault(
        in setting: ChannelSetting, _ fields: [String: Field], _ secrets: ReadSecrets
    ) -> String? {
        guard let fault = setting.form.carrier.service?.fault(in: setting.secrets) else { return nil }
        let place = setting.secrets.keys.lazy.compactMap { fields[$0] }.first
        if !secrets.leavesOut(fault) { place?.fault(fault) }
        return fault
    }

    /// Reports why the form refuses the values that were read.
    private func report(
        _ error: FormError, in form: any ChannelForm.Type, _ fields: [String: Field], main: Field,
        _ key: Field
    ) {
        if case .missing(let name) = error {
            // What stands there and can't be read was reported already.
            guard fields[name] == nil else { return }
            let hint = form.fields.first { $0.name == name }.map { "\($0.hint), \($0.meaning)" }
            return key.fault("this \(form.kind.rawValue) has no \(name)", hint: hint)
        }
        let field = error.key.flatMap { fields[$0] } ?? main
        field.fault("\(error)", bytes: error.range)
    }

    /// The value of a field; nil after its faults were reported.
    func value(of field: Field, as shape: FormField.Shape) -> FormValues.Value? {
        switch shape {
        case .word: return field.word().map { .word($0) }
        case .mailServer:
            guard let text = field.word() else { return nil }
            hideSecrets(ofAddress: text, field.faults)
            return .word(text)
        case .words where field.scalar?.isEmpty == false:
            let usual = ("expected a list, found text", CommonMistakes.channelCommand(field.scalar ?? ""))
            let (message, hint) = field.dashMistake ?? usual
            field.fault(message, hint: hint)
            return nil
        case .words, .list:
            let words = field.value(shape == .words ? .words : .list)?.elements.compactMap(\.text) ?? []
            return words.isEmpty ? nil : .words(words)
        case .duration: return field.duration().map { .duration($0) }
        case .exceptions:
            let exceptions = (field.list() ?? []).compactMap { exception($0) }
            return .exceptions(exceptions)
        case .address:
            guard let text = field.word() else { return nil }
            hideSecrets(ofAddress: text, field.faults)
            do throws(FormError) {
                return .address(try HTTPAddress(text))
            } catch {
                field.fault("\(error)", bytes: error.range)
                return nil
            }
        case .secrets: return nil
        }
    }

    private func exception(_ field: Field) -> AddressException? {
        guard let text = field.word() else { return nil }
        do throws(FormError) { return try AddressException(text) } catch { field.fault("\(error)") }
        return nil
    }

    // MARK: Secrets

    /// The secrets of a channel or a bot, read.
    struct ReadSecrets {
        var contents: [String: [String]] = [:]
        var sources: [String: [SecretSource]] = [:]
        /// Why the first of them that can't be read can't be.
        var fault: String?
        /// Whether a fault leaves the channel or the bot out, instead of refusing the files.
        var leavesOut: (_ fault: String) -> Bool
    }

    /// Reads the secrets that a key names; one that can't be read is a fault, or leaves the channel or the bot out.
    func read(_ field: Field, of key: String, into secrets: inout ReadSecrets) {
        for (field, source) in secretSources(field) {
            secrets.sources[key, default: []].append(source)
            do {
                secrets.contents[key, default: []].append(try readSecret(source))
            } catch {
                let fault = "the secret can't be read from \(source): \(error)"
                secrets.fault = secrets.fault ?? fault
                guard !secrets.leavesOut(fault) else { continue }
                (field.entries()?.first?.value ?? field).fault(fault)
            }
        }
    }

    /// Hides what may be a secret of a channel whose fields are not known.
    private func hideSecrets(of value: Field, at name: String) {
        guard let text = value.scalar else { return }
        if ["secret", "token", "password"].contains(name) {
            value.faults.hide(text, shownAs: String(repeating: "*", count: text.count))
        } else {
            hideSecrets(ofAddress: text, value.faults)
        }
    }

    /// What stands before an `@` or in the path may be a secret, and an error may end in a log.
    func hideSecrets(ofAddress text: String, _ faults: Faults) {
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
                "do not write a secret in this file",
                hint:
                    "write \(field.name): { file: /path }, { credential: NAME }, { env: NAME } or { service: NAME }"
            )
            return nil
        }
        guard let fields = field.record(keys: ["file", "credential", "env", "service"]) else { return nil }
        guard fields.count == 1, let (kind, value) = fields.first, let text = value.word() else {
            if fields.count != 1 {
                field.fault("a secret comes from one place", hint: "write { file: /path }")
            }
            return nil
        }
        switch kind {
        case "file": return .file(text)
        case "credential": return .credential(text)
        case "service": return .service(text)
        default: return .environment(text)
        }
    }
}

// `listen:`, where the API is served over TCP.
extension ConfigurationReader {
    /// Reads `listen: { address, tls: { certificate, key }, url }`.
    func readDoor(_ field: Field) -> DoorSetting? {
        guard !field.isEmpty, let parts = field.record(keys: ["address", "tls", "url"]) else { return nil }
        guard let address = parts["address"] else {
            field.fault("an address is missing", hint: "write address: 127.0.0.1:8427")
            return nil
        }
        guard let text = address.word() else { return nil }
        guard var setting = DoorSetting(address: text) else {
            address.fault(
                "\"\(text.prefix(60))\" is not an address with a port",
                hint: "write address: 127.0.0.1:8427, or 0.0.0.0:8427 with tls: for other machines")
            return nil
        }
        if let tls = parts["tls"] {
            guard let files = readTLS(tls) else { return nil }
            setting.tls = files
        }
        guard setting.tls != nil || setting.isLoopback else {
            address.fault(
                "tokens would be sent unencrypted to \(text)",
                hint: "add tls: { certificate: PATH, key: PATH }, or listen on 127.0.0.1 behind a proxy")
            return nil
        }
        if let url = parts["url"] {
            guard let base = readBase(url) else { return nil }
            setting.publicURL = base
        }
        return setting
    }

    private func readTLS(_ field: Field) -> DoorSetting.TLS? {
        guard let parts = field.record(keys: ["certificate", "key"]) else { return nil }
        var paths: [String] = []
        for name in ["certificate", "key"] {
            guard let part = parts[name] else {
                field.fault(
                    "the file of the \(name) is missing", hint: "write \(name): /etc/belfry/\(name).pem")
                return nil
            }
            guard let path = part.word() else { return nil }
            guard path.hasPrefix("/") else {
                part.fault("the path is not absolute", hint: "begin it with /")
                return nil
            }
            paths.append(path)
        }
        return DoorSetting.TLS(certificate: paths[0], key: paths[1])
    }

    /// The address that links begin with.
    private func readBase(_ field: Field) -> String? {
        guard let text = field.word() else { return nil }
        guard (try? HTTPAddress(text)) != nil, !text.contains("?"), !text.contains("#") else {
            field.fault(
                "\"\(text.prefix(60))\" is not an address that a link can begin with",
                hint: "write url: https://belfry.example.org")
            return nil
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }
}
