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
        case .file(let path): text = try contents(of: path)
        case .credential(let name):
            guard let folder = Machine.environment["CREDENTIALS_DIRECTORY"] else {
                throw Failure("systemd passed no credentials (LoadCredential=\(name):... in the unit)")
            }
            guard !name.contains("/") else { throw Failure("a credential's name holds no slash") }
            text = try contents(of: "\(folder)/\(name)")
        case .environment(let name):
            guard let value = Machine.environment[name] else { throw Failure("it is not set") }
            text = value
        }
        guard !text.isEmpty else { throw Failure("it is empty") }
        return text
    }

    /// What the file holds; who reports an error names the file.
    private static func contents(of path: String) throws -> String {
        do throws(HostError) {
            return try SmallFile.text(path)
        } catch {
            guard let code = error.code else { throw error }
            throw Failure(errorText(code))
        }
    }
}

extension Failure: CustomStringConvertible {
    var description: String { message }
}
