import Delivery
import Host

/// Reads secrets from where the configuration says they are.
enum Secrets {
    /// The secret, without the white space around it.
    ///
    /// - Throws: a sentence that never holds the secret.
    static func read(_ source: SecretSource) throws -> String {
        let text: String
        switch source {
        case .file(let path):
            text = try SmallFile.text(path)
        case .credential(let name):
            guard let folder = Machine.environment["CREDENTIALS_DIRECTORY"] else {
                throw Failure("systemd passed no credentials (LoadCredential=\(name):... in the unit)")
            }
            guard !name.contains("/") else { throw Failure("a credential's name holds no slash") }
            text = try SmallFile.text("\(folder)/\(name)")
        case .environment(let name):
            guard let value = Machine.environment[name] else { throw Failure("it is not set") }
            text = value
        }
        guard !text.isEmpty else { throw Failure("it is empty") }
        return text
    }
}

extension Failure: CustomStringConvertible {
    var description: String { message }
}
