package import Delivery

/// A channel as described, with its secrets read.
package struct ChannelSetting: Hashable, Sendable {
    package var name: String
    package var form: ChannelForm
    /// The contents of the named secrets, in their order; never shown or logged.
    package var secrets: [String]
    /// `FILE:LINE`.
    package var place: String
    /// Why its secrets can't be read; nil: they were read.
    package var fault: String?

    package init(name: String, form: ChannelForm, secrets: [String], place: String) {
        self.name = name
        self.form = form
        self.secrets = secrets
        self.place = place
    }
}
