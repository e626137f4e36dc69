import Glibc

/// What is in a folder.
package enum Folder {
    /// The names in the folder at `path`, in no order, without `.` and `..`.
    package static func names(in path: String) throws(HostError) -> [String] {
        guard let folder = unsafe opendir(path) else { throw .last("opendir", path) }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let item = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &item.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
