import Grouping
import Tracking

/// Notifications of the session's desktop, edited in place.
///
/// - Source: Desktop Notifications Specification 1.2; hints beyond it as dunst, mako, swaync, xfce and Plasma read them.
package struct DesktopForm: ChannelForm {
    package static let kind = ChannelKind("desktop", isLevel: true)
    package static let fields = [
        FormField(
            userKey, .word, "the user on whose desktop `belfry agent` shows it", example: "anna")
    ]
    private static let userKey = "user"
    package static let laterFields = ["sound", "urgency"]

    /// The name a server shows, and the prefix of tags.
    package var appName: String
    /// The desktop file's name without `.desktop`: what desktops group by and take the icon from.
    package var desktopEntry: String
    /// How long one call to the server may take.
    package var deadline: Duration
    /// Whose desktop it is, shown by that user's agent; nil: that of the daemon's own session.
    package var user: String?

    /// A desktop channel; left out, that of Belfry with a deadline of 2 s.
    package init(
        appName: String = "Belfry", desktopEntry: String = "belfry", deadline: Duration = .seconds(2)
    ) {
        self.appName = appName
        self.desktopEntry = desktopEntry
        self.deadline = deadline
    }

    package init(_ values: FormValues) throws(FormError) {
        self.init()
        user = values.text(Self.userKey)
    }

    /// The sender on the session bus.
    package var carrier: FormCarrier { .desktop(self) }

    /// What `notice` looks like on `server`.
    package func render(_ notice: Notice, for server: DesktopServer) -> DesktopNotification {
        let notice = RenderedNotice(notice: notice, form: self, server: server)
        return DesktopNotification(
            appName: appName, icon: notice.icon ?? "", summary: notice.summary, body: notice.body,
            actions: notice.actions, hints: notice.hints, expiry: notice.expiry)
    }

    /// Text of a bot as one line that a program shows as it is.
    package static func plain(_ text: String) -> String { Preview.cut(text, to: 200) }

    /// What a server's refusal means, by the name of the error and its text.
    package func judge(error name: String, detail: String) -> DeliveryError {
        Self.failures.judge(name, detail: detail)
    }

    /// Plasma's answer to the same content twice within a second, in place or not: it is shown already.
    package static let tooManyAlike = "org.freedesktop.Notifications.Error.ExcessNotificationGeneration"

    /// - Source: names of D-Bus specification 0.42 and of servers' own sources.
    private static let failures = FailureTable<String>(
        [
            .init(.retry, .throttled, after: .seconds(1)) { $0 == tooManyAlike },
            .init(.unreachable, .noServer) {
                [
                    "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
                    "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected",
                ].contains($0)
            },
            .init(.retry, .throttled) {
                ["org.freedesktop.DBus.Error.LimitsExceeded", "org.freedesktop.DBus.Error.NoMemory"].contains(
                    $0)
            },
        ], otherwise: .giveUp, .rejected)
}

/// What a notification server can do, as far as it decides how a notice looks.
package struct DesktopServer: Hashable, Sendable {
    /// What it says that it can do.
    package var capabilities: Set<String>
    /// Whether text must be escaped to be shown as it is.
    package var readsMarkup: Bool
    /// Whether a person can type a reply into a notification; the button that begins one has its own key.
    package var takesReplies: Bool {
        capabilities.contains("inline-reply") && capabilities.contains("actions")
    }
    /// Whether a progress bar takes the place of title and text, instead of standing beside them.
    package var hidesTextBehindBar: Bool
    /// Whether it draws a progress bar at all.
    package var drawsBars: Bool
    /// Whether a click on the body is an action; where it closes the notice, the action would be one more button.
    package var takesClicks: Bool
    /// The most buttons it shows; nil: all there are.
    package var buttonRoom: Int?
    /// Whether it hides what is for the user alone while the screen is locked.
    package var hasPrivacyScopes: Bool

    /// The server of that name, which may be empty.
    package init(name: String?, capabilities: Set<String>) {
        self.capabilities = capabilities
        // dunst 1.9 without a `markup` line in its settings does not announce markup and renders it.
        readsMarkup = capabilities.contains("body-markup") || name == "dunst"
        // - Source: xfce4-notifyd 0.7.3, xfce_notify_window_set_gauge_value.
        hidesTextBehindBar = name == "Xfce Notify Daemon"
        // - Source: xfce4-notifyd 0.7.3, xfce-notify-window.c: every action is a button.
        takesClicks = name != "Xfce Notify Daemon"
        // - Source: GNOME Shell, notificationDaemon.js, and plasma-workspace, notifications: neither reads `value`.
        drawsBars = name != "gnome-shell" && name != "Plasma"
        // - Source: GNOME Shell, notificationDaemon.js: `x-gnome-privacy-scope`.
        hasPrivacyScopes = name == "gnome-shell"
        // - Source: GNOME Shell, messageTray.js: `MAX_NOTIFICATION_BUTTONS`. notification-daemon cuts off what is wider than
        // its window.
        if name == "gnome-shell" || name == "Notification Daemon" { buttonRoom = 3 }
    }
}

/// The arguments of a server's `Notify`, but for the id to replace.
package struct DesktopNotification: Sendable {
    /// The value of a hint; servers look at its type, too.
    package enum Hint: Hashable, Sendable {
        case byte(UInt8)
        case int32(Int32)
        case string(String)
        case bool(Bool)
    }

    /// The app's name.
    package var appName: String
    /// An icon's name, or a file URI; may be empty.
    package var icon: String
    /// The title, never empty.
    package var summary: String
    /// The text.
    package var body: String
    /// Keys and labels of buttons, in turns.
    package var actions: [String]
    /// The hints, in order.
    package var hints: [(name: String, value: Hint)]
    /// How long it stays, in milliseconds; -1 leaves it to the server, 0 is for ever.
    package var expiry: Int32
}

/// A notice on its way to one server.
private struct RenderedNotice {
    private static let titleLimit = 200
    private static let bodyLimit = 4000
    /// Bytes of a category, of a sound's or an icon's name, and of a tag.
    private static let nameLimit = 255
    /// Bytes of a path; Linux' own limit.
    private static let pathLimit = IconName.longest
    /// Characters; more than these and the bar would not fit on one line of xfce4-notifyd's.
    private static let barLength = 16

    var notice: Notice
    var form: DesktopForm
    var server: DesktopServer

    /// Never empty: dunst drops what says nothing.
    var summary: String {
        let text = [notice.title, canShowBody ? "" : notice.body].filter { !$0.isEmpty }
            .joined(separator: ": ")
        let line = Preview.cut(text, to: Self.titleLimit)
        return line.isEmpty ? notice.bot : line
    }

    var body: String {
        guard canShowBody else { return "" }
        let text = DesktopText.cleaned(whole, limit: Self.bodyLimit)
        guard server.readsMarkup else { return bar + marked(text, for: PlainPlace()) }
        return bar + marked(text, for: MarkupPlace(hasLinks: server.capabilities.contains("body-hyperlinks")))
    }

    /// The text with what does for the buttons on a server without any.
    private var whole: String {
        let rest = [
            hasButtons ? nil : notice.withoutButtons, server.takesReplies ? nil : notice.withoutReply,
        ]
        return ([notice.body] + rest).compactMap(\.self).joined(separator: "\n")
    }

    private var hasButtons: Bool { server.capabilities.contains("actions") }

    /// The text as a place shows it.
    private func marked(_ text: String, for place: some MarkdownPlace) -> String {
        func line(_ spans: [Markdown.Span]) -> String { spans.map(place.show).joined() }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        switch notice.markup {
        case .markdown: return Markdown(text).text(for: place)
        case .markdownLines: return lines.map { line(Markdown.spans(of: $0)) }.joined(separator: "\n")
        case nil: return lines.map { line([Markdown.Span($0)]) }.joined(separator: "\n")
        }
    }

    /// The progress as a line of text, for a server that draws no bar, or whose own would hide what the notice says; how
    /// many percent it is stands there.
    private var bar: String {
        guard server.hidesTextBehindBar || !server.drawsBars, let percent else { return "" }
        let done = percent * Self.barLength / 100
        // The body begins with the number.
        return String(repeating: "█", count: done) + String(repeating: "░", count: Self.barLength - done)
            + (notice.body.isEmpty ? " \(percent)%" : "\n")
    }

    private var percent: Int? { notice.value.map { min(max($0, 0), 100) } }

    private var canShowBody: Bool { server.capabilities.contains("body") }

    var actions: [String] {
        guard hasButtons else { return [] }
        // Where a reply can be typed, nobody needs a terminal for it.
        let other = server.takesReplies ? NoticeButton.reply.rawValue : NoticeAction.replyKey
        let usable = notice.actions.filter {
            $0.key != other && ($0.key != NoticeAction.defaultKey || server.takesClicks)
        }
        let page = NoticeAction.page(
            of: usable, from: notice.firstButton ?? 0,
            room: server.buttonRoom)
        return page.flatMap {
            [DesktopText.printable($0.key), DesktopText.cleaned($0.label, limit: Self.titleLimit)]
        }
    }

    var hints: [(name: String, value: DesktopNotification.Hint)] {
        var hints: [(name: String, value: DesktopNotification.Hint)] = [
            ("urgency", .byte(notice.urgency.level)),  // every server but mako ignores other types
            ("desktop-entry", .string(form.desktopEntry)),
            ("x-kde-origin-name", .string(DesktopText.cleaned(notice.bot, limit: Self.titleLimit))),
        ]
        if server.hasPrivacyScopes { hints.append(("x-gnome-privacy-scope", .string("user"))) }
        // The prefix matters: swaync replaces across apps. Where it is too long to send, ids alone must do.
        if let tag = DesktopText.name(form.desktopEntry + ":" + notice.tag, limit: Self.nameLimit) {
            // Two names of one thing.
            hints.append(("x-canonical-private-synchronous", .string(tag)))
            hints.append(("x-dunst-stack-tag", .string(tag)))
        }
        if let percent, !server.hidesTextBehindBar {
            hints.append(("value", .int32(Int32(percent))))  // mako fails on other types
        }
        if let category = DesktopText.name(notice.category, limit: Self.nameLimit) {
            hints.append(("category", .string(category)))
        }
        if let icon { hints.append(("image-path", .string(icon))) }
        if !notice.ring {
            hints.append(("suppress-sound", .bool(true)))
        } else if let sound = DesktopText.name(notice.soundName, limit: Self.pathLimit) {
            // A path and no URI: GNOME opens it as it is.
            if sound.hasPrefix("/") {
                hints.append(("sound-file", .string(sound)))
            } else if sound.utf8.count <= Self.nameLimit {
                hints.append(("sound-name", .string(sound)))
            }
        }
        if server.takesReplies, notice.actions.contains(where: { $0.key == NoticeAction.replyKey }) {
            let asker = DesktopText.cleaned(notice.bot, limit: 60)
            hints.append(("x-kde-reply-placeholder-text", .string("Reply to \(asker)")))
            hints.append(("x-kde-reply-submit-button-text", .string("Send")))
        }
        // Never sent as false: xfce looks only whether it is there.
        if notice.isTransient { hints.append(("transient", .bool(true))) }
        return hints
    }

    /// A name as it is, a path as a file URI.
    var icon: String? {
        guard let icon = DesktopText.name(notice.icon, limit: Self.pathLimit), icon.hasPrefix("/") else {
            return DesktopText.name(notice.icon, limit: Self.nameLimit)
        }
        return icon.utf8.reduce(into: "file://") { uri, byte in
            let scalar = Unicode.Scalar(byte)
            if scalar.isASCII,
                scalar.properties.isAlphabetic || "/-._~0123456789".unicodeScalars.contains(scalar)
            {
                uri.unicodeScalars.append(scalar)
            } else {
                uri += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    /// Milliseconds; -1 leaves it to the server, 0 is for ever.
    ///
    /// Critical ones stay.
    var expiry: Int32 {
        guard notice.urgency != .critical else { return 0 }
        guard let duration = notice.expireAfter else { return -1 }
        return Int32(
            clamping: max(
                0,
                duration.components.seconds * 1000
                    + duration.components.attoseconds / 1_000_000_000_000_000))
    }
}

/// Text of bots on its way to a server: data, never markup.
private enum DesktopText {
    /// What a person would read of it, at most `limit` characters.
    static func cleaned(_ text: String, limit: Int) -> String {
        let clean = text.spoken
        return clean.count > limit ? clean.prefix(limit - 1) + "…" : clean
    }

    /// A name that a program reads, as of an icon or a sound, without control characters.
    ///
    /// `nil` when nothing is left, or more than `limit` bytes: half a name means something else.
    static func name(_ text: String?, limit: Int) -> String? {
        let clean = printable(text ?? "")
        return clean.isEmpty || clean.utf8.count > limit ? nil : clean
    }

    /// `text` without control characters; a NUL could not be sent at all.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.filter { $0.properties.generalCategory != .control })
        )
    }
}
