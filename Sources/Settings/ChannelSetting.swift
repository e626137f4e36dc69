package import Delivery

/// A channel as described, with its secrets read.
package struct ChannelSetting: Sendable {
    package var name: String
    package var form: any ChannelForm
    /// The contents of the named secrets; never shown or logged.
    package var secrets: FormSecrets
    /// Where the secrets are read from, by the key that names them.
    package var sources: [String: [SecretSource]] = [:]
    /// `FILE:LINE`.
    package var place: String
    /// Why its secrets can't be read; nil: they were read.
    package var fault: String?

    package init(name: String, form: any ChannelForm, secrets: FormSecrets = FormSecrets(), place: String) {
        self.name = name
        self.form = form
        self.secrets = secrets
        self.place = place
    }

    /// Whether a channel made of the one serves for the other: its line in the file does not matter.
    package func makesTheSame(as other: ChannelSetting) -> Bool {
        name == other.name && AnyHashable(form) == AnyHashable(other.form) && secrets == other.secrets
    }
}
