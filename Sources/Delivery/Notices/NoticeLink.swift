/// A page that a notice leads to, such as that of an answer to a question.
package struct NoticeLink: Hashable, Codable, Sendable {
    /// What a person reads of it.
    package var label: String
    /// The whole address of the page.
    package var url: String

    /// A link.
    package init(label: String, url: String) { (self.label, self.url) = (label, url) }

    /// More are left out: they are on the page of the first.
    package static let most = 5
    /// Bytes of all of them, labels too: a notice is more than its links.
    package static let room = 2000

    /// The first of these, as many as there is room for.
    package static func fitting(_ links: [NoticeLink]) -> [NoticeLink] {
        var bytes = 0
        return Array(
            links.prefix(most).prefix { link in
                bytes += link.label.utf8.count + link.url.utf8.count
                return bytes <= room
            })
    }

    /// The links as lines of text, behind a line feed; empty where there are none.
    package static func lines(_ links: [NoticeLink]) -> String {
        links.map { "\n\($0.label): \($0.url)" }.joined()
    }

    /// Whether a service shows it as a button: some refuse addresses that nobody else could open.
    var isPublic: Bool {
        guard let address = try? HTTPAddress(url) else { return false }
        return address.isSecure && address.host.contains(".")
            && AddressRange.bytes(of: address.host).map(AddressRange.isPublic) ?? true
    }
}
