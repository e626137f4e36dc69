import DBus
import Delivery

/// What docks show on Belfry's icon: how much is unread, and how far the runs at work are.
///
/// Docks forget it when the connection that sent it closes.
/// - Source: micheleg/dash-to-dock, launcherAPI.js; Plasma's task manager and Plank read the same.
struct LauncherEntry {
    static let interface = "com.canonical.Unity.LauncherEntry"

    private var unread = 0
    /// The part done of the runs at work that are shown, 0...100; nil: nobody knows.
    private var work: [RemoteID: Int?] = [:]
    private var sent: Properties?

    private struct Properties: Hashable {
        var unread = 0
        var percent: Int?
    }

    /// How many messages are unread.
    mutating func note(unread count: Int) { unread = count }

    /// The notice is shown under this id, in the place of another.
    mutating func note(_ notice: Notice, shownAs remote: RemoteID, replacing old: RemoteID?) {
        if let old { work[old] = nil }
        if notice.isLive { work[remote] = .some(notice.value) } else { work[remote] = nil }
    }

    /// What was shown under this id is not any more.
    mutating func forget(_ remote: RemoteID) { work[remote] = nil }

    /// Nothing is shown any more: the server's life has ended.
    mutating func forgetAll() { work = [:] }

    /// Nobody was sent anything yet.
    mutating func forgetSent() { sent = nil }

    /// The arguments of the signal that says what has changed; nil: nothing has.
    ///
    /// Progress is left out where the desktop shows jobs, which it adds up by itself.
    mutating func update(entry: String, sendsProgress: Bool) -> [DBusValue]? {
        let known = work.values.compactMap(\.self)
        var next = Properties(unread: unread)
        if sendsProgress, !known.isEmpty { next.percent = known.reduce(0, +) / known.count }
        guard next != sent ?? Properties() else { return nil }
        sent = next
        return [
            .string("application://\(entry).desktop"),
            .hints([
                ("count", .int64(Int64(next.unread))), ("count-visible", .bool(next.unread > 0)),
                ("progress", .double(Double(next.percent ?? 0) / 100)),
                ("progress-visible", .bool(next.percent != nil)),
            ]),
        ]
    }
}

extension Desktop {
    package func showBadge(_ unread: Int) async {
        launcher.note(unread: unread)
        await sendLauncherEntry()
    }

    /// Shows what has changed on the icon; who can't be reached now learns it with the next change.
    func sendLauncherEntry() async {
        guard let connection,
            let arguments = launcher.update(entry: entryName, sendsProgress: views.owner == nil)
        else { return }
        try? await connection.emit(
            path: "/com/canonical/unity/launcherentry/belfry", interface: LauncherEntry.interface,
            member: "Update", arguments)
    }
}
