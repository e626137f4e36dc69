import Delivery
import Host
import Settings

/// Why a secret of these tests can't be read.
struct Unreadable: Error, CustomStringConvertible {
    let description: String
}

/// Reads `text` as `belfry.yaml`, with the zones of this machine and one secret, at `/etc/belfry/hook.secret`.
func read(
    _ text: String, jobs others: [String: String] = [:],
    _ adjust: (inout ConfigurationReader) -> Void = { _ in }
) throws(SettingsError) -> Configuration {
    let zones = ZoneFiles()
    var reader = ConfigurationReader(
        hostZone: "Europe/Vienna", zone: { try? zones.rules(of: $0) },
        readSecret: { source in
            guard source == .file("/etc/belfry/hook.secret") else {
                throw Unreadable(description: "no such file")
            }
            return "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        })
    adjust(&reader)
    let files = others.sorted { $0.key < $1.key }.map { SourceText(name: $0.key, text: $0.value) }
    return try reader.read(SourceText(name: "belfry.yaml", text: text), jobs: files)
}

/// What a person is shown of a text that is refused; empty when it is good.
func refusal(_ text: String, jobs others: [String: String] = [:]) -> String {
    do throws(SettingsError) {
        _ = try read(text, jobs: others)
        return ""
    } catch {
        return error.description
    }
}
