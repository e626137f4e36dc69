package import Grouping

/// The icons of notices: names of the icon naming specification, or absolute paths.
///
/// - Source: Icon Naming Specification 0.8.90, "Status" and "Emblems".
package enum IconName {
    /// Of messages whose bot has no icon.
    package static let message = "mail-unread"
    /// Of such messages that are critical: not every desktop shows the urgency itself.
    package static let criticalMessage = "dialog-warning"

    /// The most bytes that a name or a path has; Linux' own limit of paths.
    package static let longest = 4096

    /// The icon that fits the news of a job.
    package static func of(_ news: JobNews) -> String {
        switch news {
        case .started, .progress: "appointment-soon"
        case .blocked: "dialog-question"
        case .completed, .recovered: "emblem-default"
        case .failed, .lost: "dialog-error"
        case .missed: "appointment-missed"
        case .canceled, .skipped: "dialog-information"
        }
    }

    /// What is wrong with `text` as an icon, as the end of a sentence; nil: nothing is.
    package static func fault(in text: String) -> String? {
        if text.isEmpty { return "can't be empty" }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "contains a control character"
        }
        if text.utf8.count > longest { return "has more than \(longest) bytes" }
        if text.contains("/"), !text.hasPrefix("/") {
            return "is neither an icon's name nor an absolute path"
        }
        return nil
    }
}
