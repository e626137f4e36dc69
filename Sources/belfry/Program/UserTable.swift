import Glibc

/// The users of this machine.
enum UserTable {
    /// A user's name and folder.
    struct Entry: Hashable {
        var name: String
        var home: String
    }

    /// Who runs this program.
    static var own: Entry? { unsafe entry(getpwuid(geteuid())) }

    /// The user of that name.
    static func entry(_ name: String) -> Entry? { unsafe entry(getpwnam(name)) }

    private static func entry(_ row: UnsafeMutablePointer<passwd>?) -> Entry? {
        guard let row = unsafe row, let name = unsafe row.pointee.pw_name,
            let home = unsafe row.pointee.pw_dir
        else { return nil }
        return unsafe Entry(name: String(cString: name), home: String(cString: home))
    }
}
