import Delivery

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
