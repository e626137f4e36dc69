import CLinux
import Glibc
import Host
import Performing
import WardenProtocol

/// Finds the file a command's first word names, as the shell would.
enum ProgramSearch {
    /// The path of the program.
    ///
    /// A word with a slash is that file, not looked at yet; another one is looked for in `path`, where an
    /// empty or relative part is passed over: what runs must not depend on where.
    static func find(_ word: String, path: String) throws(StartRefused) -> String {
        if word.contains("/") { return word }
        var closed: StartRefused?
        for part in path.split(separator: ":") where part.hasPrefix("/") {
            let file = part + "/" + word
            do throws(StartRefused) {
                try check(String(file), named: word)
                return String(file)
            } catch {
                if error.refusal == .notExecutable { closed = closed ?? error }
            }
        }
        throw closed ?? StartRefused(.notFound, "no program \"\(word)\" in \(path)")
    }

    /// Makes sure that `file` can be run, as far as can be seen from outside.
    static func check(_ file: String, named word: String) throws(StartRefused) {
        var status = stat()
        guard unsafe stat(file, &status) == 0 else {
            throw StartRefused(errno == EACCES ? .notExecutable : .notFound, "\(word): \(errorText(errno))")
        }
        guard status.st_mode & 0o170000 == 0o100000 else {
            throw StartRefused(.notExecutable, "\(word) is not a file")
        }
        guard unsafe access(file, X_OK) == 0 else {
            throw StartRefused(.notExecutable, "\(word) may not be executed")
        }
    }
}
