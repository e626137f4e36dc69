/// A button of a notice.
package struct NoticeAction: Hashable, Codable, Sendable {
    /// What comes back when it is pressed; `default` is a click on the body.
    package var key: String
    /// What the button says.
    package var label: String

    /// A button.
    package init(key: String, label: String) {
        self.key = key
        self.label = label
    }
}
