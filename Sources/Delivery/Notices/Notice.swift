package import Grouping

/// One version of an item, rendered: what a channel shows, without a word of how it shows it.
///
/// All text is plain: control characters are removed, nothing is escaped. A channel escapes by what its
/// server can do.
package struct Notice: Hashable, Codable, Sendable {
    /// The item this is a version of.
    package var item: ItemKey
    /// Counts the versions of the item, from 1; a channel never replaces a higher one by a lower one.
    package var revision: Int
    /// One line.
    package var title: String
    /// Lines separated by `\n`; may be empty.
    package var body: String
    /// How the body is marked up; nil: not at all.
    package var markup: NoticeMarkup?
    /// The highest urgency of what is unread.
    package var urgency: Urgency
    /// The same for every version of the item, to replace by tag where ids are lost.
    ///
    /// Comes without the app's prefix, which a channel adds.
    package var tag: String
    /// Who speaks; the second grouping key on desktops that have one.
    package var bot: String
    /// Buttons, in order; the key `default` is a click on the body.
    package var actions: [NoticeAction]
    /// The place of the first button to show, where a person asked for those that had no room; nil: the first.
    package var firstButton: Int?
    /// A line below the body that does for the buttons where there are none.
    package var withoutButtons: String?
    /// A line below the body that does for a reply where none can be typed.
    package var withoutReply: String?
    /// Pages that do for the buttons at services that show links; at most as many as ``PageLink/fitting(_:)`` keeps.
    package var links: [PageLink]?
    /// A progress bar, 0...100; `nil` for none.
    package var value: Int?
    /// What happened to a job, where it reports that.
    package var news: JobNews?
    /// A category of the desktop specification, as `im.received` or `transfer.complete`.
    package var category: String?
    /// A name of the sound naming specification, or the absolute path of a sound; played only when ``ring`` is true.
    package var soundName: String?
    /// An icon name or an absolute path.
    package var icon: String?
    /// Whether this version may make a sound and pop up; false updates silently.
    package var ring: Bool
    /// Whether the desktop should keep it out of its history.
    package var isTransient: Bool
    /// How long it stays on the screen; `nil` lets the server decide, zero keeps it until closed.
    package var expireAfter: Duration?
    /// Why it rings, or why not.
    package var reason: RingReason

    /// A notice of its obligatory parts; the rest is set where needed.
    package init(
        item: ItemKey, revision: Int, title: String, body: String, urgency: Urgency = .normal, tag: String,
        bot: String, actions: [NoticeAction] = [], value: Int? = nil, news: JobNews? = nil,
        category: String? = nil,
        soundName: String? = nil, icon: String? = nil, ring: Bool, isTransient: Bool = false,
        expireAfter: Duration? = nil, reason: RingReason
    ) {
        self.item = item
        self.revision = revision
        self.title = title
        self.body = body
        self.urgency = urgency
        self.tag = tag
        self.bot = bot
        self.actions = actions
        self.value = value
        self.news = news
        self.category = category
        self.soundName = soundName
        self.icon = icon
        self.ring = ring
        self.isTransient = isTransient
        self.expireAfter = expireAfter
        self.reason = reason
    }
}

extension Notice {
    /// Whether it shows work in progress, which the result replaces.
    package var isLive: Bool { news?.isLive ?? false }

    /// Its links that the text, as it is shown, does not hold already.
    func links(besides shown: String) -> [PageLink] { (links ?? []).filter { !shown.contains($0.url) } }
}

extension JobNews {
    /// Whether a run is at work.
    package var isLive: Bool { self == .started || self == .progress }
}

/// How a body is marked up; see `Markdown`.
package enum NoticeMarkup: String, Hashable, Codable, Sendable {
    /// It is one text of Markdown.
    case markdown
    /// Each line is one.
    case markdownLines
}

/// A button of a notice.
package struct NoticeAction: Hashable, Codable, Sendable {
    /// The key of a click on the body, which reads the item.
    package static let defaultKey = "default"
    /// The key of a reply that is typed into the notice, where a server can take one.
    package static let replyKey = "inline-reply"

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

/// How a bot's notices look and sound where a message says nothing else.
package struct BotManner: Hashable, Sendable {
    /// A name of the sound naming specification; absent takes the one that fits the news.
    package var soundName: String?
    /// An icon name or an absolute path; of its messages alone, as a job's notice shows what happened.
    package var icon: String?
    /// Sounds for some kinds of news, instead of ``soundName``.
    package var sounds: [SoundKind: String] = [:]
    /// Whether its notices say that there is something, and not what.
    package var hidesText = false
    /// The most characters shown of what a job and its runs say; nil: as many as there are.
    package var previewCharacters: Int?
    /// Whether the bot answers what a person says to it.
    package var answers = false

    /// A manner; left out, that of the news itself.
    package init(soundName: String? = nil, icon: String? = nil) {
        self.soundName = soundName
        self.icon = icon
    }
}

/// What can have a sound of its own.
package enum SoundKind: String, Hashable, Sendable, CaseIterable {
    /// A message of the bot.
    case sent
    /// A job that waits, was canceled, missed or skipped.
    case status
    /// A job that failed or was lost.
    case failed
    /// A question.
    case question
    /// A job that completed or recovered.
    case completed

    /// That of an item.
    init(_ content: ItemSnapshot.Content) {
        switch content {
        case .messages: self = .sent
        case .question: self = .question
        case .storm(let report): self = report.failing == 0 ? .completed : .failed
        case .job(let report):
            switch report.news {
            case .failed, .lost: self = .failed
            case .completed, .recovered: self = .completed
            case .started, .progress, .blocked, .canceled, .missed, .skipped: self = .status
            }
        }
    }
}

/// The icons of notices: names of the icon naming specification, or absolute paths.
///
/// - Source: Icon Naming Specification 0.8.90, "Status" and "Emblems".
package enum IconName {
    /// Of messages whose bot has no icon.
    package static let message = "mail-unread"
    /// Of such messages that are critical: not every desktop shows the urgency itself.
    package static let criticalMessage = "dialog-warning"

    /// Of questions.
    package static let question = "dialog-question"

    /// The most bytes that a name or a path has; Linux' own limit of paths.
    package static let longest = 4096

    /// The icon that fits the news of a job.
    package static func of(_ news: JobNews) -> String {
        switch news {
        case .started, .progress: "appointment-soon"
        case .blocked: question
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

// The pages that a notice leads to, such as that of an answer to a question.
extension PageLink {
    /// More are left out: they are on the page of the first.
    package static let most = 5
    /// Bytes of all of them, labels too: a notice is more than its links.
    package static let room = 2000

    /// The first of these, as many as there is room for.
    package static func fitting(_ links: [PageLink]) -> [PageLink] {
        var bytes = 0
        return Array(
            links.prefix(most).prefix { link in
                bytes += link.label.utf8.count + link.url.utf8.count
                return bytes <= room
            })
    }

    /// The links in Markdown, in one line.
    static func markdown(_ links: [PageLink]) -> String {
        links.map { link in
            let label = FormText.fit(link.label, to: 80, as: .markdown)
            return "[\(label)](\(EscapedMarkdownPlace.address(link.url)))"
        }.joined(separator: " · ")
    }

    /// The links as lines of text, behind a line feed; empty where there are none.
    package static func lines(_ links: [PageLink]) -> String {
        links.map { "\n\($0.label): \($0.url)" }.joined()
    }

    /// Whether a service shows it as a button: some refuse addresses that nobody else could open.
    var isPublic: Bool {
        guard let address = try? HTTPAddress(url) else { return false }
        return address.isSecure && address.host.contains(".")
            && AddressRange.bytes(of: address.host).map(AddressRange.isPublic) ?? true
    }
}
