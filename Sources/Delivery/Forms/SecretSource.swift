/// Where a secret is read from; the secret itself is never in the config text.
package enum SecretSource: Hashable, Sendable {
    /// A file, by its absolute path; white space at its end is not part of the secret.
    case file(String)
    /// A systemd credential, by its name.
    case credential(String)
    /// An environment variable, by its name.
    case environment(String)
}

extension SecretSource: CustomStringConvertible {
    /// The place, which is no secret: `file /etc/belfry/hook.secret`.
    package var description: String {
        switch self {
        case .file(let path): "file \(path)"
        case .credential(let name): "credential \(name)"
        case .environment(let name): "environment variable \(name)"
        }
    }
}
