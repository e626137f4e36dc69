import DBus
import Delivery

/// Who shows runs at work as jobs of the desktop, and which of ours: Plasma, which draws no bar in a notification.
///
/// - Source: KDE/kjobwidgets, `org.kde.JobViewServerV2`, `org.kde.JobViewV3` and the versions before them.
struct JobViews {
    /// Its well-known name.
    static let service = "org.kde.JobViewServer"
    private static let prefix = "job "
    /// A run can be canceled and paused.
    static let abilities: Int32 = 1 | 2

    /// What its methods look like.
    enum Version: String { case first = "", second = "V2" }

    /// The unique name of who shows jobs; nil: nobody, or whoever it was did not answer.
    var owner: String?
    /// How it is called; nil: not tried yet.
    var version: Version?
    /// The paths of our jobs.
    private var paths: Set<String> = []

    /// Another one shows jobs now, or nobody: what was shown no longer exists.
    mutating func adopt(_ owner: String?) { self = JobViews(owner: owner) }

    /// A job was made.
    mutating func add(_ path: String) { paths.insert(path) }

    /// A job has ended.
    mutating func remove(_ path: String) { paths.remove(path) }

    /// What a job is called in the ledger.
    static func remote(_ path: String, generation: String) -> RemoteID {
        RemoteID(generation: generation, id: prefix + path)
    }

    /// The path of one of our jobs; nil: it is none, or no longer exists.
    func path(of remote: RemoteID?) -> String? {
        guard let id = remote?.id, id.hasPrefix(Self.prefix) else { return nil }
        let path = String(id.dropFirst(Self.prefix.count))
        return paths.contains(path) ? path : nil
    }

    /// What a person asks of one of our jobs; nil: it is another signal.
    func request(_ signal: DBusSignal) -> (path: String, button: NoticeButton)? {
        guard let owner, signal.sender == owner, signal.interface.hasPrefix("org.kde.JobView"),
            paths.contains(signal.path)
        else { return nil }
        switch signal.member {
        case "cancelRequested": return (signal.path, .cancel)
        case "suspendRequested": return (signal.path, .pause)
        case "resumeRequested": return (signal.path, .resume)
        default: return nil
        }
    }

    /// A method of the server of jobs.
    func server(_ owner: String, _ version: Version, _ member: String) -> DBusMethod {
        DBusMethod(
            destination: owner, path: "/JobViewServer", interface: Self.service + version.rawValue,
            member: member)
    }

    /// A method of a job.
    func view(_ owner: String, _ path: String, _ member: String) -> DBusMethod {
        DBusMethod(
            destination: owner, path: path,
            interface: version == .first ? "org.kde.JobViewV2" : "org.kde.JobViewV3", member: member)
    }
}

extension Desktop {
    /// Shows a run at work as a job; nil: it can't be, and is shown as any other notice.
    func showAsJob(
        _ notice: Notice, replacing remote: RemoteID?, generation: String, on connection: DBusConnection
    ) async -> RemoteID? {
        let picture = JobPicture(notice)
        if let path = views.path(of: remote) {
            guard await change(path, to: picture, on: connection) else { return nil }
            return remote
        }
        guard remote == nil, let path = await makeJob(picture, on: connection),
            await change(path, to: picture, on: connection)
        else { return nil }
        return JobViews.remote(path, generation: generation)
    }

    /// Takes a job off the screen; its result is a notification.
    func endJob(_ path: String, on connection: DBusConnection) async {
        guard let owner = views.owner else { return }
        let arguments: [DBusValue] =
            views.version == .first ? [.string("")] : [.uint32(0), .string(""), .hints([])]
        _ = await call(views.view(owner, path, "terminate"), arguments, on: connection)
        views.remove(path)
    }

    private func makeJob(_ picture: JobPicture, on connection: DBusConnection) async -> String? {
        guard let owner = views.owner else { return nil }
        for version in views.version.map({ [$0] }) ?? [JobViews.Version.second, .first] {
            let method = views.server(owner, version, "requestView")
            let arguments = picture.request(version, entry: entryName)
            guard let path = await call(method, arguments, on: connection)?.first?.text else { continue }
            // Somebody else may have taken over while it answered.
            guard views.owner == owner else { return nil }
            views.version = version
            views.add(path)
            return path
        }
        views.owner = nil
        return nil
    }

    private func change(_ path: String, to picture: JobPicture, on connection: DBusConnection) async -> Bool {
        guard let owner = views.owner else { return false }
        for (member, arguments) in picture.changes(views.version ?? .second) {
            let method = views.view(owner, path, member)
            guard await call(method, arguments, on: connection) != nil else {
                views.remove(path)
                return false
            }
        }
        return true
    }

    private func call(
        _ method: DBusMethod, _ arguments: [DBusValue], on connection: DBusConnection
    ) async -> [DBusValue]? {
        try? await connection.call(method, arguments, deadline: answerDeadline)
    }
}

/// A run at work as a job shows it.
private struct JobPicture {
    let title: String
    let text: String
    let icon: String
    let percent: UInt32?
    let isPaused: Bool

    init(_ notice: Notice) {
        title = DesktopForm.plain(notice.title)
        text = DesktopForm.plain(notice.body.split(separator: "\n").first.map(String.init) ?? "")
        icon = DesktopForm.plain(notice.icon ?? "")
        percent = notice.value.map { UInt32(min(max($0, 0), 100)) }
        isPaused = notice.actions.contains { $0.key == NoticeButton.resume.rawValue }
    }

    /// The arguments of the request for a job.
    func request(_ version: JobViews.Version, entry: String) -> [DBusValue] {
        switch version {
        case .first: [.string("Belfry"), .string(icon), .int32(JobViews.abilities)]
        case .second:
            [
                .string(entry), .int32(JobViews.abilities),
                // The result says that it has ended: the job itself need not stay.
                .hints([
                    ("transient", .bool(true)), ("application-display-name", .string("Belfry")),
                    ("application-icon-name", .string(icon)), ("title", .string(title)),
                ]),
            ]
        }
    }

    /// The calls that make a job look so.
    func changes(_ version: JobViews.Version) -> [(member: String, arguments: [DBusValue])] {
        switch version {
        case .first:
            return [
                ("setInfoMessage", [.string(text.isEmpty ? title : "\(title): \(text)")]),
                ("setSuspended", [.bool(isPaused)]),
            ] + (percent.map { [("setPercent", [.uint32($0)])] } ?? [])
        case .second:
            var properties: [(String, DBusValue)] = [
                ("title", .string(title)), ("infoMessage", .string(text)), ("suspended", .bool(isPaused)),
            ]
            if let percent { properties.append(("percent", .uint32(percent))) }
            return [("update", [.hints(properties)])]
        }
    }
}

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
