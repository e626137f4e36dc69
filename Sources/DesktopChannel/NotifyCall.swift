import DBus
import Delivery
import Grouping

/// A notice as the arguments of `Notify`, for one server.
///
/// - Source: Desktop Notifications Specification 1.2; hints beyond it as dunst, mako, swaync, xfce and
///   Plasma read them.
struct NotifyCall {
    private static let titleLimit = 200
    private static let bodyLimit = 4000
    /// Bytes of a category, of a sound's or an icon's name, and of a tag.
    private static let nameLimit = 255
    /// Bytes of a path; Linux' own limit.
    private static let pathLimit = 4096
    /// Characters; more than these and the percentage would not fit on one line of xfce4-notifyd's.
    private static let barLength = 12

    var notice: Notice
    var form: DesktopForm
    /// The id to take over; 0 for a new one.
    var replacedID: UInt32
    /// The server that is called; it decides what can be said, and how.
    var server: ServerProfile

    var arguments: [DBusValue] {
        [
            .string(form.appName), .uint32(replacedID), .string(icon ?? ""), .string(summary), .string(body),
            .strings(actions), .hints(hints), .int32(expiry),
        ]
    }

    /// Never empty: dunst drops what says nothing.
    private var summary: String {
        let text = [notice.title, canShowBody ? "" : notice.body].filter { !$0.isEmpty }
            .joined(separator: ": ")
        let line = Preview.cut(text, to: Self.titleLimit)
        return line.isEmpty ? notice.bot : line
    }

    private var body: String {
        guard canShowBody else { return "" }
        let text = bar + PlainText.cleaned(notice.body, limit: Self.bodyLimit)
        return server.readsMarkup ? PlainText.escaped(text) : text
    }

    /// The progress as a line of text, for a server whose own bar would hide what the notice says.
    private var bar: String {
        guard server.hidesTextBehindBar, let percent else { return "" }
        let done = percent * Self.barLength / 100
        return String(repeating: "█", count: done) + String(repeating: "░", count: Self.barLength - done)
            + " \(percent) %" + (notice.body.isEmpty ? "" : "\n")
    }

    private var percent: Int? { notice.value.map { min(max($0, 0), 100) } }

    private var canShowBody: Bool { server.capabilities.contains("body") }

    private var actions: [String] {
        guard server.capabilities.contains("actions") else { return [] }
        return notice.actions.flatMap {
            [PlainText.printable($0.key), PlainText.cleaned($0.label, limit: Self.titleLimit)]
        }
    }

    private var hints: [(String, DBusValue)] {
        var hints: [(String, DBusValue)] = [
            ("urgency", .byte(notice.urgency.level)),  // every server but mako ignores other types
            ("desktop-entry", .string(form.desktopEntry)),
            ("x-kde-origin-name", .string(PlainText.cleaned(notice.bot, limit: Self.titleLimit))),
        ]
        // The prefix matters: swaync replaces across apps. Where it is too long to send, ids alone must do.
        if let tag = PlainText.name(form.desktopEntry + ":" + notice.tag, limit: Self.nameLimit) {
            // Two names of one thing.
            hints.append(("x-canonical-private-synchronous", .string(tag)))
            hints.append(("x-dunst-stack-tag", .string(tag)))
        }
        if let percent, !server.hidesTextBehindBar {
            hints.append(("value", .int32(Int32(percent))))  // mako fails on other types
        }
        if let category = PlainText.name(notice.category, limit: Self.nameLimit) {
            hints.append(("category", .string(category)))
        }
        if let icon { hints.append(("image-path", .string(icon))) }
        if !notice.ring {
            hints.append(("suppress-sound", .bool(true)))
        } else if let sound = PlainText.name(notice.soundName, limit: Self.nameLimit) {
            hints.append(("sound-name", .string(sound)))
        }
        // Never sent as false: xfce looks only whether it is there.
        if notice.isTransient { hints.append(("transient", .bool(true))) }
        return hints
    }

    /// A name as it is, a path as a file URI.
    private var icon: String? {
        guard let icon = PlainText.name(notice.icon, limit: Self.pathLimit), icon.hasPrefix("/") else {
            return PlainText.name(notice.icon, limit: Self.nameLimit)
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
    private var expiry: Int32 {
        guard notice.urgency != .critical else { return 0 }
        guard let duration = notice.expireAfter else { return -1 }
        return Int32(
            clamping: max(
                0,
                duration.components.seconds * 1000
                    + duration.components.attoseconds / 1_000_000_000_000_000))
    }
}
