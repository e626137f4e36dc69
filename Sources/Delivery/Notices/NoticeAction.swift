/// A button of a notice.
package struct NoticeAction: Hashable, Codable, Sendable {
    /// The key of a click on the body, which opens the item.
    package static let defaultKey = "default"

    /// What comes back when it is pressed; ``defaultKey`` is a click on the body.
    package var key: String
    /// What the button says.
    package var label: String

    /// A button.
    package init(key: String, label: String) {
        self.key = key
        self.label = label
    }
}
