import API
import Host

/// Whom imported jobs run as, and whether they can run as somebody else.
struct ImportRights {
    /// Who runs this program.
    let own: UserTable.Entry?
    /// The user of jobs that name none.
    let runner: String?
    /// Whether a job can name another user.
    let canSwitch: Bool

    /// The rights that a daemon's warden gives; without a daemon those of a `system` daemon, or one's own.
    init(system: Bool, status: WireStatus?) {
        own = UserTable.own
        // A daemon and its warden run as the same user, also while the warden is not there yet.
        let owner = (status?.warden?.pid ?? status?.pid).flatMap(Self.owner)
        runner = owner ?? (system ? "root" : own?.name)
        canSwitch = owner == "root" || owner == nil && system
    }

    /// The user to set for a job that runs as `name`, nil where it would anyway, or why it can't.
    func user(_ name: String?) -> (user: String?, refusal: String?) {
        guard let name, name != runner else { return (nil, nil) }
        guard !canSwitch else { return (name, nil) }
        return (nil, "it runs as \(name), and this daemon's jobs run as \(runner ?? "you")")
    }

    /// The user whose process it is.
    private static func owner(_ pid: Int32) -> String? {
        guard let text = try? SmallFile.text("/proc/\(pid)/status") else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("Uid:") }
        guard
            let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ UInt32($0) })
        else {
            return nil
        }
        return Account.name(of: number)
    }
}
