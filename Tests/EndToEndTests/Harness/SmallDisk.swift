import Host
import TestSupport

/// A file system of a few kilobytes, mounted for one test; unmounted when let go.
final class SmallDisk: Sendable {
    private let path: String

    /// Whether this user may mount file systems here.
    static let isAllowed: Bool = {
        guard let folder = try? TemporaryFolder() else { return false }
        return (try? SmallDisk(at: folder.file("disk"), kilobytes: 64)) != nil
    }()

    /// Mounts it at `path`, which is made.
    init(at path: String, kilobytes: Int) throws {
        self.path = path
        try PrivateFolder.make(path)
        let code = try Shell.run(
            "exec mount -t tmpfs -o size=\(kilobytes)k,mode=0700 tmpfs '\(path)' 2> /dev/null")
        guard code == 0 else { throw NotStarted(program: "mount") }
    }

    deinit {
        _ = try? Shell.run("umount --lazy '\(path)'")
    }

    /// Changes how it is mounted: `ro`, `rw`.
    func remount(_ option: String) throws {
        let code = try Shell.run("mount -o remount,\(option) '\(path)'")
        guard code == 0 else { throw NotStarted(program: "mount") }
    }

    /// Leaves no room on it.
    func fill() throws(HostError) {
        try Shell.run("cat /dev/zero > '\(path)/ballast'")
    }

    /// Makes room again.
    func free() throws(HostError) {
        try Shell.run("rm '\(path)/ballast'")
    }
}
