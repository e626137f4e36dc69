import Glibc

/// A folder with all that is in it.
package enum FolderTree {
    /// Removes it as far as it can be; a link in it is removed, never followed.
    package static func remove(_ path: String) {
        for name in (try? Folder.names(in: path)) ?? [] {
            if unsafe unlink(path + "/" + name) != 0 { remove(path + "/" + name) }
        }
        unsafe rmdir(path)
    }
}
